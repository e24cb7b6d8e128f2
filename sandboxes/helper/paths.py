"""Paths that the subject controls, reached by descriptor: no link is ever followed.

A path is opened piece by piece with ``openat2`` below a root, so that neither ``..`` nor a
symbolic link, nor one swapped in at the last moment, leads out; a path longer than the
kernel takes at once works too.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from typing import Any

from sandboxes.helper import kernel, plain, rows

_PIECE = 3000  # bytes of a path for one call; the kernel's limit is 4096
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW


_REPLACED = "{!r} was replaced while it was made"


class Refused(Exception):
    """A path that would lead out of its root, or that is malformed."""


def parts(path: str) -> list[bytes]:
    """The names in a relative path; refuses what leads out."""
    names = [name for name in os.fsencode(path).split(b"/") if name not in {b"", b"."}]
    if path.startswith("/") or b".." in names or any(b"\0" in name for name in names):
        msg = f"{path!r} is not a path below its root: write it relative, without '..'"
        raise Refused(msg)
    return names


def open_folder(root: int, names: list[bytes]) -> int:
    """Open a folder below ``root``; the caller closes it."""
    fd = os.dup(root)
    piece: list[bytes] = []
    for name in [*names, None]:
        if name is not None:
            piece.append(name)
        if piece and (name is None or sum(map(len, piece)) + len(piece) > _PIECE):
            try:
                inner = kernel.open_beneath(fd, b"/".join(piece), _FOLDER)
            finally:
                os.close(fd)
            fd, piece = inner, []
    return fd


@contextlib.contextmanager
def opened(name: str | bytes, folder: int | None = None) -> Iterator[int]:
    """A folder by its one name; ``NotADirectoryError`` where it is something else."""
    fd = plain.open_folder(name, folder)
    try:
        yield fd
    finally:
        os.close(fd)


class Parent:
    """The open folder that holds a path's last name, as a context manager."""

    def __init__(self, root: int, path: str) -> None:
        self._root = root
        self._names = parts(path)
        self.fd = -1
        self.name = self._names[-1] if self._names else b"."

    def __enter__(self) -> Parent:
        self.fd = open_folder(self._root, self._names[:-1])
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.fd)


def make_folders(root: int, names: list[bytes], owner: int) -> None:
    """Make the missing folders of a path, 0755, owned by ``owner``."""
    fd = os.dup(root)
    try:
        for name in names:
            with contextlib.suppress(FileExistsError):
                os.mkdir(name, 0o755, dir_fd=fd)
                _give_folder(fd, name, owner)
            inner = kernel.open_beneath(fd, name, _FOLDER)
            os.close(fd)
            fd = inner
    finally:
        os.close(fd)


def plant(root: int, item: dict[str, Any], content: bytes, owner: int) -> None:
    """Make a file, folder or link below ``root``, owned by ``owner``; a file is replaced.

    A file is written beside its place and renamed, so nothing sees half of it and a link that
    lies there is replaced, not written through.
    """
    make_folders(root, parts(item["path"])[:-1], owner)
    with Parent(root, item["path"]) as at:
        if item["kind"] == "dir":
            with contextlib.suppress(FileExistsError):
                if at.name != b".":
                    os.mkdir(at.name, dir_fd=at.fd)
            fd = kernel.open_beneath(at.fd, at.name, _FOLDER)
            _finish(fd, item["mode"], owner)
            return
        temporary = b".planting-" + os.urandom(8).hex().encode()
        if item["kind"] == "link":
            os.symlink(os.fsencode(item["target"]), temporary, dir_fd=at.fd)
            _give_link(at.fd, temporary, owner)
        else:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
            fd = os.open(temporary, flags, 0o600, dir_fd=at.fd)
            try:
                _write(fd, content)
            except OSError:
                os.close(fd)
                os.unlink(temporary, dir_fd=at.fd)
                raise
            _finish(fd, item["mode"], owner)
        try:
            os.rename(temporary, at.name, src_dir_fd=at.fd, dst_dir_fd=at.fd)
        except OSError:
            os.unlink(temporary, dir_fd=at.fd)
            raise


