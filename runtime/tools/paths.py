"""Paths of a workspace: resolved inside of it, and no link leads out."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Final

_LINKS: Final = 40


class Outside(OSError):
    """A path leads out of the workspace."""

    def __init__(self, path: str) -> None:
        super().__init__(errno.EPERM, "outside of the workspace", path)


def inside(workspace: Path, written: str) -> PurePosixPath:
    """A path relative to the workspace, links followed, none of them out of it.

    The last part need not be there; what is before it must.

    Raises:
        Outside: it leads out, or is absolute and not below the workspace.
        OSError: a part of it cannot be looked at, or is missing.
    """
    top = PurePosixPath(os.path.realpath(workspace))
    relative = _relative(workspace, top, written)
    try:
        return _resolve(top, relative, written)
    except Outside:
        raise
    except OSError as error:
        raise OSError(error.errno, error.strerror, written) from None


def _relative(workspace: Path, top: PurePosixPath, written: str) -> PurePosixPath:
    if "\0" in written:
        raise OSError(errno.EINVAL, "a NUL in the path", written.replace("\0", "\\0"))
    try:
        os.fsencode(written)
    except UnicodeEncodeError:
        said = written.encode("utf-8", "backslashreplace").decode()
        raise OSError(errno.EILSEQ, os.strerror(errno.EILSEQ), said) from None
    path = PurePosixPath(written)
    if not path.is_absolute():
        return path
    for base in (top, PurePosixPath(workspace)):
        with contextlib.suppress(ValueError):
            return path.relative_to(base)
    raise Outside(written)


def _resolve(top: PurePosixPath, path: PurePosixPath, written: str) -> PurePosixPath:
    """Walk a path part by part; where a link stands, go on with what it says."""
    done: list[str] = []
    parts, links = list(path.parts), 0
    while parts:
        part = parts.pop(0)
        if part == "..":
            if not done:
                raise Outside(written)
            done.pop()
        elif (target := _target(Path(top, *done, part), last=not parts)) is None:
            done.append(part)
        else:
            links += 1
            if links > _LINKS:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), written)
            if target.is_absolute():
                target, done = _relative(Path(top), top, str(target)), []
            parts = [*target.parts, *parts]
    return PurePosixPath(*done)


def _target(path: Path, last: bool) -> PurePosixPath | None:
    """What a link says; ``None`` of anything else, and of the last part where nothing is there."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        if last:
            return None
        raise
    return PurePosixPath(path.readlink()) if stat.S_ISLNK(mode) else None


@contextlib.contextmanager
def opened(workspace: Path, written: str, flags: int, mode: int = 0o666) -> Iterator[int]:
    """A descriptor of what a path leads to, opened part by part, so that no swap leads out.

    Raises:
        Outside: it leads out.
        OSError: it cannot be opened.
    """
    with folder_of(workspace, inside(workspace, written), written) as (folder, name):
        try:
            found = os.open(name, flags | os.O_NOFOLLOW | os.O_CLOEXEC, mode, dir_fd=folder)
        except OSError as error:
            raise OSError(error.errno, error.strerror, written) from None
    try:
        yield found
    finally:
        os.close(found)


@contextlib.contextmanager
def reading(workspace: Path, written: str) -> Iterator[BinaryIO]:
    """A regular file, to be read; anything else, such as a pipe that nobody writes to, is refused.

    Raises:
        Outside: it leads out.
        OSError: it cannot be opened, or is no regular file.
    """
    with opened(workspace, written, os.O_RDONLY | os.O_NONBLOCK) as descriptor:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            raise OSError(errno.EISDIR, os.strerror(errno.EISDIR), written)
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "Is not a regular file", written)
        with os.fdopen(os.dup(descriptor), "rb") as file:
            yield file


@contextlib.contextmanager
def entry(workspace: Path, written: str) -> Iterator[tuple[int, str]]:
    """The folder that an entry is in, as a descriptor, and its name; a link there is not followed.

    Raises:
        Outside: it leads out, or is the workspace itself.
        OSError: its folder cannot be opened.
    """
    path = PurePosixPath(written)
    if path.name == "..":
        relative = inside(workspace, written)
    else:
        relative = inside(workspace, str(path.parent)) / path.name
    if not relative.name or path == PurePosixPath(workspace):
        raise Outside(written)
    with folder_of(workspace, relative, written) as found:
        yield found


@contextlib.contextmanager
def folder_of(workspace: Path, relative: PurePosixPath, written: str) -> Iterator[tuple[int, str]]:
    """A descriptor of the folder that a resolved path lies in, and the name that it has there.

    Raises:
        OSError: a part of it is missing, no folder, or was swapped for a link meanwhile.
    """
    folder = os.open(os.path.realpath(workspace), os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in relative.parts[:-1]:
            step = os.open(part, _STEP, dir_fd=folder)
            os.close(folder)
            folder = step
    except OSError as error:
        os.close(folder)
        raise OSError(error.errno, error.strerror, written) from None
    try:
        yield folder, relative.name or "."
    finally:
        os.close(folder)


def lexical(workspace: Path, written: str) -> PurePosixPath:
    """A path relative to the workspace as it is written: no link is followed, nothing need exist.

    Raises:
        Outside: it leads out.
    """
    parts: list[str] = []
    top = PurePosixPath(os.path.realpath(workspace))
    for part in _relative(workspace, top, written).parts:
        if part != "..":
            parts.append(part)
        elif not parts:
            raise Outside(written)
        else:
            parts.pop()
    return PurePosixPath(*parts)


_STEP: Final = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
