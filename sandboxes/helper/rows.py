"""Rows of a manifest: one path as it is at this moment."""

from __future__ import annotations

import hashlib
import os
import stat
from typing import Any

from sandboxes.helper import plain

#: kind, mode, uid, gid, size, sha256, target, mtime_ns
Row = list[Any]
_CHUNK = 1 << 20


class Allowance:
    """What one listing may spend on a thing of which a subject can make any amount at no cost."""

    def __init__(self, size: int) -> None:
        self._size = self._left = size

    def take(self, size: int) -> bool:
        """Spend so much; ``False`` if it is not there."""
        if size <= self._left:
            self._left -= size
            return True
        return False

    def renew(self) -> None:
        """A listing begins."""
        self._left = self._size


#: Bytes of holes that are hashed: a sparse file can be longer than any disk. gVisor's kernel does
#: not tell holes from data, so there every file counts whole.
holes = Allowance(1 << 30)
#: Bytes of paths that are listed: a file below long chains of folders has a path of megabytes.
#: It is more than the longest names of as many files as there can be come to, side by side.
names = Allowance(160 << 20)


def kind(mode: int) -> str:
    """The value of :class:`sandboxes.base.Kind` for a mode."""
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "dir"
    return "link" if stat.S_ISLNK(mode) else "other"


def row(folder: int, name: str | bytes, status: os.stat_result, *, digest: bool = True) -> Row:
    """The manifest entry of one path; without the hash of a file whose holes cost too much."""
    what = kind(status.st_mode)
    sha256 = target = None
    size = status.st_size
    empty = size if plain.is_plain() else max(0, size - status.st_blocks * 512)
    if what == "file" and digest and holes.take(empty if empty > _CHUNK else 0):
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
