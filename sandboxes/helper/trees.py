"""Manifests: what a tree holds, seen from outside.

Every folder is opened below its root with no link followed, every regular file is hashed,
and nothing is recursive. What vanishes or changes kind during the walk is left out or
recorded as it was last seen: only a frozen sandbox gives an exact picture.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator

from sandboxes.helper import paths, rows

_DEEPEST = 2048  # a chain of longer paths costs its length squared to name
_OPEN = 64  # descriptors held at once
_GONE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})


class TooDeep(Exception):
    """A tree is nested deeper, or has longer paths in all, than a manifest can name."""


def manifest(root: int) -> dict[str, rows.Row]:
    """Every path below a root, the root itself as ``.``."""
    status = os.fstat(root)
    found = {".": rows.row(root, ".", status)}
    for path, folder, name, entry in walk(root):
        try:
            found[path] = rows.row(folder, name, entry)
        except OSError as error:
            if error.errno not in _GONE:
                raise
    return found


def walk(root: int) -> Iterator[tuple[str, int, str, os.stat_result]]:
    """Path, open folder, name and status of everything below a root, folders before their inside.

    Raises:
        TooDeep: nested deeper than a manifest can name, or too long for it in all.
    """
    levels = [_Level("", os.dup(root))]
    try:
        while levels:
            level = levels[-1]
            if not level.names or not level.reopen(root):
                level.close()
                levels.pop()
                continue
            name = level.names.pop()
            status = _status(level.fd, name)
            if status is None:
                continue
            path = f"{level.path}/{name}" if level.path else name
            if not rows.names.take(len(path)):
                raise TooDeep("the paths in the trees are too long together: they cannot be listed")
            yield path, level.fd, name, status
            if stat.S_ISDIR(status.st_mode):
                _descend(levels, path, name)
    finally:
        for level in levels:
            level.close()


class _Level:
    """A folder of the walk: what is still to be looked at, and a descriptor that may be closed."""

    def __init__(self, path: str, fd: int) -> None:
        self.path = path
        self.fd = fd
        self.names = sorted(os.listdir(fd), reverse=True)

    def reopen(self, root: int) -> bool:
        """Have a descriptor again; false when the folder is gone."""
        if self.fd < 0:
            try:
                self.fd = paths.open_folder(root, paths.parts(self.path))
            except OSError as error:
                if error.errno not in _GONE:
                    raise
                return False
        return True

    def close(self) -> None:
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1


def _descend(levels: list[_Level], path: str, name: str) -> None:
    """Open a folder below the last level; a long chain keeps only its last descriptors."""
    if len(levels) > _DEEPEST:
        msg = f"a folder is nested deeper than {_DEEPEST} levels: its tree cannot be listed"
        raise TooDeep(msg)
    try:
        fd = paths.open_folder(levels[-1].fd, [os.fsencode(name)])
    except OSError as error:
        if error.errno in _GONE:
            return
        raise
    if len(levels) >= _OPEN:
        levels[-_OPEN].close()
    levels.append(_Level(path, fd))


def _status(folder: int, name: str) -> os.stat_result | None:
    try:
        return os.lstat(name, dir_fd=folder)
    except FileNotFoundError:
        return None
