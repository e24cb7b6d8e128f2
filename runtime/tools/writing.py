"""Files written beside the one that they replace, and put in its place in one step."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, Final

from runtime.tools.paths import folder_of, inside

_CHUNK: Final = 1 << 20
_FRESH: Final = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@contextlib.contextmanager
def replacing(workspace: Path, written: str) -> Iterator[BinaryIO]:
    """A file to write, which takes a path's place when it is whole; its mode is kept.

    A link is followed where it leads to a file of the workspace; no other one is.

    Raises:
        Outside: it leads out.
        OSError: its folder is missing, it is no regular file, or it cannot be written.
    """
    with folder_of(workspace, inside(workspace, written), written) as (folder, name):
        try:
            with _placed(folder, name) as file:
                yield file
        except OSError as error:
            raise OSError(error.errno, error.strerror, written) from None


@contextlib.contextmanager
def _placed(folder: int, name: str) -> Iterator[BinaryIO]:
    mode = _mode(folder, name)
    fresh = f".{uuid.uuid4().hex}.part"
    descriptor = os.open(fresh, _FRESH, 0o666, dir_fd=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            if mode is not None:
                os.fchmod(file.fileno(), mode)
        os.rename(fresh, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(fresh, dir_fd=folder)
        raise


def _mode(folder: int, name: str) -> int | None:
    """The mode of the file that is there."""
    try:
        mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(mode):
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "Is not a regular file")
    # It would be replaced all the same, for that is up to its folder.
    if not os.access(name, os.W_OK, dir_fd=folder, effective_ids=True, follow_symlinks=False):
        raise OSError(errno.EACCES, os.strerror(errno.EACCES))
    return stat.S_IMODE(mode)


def copied(
    from_folder: int, name: str, to_folder: int, to_name: str, heed: Callable[[], None]
) -> int:
    """Copy an entry of a folder with all that is in it; links stay links.

    Args:
        from_folder: a descriptor of the folder that it is in.
        name: its name there.
        to_folder: a descriptor of the folder that the copy is made in.
        to_name: the name of the copy.
        heed: called now and then; it may raise to end the copying.

    Returns:
        how many files and links were copied.

    Raises:
        OSError: a part cannot be read or written, or is neither file, folder nor link.
    """
    heed()
    status = os.stat(name, dir_fd=from_folder, follow_symlinks=False)
    if stat.S_ISLNK(status.st_mode):
        os.symlink(os.readlink(name, dir_fd=from_folder), to_name, dir_fd=to_folder)
        return 1
    if stat.S_ISREG(status.st_mode):
        _copy_file(from_folder, name, to_folder, to_name, heed)
        return 1
    if not stat.S_ISDIR(status.st_mode):
        raise OSError(errno.EINVAL, "Is neither file, folder nor link", name)
    os.mkdir(to_name, stat.S_IMODE(status.st_mode) | stat.S_IRWXU, dir_fd=to_folder)
    with _folder(from_folder, name) as source, _folder(to_folder, to_name) as target:
        names = os.listdir(source)  # noqa: PTH208 - of a descriptor
        return sum(copied(source, each, target, each, heed) for each in names)


@contextlib.contextmanager
def _folder(parent: int, name: str) -> Iterator[int]:
    descriptor = os.open(name, _FOLDER, dir_fd=parent)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _copy_file(
    from_folder: int, name: str, to_folder: int, to_name: str, heed: Callable[[], None]
) -> None:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with os.fdopen(os.open(name, flags, dir_fd=from_folder), "rb") as source:
        status = os.fstat(source.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "Is not a regular file", name)
        with _placed(to_folder, to_name) as target:
            os.fchmod(target.fileno(), stat.S_IMODE(status.st_mode))
            while chunk := source.read(_CHUNK):
                heed()
                target.write(chunk)
