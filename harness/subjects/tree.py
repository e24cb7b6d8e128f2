"""Digests of what runs: one value for a file, or for a folder with all that lies in it.

A name and a version can lie; the bytes cannot. A file is read again only when its stat
changed, because agents are programs of hundreds of megabytes and a run has many trials.
"""

from __future__ import annotations

import hashlib
import os
import stat
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Stamp:
    """How a path stood on disk when it was digested; no content changes without it."""

    device: int
    inode: int
    mode: int
    size: int
    written: int
    changed: int
    names: int

    @classmethod
    def of(cls, info: os.stat_result) -> Stamp:
        """What is kept of a path's stat; times in nanoseconds."""
        size = 0 if stat.S_ISDIR(info.st_mode) else info.st_size
        times = (info.st_mtime_ns, info.st_ctime_ns)
        return cls(info.st_dev, info.st_ino, info.st_mode, size, *times, info.st_nlink)

    def same(self, other: Stamp) -> bool:
        """Whether nobody touched it; one more name for a file, as installers make, is no touch."""
        if stat.S_ISREG(self.mode) and self.names != other.names:
            return replace(self, names=other.names, changed=other.changed) == other
        return self == other


_noted: ContextVar[dict[Path, Stamp] | None] = ContextVar("noted", default=None)
_known: dict[tuple[int, ...], str] = {}
_lock = threading.Lock()


def digest(path: Path) -> str:
    """``sha256:…`` of a file's bytes, or of everything below a folder.

    No link is followed: a link is part of what it lies in, by its target. Of a mode only
    whether it may be executed counts, so that a copy has the digest of its original.

    Raises:
        OSError: it is not there or cannot be read.
    """
    mode = _note(path, path.lstat()).st_mode
    if stat.S_ISDIR(mode):
        return digest_of(_lines(path))
    return f"sha256:{_file(path if stat.S_ISREG(mode) else path.resolve(strict=True))}"


@contextmanager
def noted() -> Iterator[dict[Path, Stamp]]:
    """How everything stood that is digested in the body."""
    stamps: dict[Path, Stamp] = {}
    token = _noted.set(stamps)
    try:
        yield stamps
    finally:
        _noted.reset(token)


def _note(path: Path, info: os.stat_result) -> os.stat_result:
    if (stamps := _noted.get()) is not None:
        stamps[path] = Stamp.of(info)
    return info


def digest_of(lines: Iterable[bytes]) -> str:
    """``sha256:…`` of lines, none of which can be mistaken for two."""
    whole = hashlib.sha256()
    for line in lines:
        whole.update(b"%d:%b" % (len(line), line))
    return f"sha256:{whole.hexdigest()}"


def _lines(root: Path) -> Iterator[bytes]:
    for folder, names, files in os.walk(root, onerror=_raise):
        names.sort()
        for name in sorted([*names, *files]):
            path = Path(folder, name)
            yield os.fsencode(path.relative_to(root)) + b"\0" + _what(path)


def _raise(error: OSError) -> None:
    raise error


def _what(path: Path) -> bytes:
    info = _note(path, path.lstat())
    if stat.S_ISLNK(info.st_mode):
        return b"link " + os.fsencode(path.readlink())
    if stat.S_ISDIR(info.st_mode):
        return b"dir"
    if stat.S_ISREG(info.st_mode):
        kind = "program" if info.st_mode & 0o111 else "file"
        return f"{kind} {_file(path)}".encode()
    return b"other"


def _file(path: Path) -> str:
    with path.open("rb") as file:
        info = _note(path, os.fstat(file.fileno()))
        key = (info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns)
        with _lock:  # two trials that ask at once read it once
            if key not in _known:
                _known[key] = hashlib.file_digest(file, "sha256").hexdigest()
            return _known[key]