def _give_folder(folder: int, name: bytes, owner: int) -> None:
    """Give away a folder that has just been made.

    Whoever owns the one around it may have put another in its place meanwhile, which is not
    given away, unless there is nothing in it to have.
    """
    try:
        fd = kernel.open_beneath(folder, name, _FOLDER)
    except OSError as error:
        raise Refused(_REPLACED.format(os.fsdecode(name))) from error
    try:
        if os.listdir(fd):
            raise Refused(_REPLACED.format(os.fsdecode(name)))
        os.fchown(fd, owner, owner)
    finally:
        os.close(fd)


def _give_link(folder: int, name: bytes, owner: int) -> None:
    """Likewise a link."""
    if plain.is_plain():  # what is only pointed at cannot be given away there
        os.chown(name, owner, owner, dir_fd=folder, follow_symlinks=False)
        return
    fd = kernel.open_beneath(folder, name, os.O_PATH | os.O_NOFOLLOW)
    try:
        if not stat.S_ISLNK(os.fstat(fd).st_mode):
            raise Refused(_REPLACED.format(os.fsdecode(name)))
        kernel.give(fd, owner)
    finally:
        os.close(fd)


def _write(fd: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(fd, view) :]


def _finish(fd: int, mode: int, owner: int) -> None:
    try:
        os.fchown(fd, owner, owner)
        os.fchmod(fd, mode)
    finally:
        os.close(fd)


def open_file(root: int, path: str) -> int | None:
    """Open a regular file for reading; ``None`` where there is none, or where a link leads to it."""
    names = parts(path)
    if not names:
        return None
    try:
        folder = open_folder(root, names[:-1])
    except OSError:
        return None
    try:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY
        if not stat.S_ISREG(
            os.lstat(names[-1], dir_fd=folder).st_mode
        ):  # opening a device could act
            return None
        fd = os.open(names[-1], flags, dir_fd=folder)
    except OSError:
        return None
    finally:
        os.close(folder)
    if stat.S_ISREG(os.fstat(fd).st_mode):
        return fd
    os.close(fd)
    return None


def exists(root: int, path: str) -> bool:
    """Whether the path itself is there."""
    try:
        with Parent(root, path) as at:
            os.lstat(at.name, dir_fd=at.fd)
    except OSError:
        return False
    return True


def change(root: int, path: str, mode: int, owner: int) -> tuple[int, rows.Row]:
    """Set mode and owner of a path that is no link; gives a handle of it, and what it was.

    The handle pins what is looked at: a link swapped in afterwards is not reached, and it can
    be given back what it was wherever it goes.
    """
    with Parent(root, path) as at:
        fd = kernel.open_beneath(at.fd, at.name, os.O_PATH | os.O_NOFOLLOW)
        try:
            before = rows.row(at.fd, at.name, os.fstat(fd))
            set_owner(fd, mode, owner)
        except BaseException:
            os.close(fd)
            raise
    return fd, before


def set_owner(handle: int, mode: int, owner: int) -> None:
    """Set mode and owner of what a handle is of."""
    os.chown(f"/proc/self/fd/{handle}", owner, owner)
    os.chmod(f"/proc/self/fd/{handle}", mode)


def alias(root: int, path: str, name: bytes) -> os.stat_result:
    """Give a file a second name in its folder; gives what the name is of."""
    with Parent(root, path) as at:
        if b"/" in name or not stat.S_ISREG(os.lstat(at.name, dir_fd=at.fd).st_mode):
            raise Refused(f"{path!r} is no file that could be {os.fsdecode(name)!r} too")
        os.link(at.name, name, src_dir_fd=at.fd, dst_dir_fd=at.fd, follow_symlinks=False)
        return os.lstat(name, dir_fd=at.fd)


def drop_alias(root: int, path: str, name: bytes, made: os.stat_result) -> None:
    """Take a second name away, if it still is of what it was made of."""
    with contextlib.suppress(FileNotFoundError, NotADirectoryError), Parent(root, path) as at:
        if os.path.samestat(made, os.lstat(name, dir_fd=at.fd)):
            os.unlink(name, dir_fd=at.fd)
