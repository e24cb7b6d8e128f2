"""Rows of a manifest: one path as it is at this moment."""

from __future__ import annotations

import hashlib
import os
import stat
from typing import Any

#: kind, mode, uid, gid, size, sha256, target, mtime_ns
Row = list[Any]
_CHUNK = 1 << 20


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
