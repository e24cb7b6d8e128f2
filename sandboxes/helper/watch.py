"""Counting from outside what a subject attempts on a path, whatever comes of it.

A watched program carries a second seccomp filter (:mod:`.asking`). Each of its calls that names
a path, or that locks what a descriptor is of, waits until the keeper has looked at the path; the
answer is always to go on. So this observes and refuses nothing. A program that changes the path in its memory between
our look and the kernel's is miscounted: it is a count of attempts, good for proving that a
fault was met, and no barrier.

A call is counted once the kernel has taken the answer, which it does only while that very call
still waits: so an interrupted call that comes again counts once, and what was read was the
memory of the process that asked.

Nothing can wait for ever: the keeper answers whatever it could not read; a call that waits can
be frozen, stopped and killed, as it waits interruptibly until it was heard; and with the keeper
dies the sandbox. The price: a signal whose handler does not restart calls (no ``SA_RESTART``)
can make a call fail with EINTR in the microseconds before it was heard.

A program in a mount namespace of its own has other things under the same paths, and is not
counted.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import os
import posixpath
import select
import socket
import struct
from collections.abc import Collection
from dataclasses import dataclass, field

from sandboxes.helper import asking, calls, kernel

_RECEIVE, _SEND, _SET_FLAGS = 0xC0502100, 0xC0182101, 0x40082104
_SYNC_WAKE_UP = 1
_NOTICE = struct.Struct("=QIIiIQ6Q")
_ANSWER = struct.Struct("=QqiI")
_GO_ON = 1
_EMPTY = bytes(_NOTICE.size)
_PAGE, _PIECE, _LONGEST = 4096, 256, 4096
_LINKS = 8
#: ``on``, ``in`` or ``below``, a dot, and what :func:`.calls.act` gives; to how often.
Counts = dict[str, int]
_IN_ROOT = kernel.RESOLVE_IN_ROOT | kernel.RESOLVE_NO_MAGICLINKS


def install(reports: int, kinds: Collection[str]) -> int:
    """Have calls of these kinds, of this process and of all it starts, ask first; closes ``reports``.

    The listener is handed over through ``reports`` before anything can be asked.

    Returns:
        What the next ``execve`` carries so that it is not counted.
    """
    cookie = int.from_bytes(os.urandom(8), "little")
    listener = kernel.ask_about_system_calls(asking.program(cookie, kinds))
    with socket.socket(fileno=reports) as sock:
        socket.send_fds(sock, [b"."], [listener])
    os.close(listener)
    return cookie


@dataclass(slots=True)
class Watcher:
    """The keeper's side of all watched programs of a sandbox."""

    reports: socket.socket
    namespace: int = 0  # inode of the sandbox's mount namespace
    counts: dict[bytes, Counts] = field(default_factory=dict)
    pins: dict[bytes, int] = field(default_factory=dict)
    _listeners: set[int] = field(default_factory=set)
    _root: int = -1

    def watch(self, path: bytes, pin: int = -1) -> None:
        """Count from now on what is attempted on ``path`` and below it.

        With a ``pin``, a descriptor that stays ours, only while it is of what is there.
        """
        self.counts.setdefault(path, {})
        if pin >= 0:
            old, self.pins[path] = self.pins.get(path, -1), pin
            if old >= 0:
                os.close(old)

    def hear(self, fd: int, event: int, poller: select.epoll) -> None:
        """Something came in on ``fd``, which is the reports' or a listener's."""
        if fd in self._listeners:
            if event & select.EPOLLIN:
                self._notified(fd)
            else:  # nobody is left; asking would block on older kernels
                poller.unregister(fd)
                self._listeners.discard(fd)
                os.close(fd)
            return
        data, fds, _, _ = socket.recv_fds(self.reports, 16, 4, socket.MSG_CMSG_CLOEXEC)
        if not data:  # pid 1 is dead
            poller.unregister(fd)
        for listener in fds:
            with contextlib.suppress(OSError):  # saves a switch between processors; since 6.6
                fcntl.ioctl(listener, _SET_FLAGS, _SYNC_WAKE_UP)
            self._listeners.add(listener)
            poller.register(listener, select.EPOLLIN)

    def _notified(self, listener: int) -> None:
        """Answer one call."""
        notice = bytearray(_EMPTY)
        try:
            fcntl.ioctl(listener, _RECEIVE, notice)
        except OSError:  # it was interrupted or killed meanwhile
            return
        identity, pid, _, number, _, _, *arguments = _NOTICE.unpack(notice)
        found = self._met(pid, _CALLS[number], tuple(arguments)) if self.counts else ()
        try:
            fcntl.ioctl(listener, _SEND, _ANSWER.pack(identity, 0, 0, _GO_ON))
        except OSError:  # likewise; it did not happen
            return
        for counts, what in found:
            counts[what] = counts.get(what, 0) + 1

    def _met(
        self, pid: int, call: calls.Call, arguments: tuple[int, ...]
    ) -> list[tuple[Counts, str]]:
        """The counts that a call adds to, and as what; none if it cannot be read."""
        with contextlib.suppress(OSError):
            follow = call.follows(arguments)
            places = [self._find(pid, arguments, named, follow=follow) for named in call.paths]
            found = [
                (counts, where, place)
                for path, counts in self.counts.items()
                for place in places
                if (where := _where(place.path, path)) and self._is_pinned(path)
            ]
            if found and os.stat(f"/proc/{pid}/ns/mnt").st_ino == self.namespace:
                flags = _flags(pid, call, arguments)
                vain = len(places) > 1 and not places[0].there
                return [
                    (counts, f"{where}.{what}")
                    for counts, where, place in found
                    for what in (("look",) if vain else place.acts(flags))
                ]
        return []

    def _is_pinned(self, path: bytes) -> bool:
        """Whether there is still there what was there, where that matters."""
        if path not in self.pins:
            return True
        try:
            fd = kernel.open_in(self._root, path, os.O_PATH | os.O_NOFOLLOW, _IN_ROOT)
        except OSError:
            return False
        try:
            return os.path.sameopenfile(fd, self.pins[path])
        finally:
            os.close(fd)

    def _find(
        self, pid: int, arguments: tuple[int, ...], named: calls.Named, *, follow: bool
    ) -> _Place:
        at = arguments[named.text] if named.text >= 0 else 0
        path = _text(pid, at) if at else b""
        if not path.startswith(b"/"):
            fd = _descriptor(arguments[named.folder]) if named.folder >= 0 else calls.AT_FDCWD
            link = "cwd" if fd == calls.AT_FDCWD else f"fd/{fd}"
            base = os.readlink(f"/proc/{pid}/{link}".encode())
            path = base + b"/" + path if path else base
        if self._root < 0:
            self._root = os.open(f"/proc/{pid}/root", os.O_PATH | os.O_CLOEXEC)
        return _Place(named, *resolve(self._root, path, follow=follow))

    def close(self) -> None:
        """Let go of everything; whoever still waits for an answer must be dead."""
        self.reports.close()
        for fd in (*self._listeners, *self.pins.values(), self._root):
            if fd >= 0:
                os.close(fd)
        self._listeners.clear()
        self._root = -1


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a path of a call leads, and how much of it is there."""

    named: calls.Named
    path: bytes
    missing: bytes

    @property
    def there(self) -> bool:
        return not self.missing

    def acts(self, flags: int) -> tuple[str, ...]:
        """What is done to it: nothing, one thing, or two."""
        folder = b"/" not in self.missing
        act = calls.act(self.named, flags, there=self.there, folder=folder)
        if calls.reads_too(self.named, flags, act):
            return (act, "read")
        return (act,) if act else ()


_CALLS = calls.calls()


def _descriptor(argument: int) -> int:
    return ctypes.c_int(argument & 0xFFFFFFFF).value


def _flags(pid: int, call: calls.Call, arguments: tuple[int, ...]) -> int:
    if call.flags < 0:
        return calls.CREAT_FLAGS
    if call.behind:
        return int.from_bytes(kernel.read_memory(pid, arguments[call.flags], 8), "little")
    return arguments[call.flags]


def _where(path: bytes, watched: bytes) -> str:
    """Whether a path is ``on``, ``in`` or ``below`` a watched one; empty where it is neither."""
    if path == watched:
        return "on"
    folder = watched.rstrip(b"/") + b"/"
    if not path.startswith(folder):
        return ""
    return "below" if b"/" in path[len(folder) :] else "in"


def _text(pid: int, address: int) -> bytes:
    """The string at an address of another process; it is read page by page."""
    text = b""
    while len(text) < _LONGEST:
        size = min(_PIECE, _PAGE - address % _PAGE)
        piece, end, _ = kernel.read_memory(pid, address, size).partition(b"\0")
        text += piece
        if end:
            return text
        address += size
    raise OSError(errno.ENAMETOOLONG, "a path without an end")


def resolve(root: int, path: bytes, *, follow: bool) -> tuple[bytes, bytes]:
    """Where a path leads below ``root``, links and ``..`` resolved as the kernel does it.

    What is not there is taken as it is written, below the last folder that is there, and is
    given beside.
    """
    flags = os.O_PATH if follow else os.O_PATH | os.O_NOFOLLOW
    for _ in range(_LINKS):
        folder, head, rest = _deepest(root, path, flags)
        try:
            where = os.readlink(f"/proc/self/fd/{folder}".encode())
            target = _link(folder, rest) if follow or b"/" in rest else b""
        finally:
            os.close(folder)
        if not target:
            return (posixpath.normpath(where.rstrip(b"/") + b"/" + rest) if rest else where), rest
        path = target if target.startswith(b"/") else head + b"/" + target
    raise OSError(errno.ELOOP, "too many links")


def _deepest(root: int, path: bytes, flags: int) -> tuple[int, bytes, bytes]:
    """The deepest part of a path that is there, opened and as it is written, and the rest."""
    head, rest = path, b""
    while True:
        try:
            return kernel.open_in(root, head or b"/", flags, _IN_ROOT), head, rest
        except OSError:
            if not head.strip(b"/"):
                raise
        head, _, name = head.rstrip(b"/").rpartition(b"/")
        rest = name + b"/" + rest if rest else name
        flags = os.O_PATH


def _link(folder: int, rest: bytes) -> bytes:
    """What follows from the first name of ``rest``, if that is a link that leads nowhere."""
    first, _, others = rest.partition(b"/")
    try:
        target = os.readlink(first, dir_fd=folder) if first else b""
    except OSError:
        return b""
    return target + b"/" + others if target and others else target
