"""Reads a folder that may hold anything by now: links, pipes, and files without an end.

Below the folder no link is followed and nothing is waited for; what is no regular file, or has
more bytes than it may have, is told by its kind or its size before a byte of it is read.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_AT_ONCE = 1 << 20
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
#: What :func:`kind` says of one.
FOLDER = "a folder"
_KINDS = {
    stat.S_IFLNK: "a link",
    stat.S_IFDIR: FOLDER,
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


@dataclass(frozen=True, slots=True)
class Held:
    """A file as it was sealed.

    Attributes:
        name: its path below the folder, ``/`` between its parts.
        size: bytes.
        sha256: of its bytes.
    """

    name: str
    size: int
    sha256: str

    @property
    def document(self) -> dict[str, str | int]:
        """As it stands in a statement."""
        return {"name": self.name, "size": self.size, "sha256": self.sha256}


@dataclass(frozen=True, slots=True)
class Stranger:
    """Something that is no file that was asked for: its name, and what it is."""

    name: str
    what: str


class Absent(Exception):
    """There is no such file."""


class Unfit(Exception):
    """Something else is in the place of the file, or more of it than is read.

    Attributes:
        what: it is, in words.
    """

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what


def contents(folder: Path, name: str, most: int) -> bytes:
    """All bytes of a file.

    Args:
        folder: where; the way to it may lead over links.
        name: path below it.
        most: bytes that it may have.

    Raises:
        Absent: it is not there.
        Unfit: it is no regular file, is reached over a link, or has more bytes.
        OSError: it cannot be read.
    """
    with _opened(folder, name) as (file, size):
        if size > most:
            raise Unfit(f"{size} bytes, too large to be read here")
        return _read(file, size)


def beginning(folder: Path, name: str, most: int) -> tuple[bytes, int]:
    """The first ``most`` bytes of a file, and how many it has.

    Raises:
        Absent, Unfit, OSError: as for :func:`contents`.
    """
    with _opened(folder, name) as (file, size):
        return _read(file, min(size, most)), size


def ending(folder: Path, name: str, most: int) -> bytes:
    """The last ``most`` bytes of a file.

    Raises:
        Absent, Unfit, OSError: as for :func:`contents`.
    """
    with _opened(folder, name) as (file, size):
        os.lseek(file, max(0, size - most), os.SEEK_SET)
        return _read(file, most)


def kind(folder: Path, name: str) -> str:
    """What is there in a name's place: ``a folder``, ``a link``, …; empty where nothing is."""
    try:
        found = (folder / name).lstat().st_mode
    except (OSError, ValueError):
        return ""
    return _KINDS.get(stat.S_IFMT(found), "a file")


def look(folder: Path, name: str, size: int | None = None) -> Held | Stranger | None:
    """A file with its digest; ``None`` where it is not there.

    Args:
        folder: where.
        name: path below it.
        size: bytes that it must have; another size is told, and nothing read.

    Raises:
        OSError: it cannot be read.
    """
    try:
        with _opened(folder, name) as (file, found):
            if size is not None and found != size:
                return Stranger(name, f"{found} bytes")
            return _digested(file, name, found)
    except Absent:
        return None
    except Unfit as other:
        return Stranger(name, other.what)


def listed(folder: Path, without: Collection[str] = ()) -> Iterator[Held | Stranger]:
    """Everything below a folder that is not a folder itself, by name; no link is followed.

    Args:
        folder: where.
        without: folders below it that are left out.

    Raises:
        OSError: something cannot be read.
    """
    for name in names(folder, without):
        yield look(folder, name) or Stranger(name, "gone")


def names(folder: Path, without: Collection[str] = ()) -> Iterator[str]:
    """The same without looking into them."""
    found, waiting = [], [""]
    while waiting:
        prefix = waiting.pop()
        with os.scandir(folder / prefix) as entries:
            for entry in entries:
                name = f"{prefix}{entry.name}"
                if not entry.is_dir(follow_symlinks=False):
                    found.append(name)
                elif name not in without:
                    waiting.append(f"{name}/")
    yield from sorted(found, key=lambda name: name.split("/"))


@contextmanager
def _opened(folder: Path, name: str) -> Iterator[tuple[int, int]]:
    """A regular file's descriptor and its size."""
    *parents, last = name.split("/")
    place = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in parents:
            place = _below(place, part)
        file = _open(last, _FILE, place)
    finally:
        os.close(place)
    try:
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode):
            raise Unfit(_KINDS.get(stat.S_IFMT(found.st_mode), "no regular file"))
        yield file, found.st_size
    finally:
        os.close(file)


def _below(place: int, part: str) -> int:
    """The folder ``part`` of a folder that is closed for it, whatever comes of this."""
    inner = _open(part, _FOLDER, place)
    os.close(place)
    return inner


def _open(part: str, flags: int, place: int) -> int:
    if part in {"", ".", ".."}:
        raise Unfit("no name of a file")
    try:
        return os.open(part, flags, dir_fd=place)
    except FileNotFoundError as error:
        raise Absent from error
    except ValueError as error:  # a NUL or half a character in the name
        raise Unfit("no name of a file") from error
    except OSError as error:
        if error.errno in {errno.ELOOP, errno.ENOTDIR, errno.ENXIO, errno.ENODEV}:
            raise Unfit(_what_is(part, place)) from error
        if error.errno == errno.ENAMETOOLONG:
            raise Absent from error
        raise


def _what_is(part: str, place: int) -> str:
    mode = os.stat(part, dir_fd=place, follow_symlinks=False).st_mode
    return _KINDS.get(stat.S_IFMT(mode), "a file and no folder")


def _read(file: int, size: int) -> bytes:
    """The first ``size`` bytes; fewer where the file ends before."""
    parts = []
    while size > 0 and (data := os.read(file, min(size, _AT_ONCE))):
        parts.append(data)
        size -= len(data)
    return b"".join(parts)


def _digested(file: int, name: str, size: int) -> Held:
    digest, seen = hashlib.sha256(), 0
    while seen <= size and (data := os.read(file, _AT_ONCE)):
        digest.update(data)
        seen += len(data)
    return Held(name, seen, digest.hexdigest())
