"""Manifests: what a tree holds, seen from outside.

Every folder is opened below its root with no link followed, every regular file is hashed,
and nothing is recursive. What vanishes or changes kind during the walk is left out or
recorded as it was last seen: only a frozen sandbox gives an exact picture.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from typing import Any

from sandboxes.helper import paths

#: kind, mode, uid, gid, size, sha256, target, mtime_ns
Row = list[Any]
_DEEPEST = 2048  # a chain of longer paths costs its length squared to name
_CHUNK = 1 << 20
_GONE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})


class TooDeep(Exception):
    """A tree is nested deeper than a manifest can name."""


def kind(mode: int) -> str:
    """The value of :class:`sandboxes.base.Kind` for a mode."""
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "dir"
    return "link" if stat.S_ISLNK(mode) else "other"


def row(folder: int, name: str | bytes, status: os.stat_result, *, digest: bool = True) -> Row:
    """The manifest entry of one path."""
    what = kind(status.st_mode)
    sha256 = target = None
    size = status.st_size
    if what == "file" and digest:
        sha256, size = _digest(folder, name, size)
    elif what == "link":
        target = os.fsdecode(os.readlink(os.fsencode(name), dir_fd=folder))
    return [
        what,
        stat.S_IMODE(status.st_mode),
        status.st_uid,
        status.st_gid,
        size if what != "dir" else 0,
        sha256,
        target,
        status.st_mtime_ns,
    ]


def manifest(root: int) -> dict[str, Row]:
    """Every path below a root, the root itself as ``.``."""
    status = os.fstat(root)
    found = {".": row(root, ".", status)}
    for path, folder, name, entry in walk(root):
        try:
            found[path] = row(folder, name, entry)
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


def _digest(folder: int, name: str | bytes, size: int) -> tuple[str, int]:
    """Hash and true length of a regular file, to the length it had when opened."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_NOATIME
    fd = os.open(name, flags, dir_fd=folder)
    try:
        digest, length = hashlib.sha256(), 0
        while length <= size and (data := os.read(fd, _CHUNK)):
            digest.update(data)
            length += len(data)
        return digest.hexdigest(), length
    finally:
        os.close(fd)
