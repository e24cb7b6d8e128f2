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
_GONE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})


class TooDeep(Exception):
    """A tree is nested deeper than a manifest can name."""


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
    """Path, open folder, name and status of everything below a root.

    Raises:
        TooDeep: nested deeper than a manifest can name.
    """
    waiting: list[tuple[str, int]] = [("", 0)]
    while waiting:
        path, depth = waiting.pop()
        if depth > _DEEPEST:
            msg = f"a folder is nested deeper than {_DEEPEST} levels: its tree cannot be listed"
            raise TooDeep(msg)
        try:
            folder = paths.open_folder(root, paths.parts(path))
        except OSError as error:
            if error.errno in _GONE:
                continue
            raise
        try:
            for name in os.listdir(folder):
                inner = f"{path}/{name}" if path else name
                try:
                    status = os.lstat(name, dir_fd=folder)
                except FileNotFoundError:
                    continue
                yield inner, folder, name, status
                if stat.S_ISDIR(status.st_mode):
                    waiting.append((inner, depth + 1))
        finally:
            os.close(folder)
