"""What an earlier crash would have left on a path of the subject's, and the way back from it.

Whatever has to wait lies beside what was taken (:mod:`.taken`), out of the sandbox's sight. The
way back is gone where the subject has touched what was left: then it is the subject's.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from sandboxes.helper import copying, kernel, paths, rows, trees

_CHUNK = 1 << 20
#: Of a file that is cut, bytes: all of it is kept for the way back.
_MOST = 64 << 20
_F_OFD_SETLK = 37
_FLOCK = struct.Struct("@hhqqi4x")
Tree = dict[str, rows.Row]


def tree(root: int, path: str) -> Tree:
    """A path as ``.``, and all below it by its place in there; empty where there is nothing."""
    with contextlib.suppress(FileNotFoundError, NotADirectoryError), paths.Parent(root, path) as at:
        status = os.lstat(at.name, dir_fd=at.fd)
        found = {".": rows.row(at.fd, at.name, status)}
        if found["."][0] == "dir":
            with paths.opened(at.name, at.fd) as folder:
                return trees.manifest(folder)
        return found
    return {}


@dataclass(slots=True)
class Left:
    """What was left, by number, and what was saved, by where it was and a name."""

    store: str
    _undo: dict[int, Callable[[], None]] = field(default_factory=dict)
    _saved: dict[tuple[int, str, str], list[str]] = field(default_factory=dict)
    _last: int = 0

    def cut(self, root: int, path: str, size: int) -> int:
        """Cut a file down in its place."""
        with paths.Parent(root, path) as at:
            fd = kernel.open_beneath(at.fd, at.name, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
        whole = os.fstat(fd).st_size
        if not 0 <= size < whole:
            os.close(fd)
            msg = f"{path!r} has {whole} bytes, so it cannot be cut down to {size}"
            raise paths.Refused(msg)
        if whole > _MOST:
            os.close(fd)
            msg = f"{path!r} has {whole} bytes, and no more than {_MOST} can be put back"
            raise paths.Refused(msg)
        kept, tail = _read(fd, 0, size), _read(fd, size, whole - size)
        os.truncate(fd, size)

        def undo() -> None:
            if os.fstat(fd).st_size == size and _read(fd, 0, size) == kept:
                os.pwrite(fd, tail, size)

        return self.keep(undo, lambda: os.close(fd))

    def leave(
        self, root: int, item: dict[str, Any], content: bytes, owner: int, *, instead: bool
    ) -> int:
        """Make a path where there is nothing, or in the place of what is there."""
        name, path = self._name("left"), item["path"]
        with self._opened() as store:
            paths.plant(store, item | {"path": name}, content, owner)
            try:
                aside = self._exchange(root, path, "") if instead else ""
                with paths.Parent(root, path) as at:
                    kernel.rename_to_free(store, os.fsencode(name), at.fd, at.name)
            except OSError:
                os.unlink(name, dir_fd=store)
                raise
        made = tree(root, path)
        return self.keep(lambda: self._swap(root, path, made, aside))

    def hold(self, root: int, path: str, locks: list[dict[str, Any]]) -> int:
        """Lock files beside each other, all of them or none.

        Each of ``locks`` has what is added to the path, and ``flock``, or ``start`` and
        ``length`` of the bytes to lock (0: to the end).
        """
        held: list[int] = []

        def let_go() -> None:
            for fd in held:
                os.close(fd)

        try:
            for lock in locks:
                with paths.Parent(root, path + lock["suffix"]) as at:
                    flags = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK
                    held.append(kernel.open_beneath(at.fd, at.name, flags))
                _lock(held[-1], lock)
        except BlockingIOError as error:
            let_go()
            msg = f"somebody inside holds a lock of {path!r}, so it cannot be locked from outside"
            raise paths.Refused(msg) from error
        except OSError:
            let_go()
            raise
        return self.keep(let_go)

    def save(self, root: int, path: str, name: str) -> None:
        """Keep a copy of what is there now, under a name; the last one is the first to be used."""
        stored = self._name("saved")
        there = paths.exists(root, path)
        if there:
            with self._opened() as store, paths.Parent(root, path) as at:
                copying.copy(at.fd, at.name, store, os.fsencode(stored))
            if not os.path.lexists(f"{self.store}/{stored}"):
                msg = f"{path!r} is no file, link or folder, so it cannot be saved"
                raise paths.Refused(msg)
        self._saved.setdefault((root, path, name), []).append(stored if there else "")

    def revert(self, root: int, path: str, name: str) -> int:
        """Put the copy of that name in the place of what is there now."""
        saved = self._saved.get((root, path, name))
        if not saved:
            msg = f"{path!r} was not saved as {name!r}, so it cannot go back to that"
            raise paths.Refused(msg)
        aside = self._exchange(root, path, saved.pop())
        made = tree(root, path)
        return self.keep(lambda: self._swap(root, path, made, aside))

    def undo(self, number: int) -> None:
        """Go back, where what was left is still as it was left."""
        if number not in self._undo:
            msg = f"nothing was left under the number {number}, so it cannot be undone"
            raise paths.Refused(msg)
        self._undo.pop(number)()

    def keep(self, undo: Callable[[], None], close: Callable[[], None] = lambda: None) -> int:
        """Give a number to a way back."""

        def undone() -> None:
            try:
                undo()
            finally:
                close()

        self._last += 1
        self._undo[self._last] = undone
        return self._last

    def _swap(self, root: int, path: str, made: Tree, back: str) -> None:
        if tree(root, path) == made:
            self._exchange(root, path, back)

    def _exchange(self, root: int, path: str, stored: str) -> str:
        """Take away what is there, if anything is, and bring what is stored; gives its new name."""
        aside = self._name("aside") if paths.exists(root, path) else ""
        with self._opened() as store, paths.Parent(root, path) as at:
            if aside:
                os.rename(at.name, aside, src_dir_fd=at.fd, dst_dir_fd=store)
            if stored:
                os.rename(stored, at.name, src_dir_fd=store, dst_dir_fd=at.fd)
        return aside

    def _name(self, kind: str) -> str:
        return f"{kind}-{os.urandom(8).hex()}"

    def _opened(self) -> contextlib.AbstractContextManager[int]:
        return paths.opened(self.store)


def _lock(fd: int, lock: dict[str, Any]) -> None:
    """Take a lock that goes with the descriptor and not with this process.

    It stands against locks of processes as well.
    """
    if lock["flock"]:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    else:
        asked = _FLOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, lock["start"], lock["length"], 0)
        fcntl.fcntl(fd, _F_OFD_SETLK, asked)


def _read(fd: int, start: int, size: int) -> bytes:
    pieces = []
    while size > 0 and (piece := os.pread(fd, min(_CHUNK, size), start)):
        pieces.append(piece)
        start, size = start + len(piece), size - len(piece)
    return b"".join(pieces)
