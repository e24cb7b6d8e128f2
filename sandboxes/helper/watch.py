"""Counting from outside what a subject attempts, and answering chosen calls of it by rule.

A watched program carries a second seccomp filter (:mod:`.asking`). Each of its calls that the
filter asks about waits until the keeper has looked at it (:mod:`.caller`). The answer is to go
on, unless a rule (:mod:`.rules`) has another. A program that changes a path in its memory
between our look and the kernel's is miscounted: it is a count of attempts, good for proving
that a fault was met, and no barrier. A call that a rule answers is done with; nothing can be
changed behind that.

A call is counted once the kernel has taken the answer, which it does only while that very call
still waits: so an interrupted call that comes again counts once, and what was read was the
memory of the process that asked. An answer that was not taken is kept for when the same call
comes again, so what a rule did once, and the time that it holds a call back, hold for it too.

Nothing can wait for ever: the keeper answers whatever it could not read; a call that waits can
be frozen, stopped and killed; and with the keeper dies the sandbox. Where calls may be held
back they wait interruptibly all the time, since what waits otherwise cannot be frozen; else
only until they were heard. The price: a signal whose handler does not restart calls (no
``SA_RESTART``) can make a call that waits interruptibly fail with EINTR.

A program in a mount namespace of its own has other things under the same paths; it is neither
counted nor answered by a rule about a path.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import signal
import socket
import struct
import time
from collections.abc import Collection
from dataclasses import dataclass, field

from sandboxes.helper import asking, kernel, resolving
from sandboxes.helper.caller import Caller
from sandboxes.helper.rules import Answer, Rule

_SET_FLAGS = 0x40082104
_SYNC_WAKE_UP = 1
_CREDENTIALS = struct.Struct("=iII")
_INT = struct.calcsize("=i")
_MANY = 1024
#: Asked for beside the kinds: calls may be held back.
HOLD = "hold"
#: ``on``, ``in`` or ``below``, a dot, and what :func:`.calls.act` gives; to how often.
Counts = dict[str, int]


def install(reports: int, kinds: Collection[str]) -> int:
    """Have calls of these kinds, of this process and of all it starts, ask first; closes ``reports``.

    The listener is handed over through ``reports`` before anything can be asked.

    Returns:
        What the next ``execve`` carries so that it is not counted.
    """
    cookie = int.from_bytes(os.urandom(8), "little")
    program = asking.program(cookie, [kind for kind in kinds if kind != HOLD])
    listener = kernel.ask_about_system_calls(program, interruptible=HOLD in kinds)
    with socket.socket(fileno=reports) as sock:
        socket.send_fds(sock, [b"."], [listener])
    os.close(listener)
    return cookie


@dataclass(slots=True)
class _Held:
    """A call and the answer that it will get."""

    caller: Caller
    answer: Answer
    counted: list[tuple[Counts, str]]


@dataclass(slots=True)
class Watcher:
    """The keeper's side of all watched programs of a sandbox."""

    reports: socket.socket
    namespace: int = 0  # inode of the sandbox's mount namespace
    counts: dict[bytes, Counts] = field(default_factory=dict)
    pins: dict[bytes, int] = field(default_factory=dict)
    rules: dict[int, Rule] = field(default_factory=dict)
    last_rule: int = 0
    _main: int = -1
    _listeners: set[int] = field(default_factory=set)
    _root: int = -1
    _held: list[_Held] = field(default_factory=list)
    _again: dict[int, _Held] = field(default_factory=dict)  # by thread

    def __post_init__(self) -> None:
        self.reports.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)

    def watch(self, path: bytes, pin: int = -1) -> None:
        """Count from now on what is attempted on ``path`` and below it.

        With a ``pin``, a descriptor that stays ours, only while it is of what is there.
        """
        self.counts.setdefault(path, {})
        if pin >= 0:
            old, self.pins[path] = self.pins.get(path, -1), pin
            if old >= 0:
                os.close(old)

    def kill_main(self) -> bool:
        """Kill the program that was watched last; whether it was alive."""
        with contextlib.suppress(ProcessLookupError):
            if self._main >= 0:
                signal.pidfd_send_signal(self._main, signal.SIGKILL)
                return True
        return False

    def release(self, number: int) -> None:
        """End a rule; whom it holds back may go on at once."""
        rule = self.rules.pop(number)
        for held in (*self._held, *self._again.values()):
            if rule in held.answer.holding:
                held.answer.due = 0.0
        rule.close()

    def patience(self) -> float | None:
        """How long until :meth:`tick` is due, seconds; ``None``: no call is held back."""
        if not self._held:
            return None
        return max(0.0, min(held.answer.due for held in self._held) - time.monotonic())

    def tick(self) -> None:
        """Let those go on whose time has come."""
        now = time.monotonic()
        due = [held for held in self._held if held.answer.due <= now]
        self._held = [held for held in self._held if held.answer.due > now]
        for held in due:
            self._give(held)

    def hear(self, fd: int, event: int, poller: select.epoll) -> None:
        """Something came in on ``fd``, which is the reports' or a listener's."""
        if fd in self._listeners:
            if event & select.EPOLLIN:
                self._notified(fd)
            else:  # nobody is left; asking would block on older kernels
                poller.unregister(fd)
                self._forget(fd)
            return
        data, listeners, main = _receive(self.reports)
        if not data:  # pid 1 is dead
            poller.unregister(fd)
        if main >= 0:
            self._main, old = main, self._main
            if old >= 0:
                os.close(old)
        for listener in listeners:
            with contextlib.suppress(OSError):  # saves a switch between processors; since 6.6
                fcntl.ioctl(listener, _SET_FLAGS, _SYNC_WAKE_UP)
            self._listeners.add(listener)
            poller.register(listener, select.EPOLLIN)

    def _forget(self, listener: int) -> None:
        self._listeners.discard(listener)
        self._held = [held for held in self._held if held.caller.listener != listener]
        os.close(listener)

    def _notified(self, listener: int) -> None:
        """Answer one call, or hold it back."""
        try:
            caller = Caller(listener)
        except OSError:  # it was interrupted or killed meanwhile
            return
        held = self._interrupted(caller)
        if held is None:
            held = _Held(caller, Answer(), [])
            self._look(held)
        held.caller = caller
        if held.answer.due > time.monotonic():
            self._held.append(held)
        else:
            self._give(held)

    def _interrupted(self, caller: Caller) -> _Held | None:
        """What was decided on this very call before it was interrupted, if it was.

        A thread waits for one call at a time; whatever else it had waited for is over.
        """
        before = self._again.pop(caller.pid, None)
        waited = [held for held in self._held if held.caller.pid == caller.pid]
        self._held = [held for held in self._held if held.caller.pid != caller.pid]
        last = waited[0] if waited else before
        return last if last is not None and last.caller.key == caller.key else None

    def _give(self, held: _Held) -> None:
        answer = held.answer
        if not held.caller.answer(answer.value, answer.error, go_on=answer.go_on):
            if answer.lasting:
                self._remember(held)
            return
        for counts, what in held.counted:
            counts[what] = counts.get(what, 0) + 1
        for taken in answer.taken:
            taken()

    def _remember(self, held: _Held) -> None:
        """Keep an answer for when its thread asks again, which one that has ended never does."""
        if len(self._again) >= _MANY:
            there = {
                tid: each for tid, each in self._again.items() if os.path.exists(f"/proc/{tid}")
            }
            self._again = there
        self._again[held.caller.pid] = held

    def _look(self, held: _Held) -> None:
        """Find out what a call is about, what it counts as, and what its answer is."""
        if not (self.counts or self.rules):
            return
        caller = held.caller
        with contextlib.suppress(OSError):
            if self._root < 0:
                self._root = os.open(f"/proc/{caller.pid}/root", os.O_PATH | os.O_CLOEXEC)
            caller.root, caller.namespace = self._root, self.namespace
            held.counted = self._met(caller)
        for rule in self.rules.values():
            with contextlib.suppress(OSError):
                rule.decide(caller, held.answer)

    def _met(self, caller: Caller) -> list[tuple[Counts, str]]:
        """The counts that a call adds to, and as what."""
        found = [
            (counts, where, at)
            for path, counts in self.counts.items()
            for at, place in enumerate(caller.places())
            if (where := resolving.where(place.path, path)) and self._is_pinned(path)
        ]
        acts = caller.all_acts() if found and caller.sees_the_same() else []
        tried = [
            (counts, f"{where}.{act}")
            for counts, where, at in found
            for act in (acts[at] if acts else ())
        ]
        return tried + self._moved(caller)

    def _moved(self, caller: Caller) -> list[tuple[Counts, str]]:
        """Under which counts a call gives a path another name: it renames a folder above it."""
        folders = caller.renamed()
        if not folders or not caller.sees_the_same():
            return []
        return [
            (counts, "on.link")
            for path, counts in self.counts.items()
            if any(resolving.where(path, folder) in {"in", "below"} for folder in folders)
            and self._is_there(path)
            and self._is_pinned(path)
        ]

    def _is_there(self, path: bytes) -> bool:
        try:
            os.close(kernel.open_in(self._root, path, os.O_PATH | os.O_NOFOLLOW, resolving.IN_ROOT))
        except OSError:
            return False
        return True

    def _is_pinned(self, path: bytes) -> bool:
        """Whether there is still there what was there, where that matters."""
        if path not in self.pins:
            return True
        try:
            fd = kernel.open_in(self._root, path, os.O_PATH | os.O_NOFOLLOW, resolving.IN_ROOT)
        except OSError:
            return False
        try:
            return os.path.sameopenfile(fd, self.pins[path])
        finally:
            os.close(fd)

    def close(self) -> None:
        """Let go of everything; whoever still waits for an answer must be dead."""
        self.reports.close()
        for fd in (*self._listeners, *self.pins.values(), self._root, self._main):
            if fd >= 0:
                os.close(fd)
        self._listeners.clear()
        self._root = self._main = -1


def _receive(reports: socket.socket) -> tuple[bytes, list[int], int]:
    """What a program that is about to be watched sent: its listener, and who it is, as a pidfd."""
    room = socket.CMSG_SPACE(4 * _INT) + socket.CMSG_SPACE(_CREDENTIALS.size)
    data, parts, _, _ = reports.recvmsg(16, room, socket.MSG_CMSG_CLOEXEC)
    listeners: list[int] = []
    main = -1
    for _, kind, content in parts:
        if kind == socket.SCM_RIGHTS:
            usable = content[: len(content) - len(content) % _INT]
            listeners += [fd for (fd,) in struct.iter_unpack("=i", usable)]
        elif kind == socket.SCM_CREDENTIALS and data:
            with contextlib.suppress(ProcessLookupError):
                main = os.pidfd_open(_CREDENTIALS.unpack(content)[0])
    return data, listeners, main
