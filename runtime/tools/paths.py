"""Paths of a workspace: resolved inside of it, and no link leads out."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Final

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
    return _resolve(top, _relative(workspace, top, written), written)


def _relative(workspace: Path, top: PurePosixPath, written: str) -> PurePosixPath:
    if "\0" in written:
        raise OSError(errno.EINVAL, "a NUL in the path", written.replace("\0", "\\0"))
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
    relative = inside(workspace, written)
    folder = os.open(os.path.realpath(workspace), os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in relative.parts[:-1]:
            step = os.open(part, _STEP, dir_fd=folder)
            os.close(folder)
            folder = step
        name = relative.name or "."
        found = os.open(name, flags | os.O_NOFOLLOW | os.O_CLOEXEC, mode, dir_fd=folder)
    except OSError as error:
        raise OSError(error.errno, error.strerror, written) from None
    finally:
        os.close(folder)
    try:
        yield found
    finally:
        os.close(found)


_STEP: Final = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
