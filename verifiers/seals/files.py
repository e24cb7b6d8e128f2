"""Files of seals: written whole, and put on disk."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sandboxes.helper import kernel


def write_new(path: Path, data: bytes, mode: int = 0o644, *, durable: bool = True) -> None:
    """Write a file that is not there yet; one that fails leaves none.

    Args:
        path: of the file.
        data: all of it.
        mode: its permissions.
        durable: whether it is put on disk too.

    Raises:
        OSError: it is there, or cannot be written.
    """
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    try:
        write_all(file, data)
        if durable:
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
