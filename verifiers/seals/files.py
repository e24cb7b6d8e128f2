"""Files of seals: written whole, synced, and listed with their digests."""

from __future__ import annotations

import fcntl
import hashlib
import os
import stat
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from sandboxes.helper import kernel

_AT_ONCE = 1 << 20


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
    """Something that is no regular file: its name, and what it is."""

    name: str
    what: str


def listed(folder: Path, without: Collection[str] = ()) -> Iterator[Held | Stranger]:
    """Everything below a folder that is not a folder itself, by name; no link is followed.

    Args:
        folder: where.
        without: folders below it that are left out.

    Raises:
        OSError: something cannot be read.
    """
    for path, name in _paths(folder, without):
        yield _look(path, name)


def names(folder: Path) -> Iterator[str]:
    """The same without looking into them."""
    for _, name in _paths(folder):
        yield name


def look(folder: Path, name: str) -> Held | Stranger | None:
    """One of them; ``None`` where it is not there.

    Raises:
        OSError: it cannot be read.
    """
    try:
        return _look(folder / name, name)
    except (FileNotFoundError, NotADirectoryError):
        return None


def _paths(folder: Path, without: Collection[str] = ()) -> list[tuple[Path, str]]:
    found = []
    for top, folders, files in os.walk(folder, onerror=_raise):
        where = Path(top)
        below = where.relative_to(folder).as_posix()
        prefix = "" if below == "." else f"{below}/"
        links = [name for name in folders if (where / name).is_symlink()]
        folders[:] = [name for name in folders if f"{prefix}{name}" not in without]
        found += [(where / name, f"{prefix}{name}") for name in (*files, *links)]
    return sorted(found)


def _raise(error: OSError) -> None:
    raise error


def _look(path: Path, name: str) -> Held | Stranger:
    info = path.lstat()
    if not stat.S_ISREG(info.st_mode):
        return Stranger(name, "a link" if stat.S_ISLNK(info.st_mode) else "no regular file")
    file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        digest, size = hashlib.sha256(), 0
        while data := os.read(file, _AT_ONCE):
            digest.update(data)
            size += len(data)
    finally:
        os.close(file)
    return Held(name, size, digest.hexdigest())


def write_new(path: Path, data: bytes, mode: int = 0o644) -> None:
    """Write a file that is not there yet, and put it on disk; one that fails leaves none.

    Raises:
        OSError: it is there, or cannot be written.
    """
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    try:
        write_all(file, data)
        os.fsync(file)
    except OSError:
        with suppress(OSError):
            path.unlink()
        raise
    finally:
        os.close(file)


def replace(path: Path, data: bytes) -> None:
    """Write a file anew, whole or not at all, and put it on disk.

    Raises:
        OSError: it cannot be written; what was there is still there.
    """
    fresh = path.with_name(f".{path.name}.new")
    with suppress(FileNotFoundError):
        fresh.unlink()
    write_new(fresh, data, 0o600)
    fresh.replace(path)
    sync_folder(path.parent)


def write_all(file: int, data: bytes) -> None:
    """Write all of it to a descriptor.

    Raises:
        OSError: it cannot be written, or only a part.
    """
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(file, rest) :]


def sync_folder(folder: Path) -> None:
    """Put the names in a folder on disk.

    Raises:
        OSError: they may not be there.
    """
    file = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(file)
    finally:
        os.close(file)


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Hold a folder against others who ask for it like this.

    Raises:
        OSError: it is not there or cannot be read.
    """
    file = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)


def sync_filesystem(folder: Path) -> None:
    """Put everything of the file system that a folder lies on, on disk.

    Raises:
        OSError: something may not be there.
    """
    file = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        kernel.check(kernel.libc.syncfs(file), f"syncfs of {folder}")
    finally:
        os.close(file)
