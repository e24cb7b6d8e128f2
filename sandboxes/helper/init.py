"""Pid 1 of a sandbox: it starts programs, reaps everything, and tells how they ended.

It outlives the main program, so whatever a subject leaves behind stays to be seen. From
inside it can be neither traced (not dumpable) nor signalled (the kernel protects the init of
a namespace, and no handler is installed but the one for children). It dies with its keeper.
"""

from __future__ import annotations

import contextlib
import os
import resource
import select
import signal
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from sandboxes.helper import guard, image, inspecting, kernel, launch, mounts, plain, wire
from sandboxes.helper.builder import Builder, BuildFailed

_STOPPED = frozenset("TtZXxD")
_POLL = 0.0005


@dataclass(slots=True)
class Init:
    """State of pid 1."""

    harness: socket.socket
    keeper: socket.socket
    place: launch.Place
    started: dict[int, int] = field(default_factory=dict)  # pid to number
    stopped_before: set[int] = field(default_factory=set)
    last: int = 0
    nproc: int = 0
    nofile: int | None = None
    frozen: bool = False  # by our own signals

    def serve(self, wakeups: int) -> None:
        """Answer until the keeper or the harness goes; then everything in here dies with us."""
        poller = select.poll()
        for fd in (self.harness, self.keeper, wakeups):
            poller.register(fd, select.POLLIN)
        while True:
            for fd, _ in poller.poll():
                if fd == wakeups:
                    os.read(wakeups, 4096)
                elif fd == self.harness.fileno():
                    self._answer(self.harness)
                else:
                    self._answer(self.keeper)
            self._reap()

    def _answer(self, sock: socket.socket) -> None:
        message = wire.receive(sock)
        try:
            operation = {
                "start": self._start,
                "signal": self._signal,
                "stop": self._stop,
                "continue": self._continue,
                "kill": self._kill,
                "nproc": self._nproc,
                "nofile": self._nofile,
                "mounts": self._mounts,
                "told": self._told,
            }[message.body["op"]]
            reply = operation(message)
        except (OSError, KeyError, ValueError) as error:
            reply = {"error": {"kind": "SandboxError", "message": str(error)}}
        finally:
            for fd in message.fds:
                os.close(fd)
        wire.send(sock, reply)

    def _start(self, message: wire.Message) -> dict[str, Any]:
        body, fds = message.body, list(message.fds)
        if body["user"] != "agent" and not self.place.own_users:
            raise ValueError("there is one user only (user grade), so nothing can run as root")
        if body["user"] != "agent" and self.place.nest:
            raise ValueError("nothing can run as root where sandboxes can be made inside (nest)")
        nothing = os.open("/dev/null", os.O_RDONLY) if len(fds) == 2 else -1
        if nothing >= 0:
            fds.insert(0, nothing)
        try:
            body |= {"nproc": self.nproc, "nofile": self.nofile}
            body["inspected"] = body["inspected"] and not plain.is_plain()
            pid, error = launch.start(self.place, body, fds)
        finally:
            if nothing >= 0:
                os.close(nothing)
        if error is not None:
            os.waitpid(pid, 0)
            return {"error": error}
        self.last += 1
        self.started[pid] = self.last
        began = inspecting.beginning(pid) if body["inspected"] else None
        return {"number": self.last, "pid": pid, "began": began}

    def _signal(self, message: wire.Message) -> dict[str, Any]:
        self._reap()
        for pid, number in self.started.items():
            if number == message.body["number"]:
                if self.frozen and message.body["signal"] == signal.SIGCONT:
                    self.stopped_before.discard(pid)  # it goes on when everything does
                else:  # not reaped yet, so the number is still its own
                    os.kill(pid, message.body["signal"])
                return {"sent": True}
        return {"sent": False}

    def _nproc(self, message: wire.Message) -> dict[str, Any]:
        """Limit the processes of whoever runs and of whoever starts later."""
        self.nproc = message.body["value"]
        for pid in _pids():
            with contextlib.suppress(ProcessLookupError):
                hard = resource.prlimit(pid, resource.RLIMIT_NPROC)[1]  # once lowered, it stays
                resource.prlimit(pid, resource.RLIMIT_NPROC, (min(self.nproc, hard), hard))
        return {}

    def _nofile(self, message: wire.Message) -> dict[str, Any]:
        """Limit the descriptors of whoever starts later; the keeper limits whoever runs."""
        self.nofile = message.body["value"]
        return {}

    def _mounts(self, _: wire.Message) -> dict[str, Any]:
        with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
            return {"text": file.read()}

    def _told(self, message: wire.Message) -> dict[str, Any]:
        return guard.told(message.fds[0])

    def _stop(self, message: wire.Message) -> dict[str, Any]:
        """Stop everything by signal, until nobody is left who could continue somebody."""
        deadline = time.monotonic() + message.body["timeout"]
        self.frozen = True
        self.stopped_before = {pid for pid in _pids() if set(_states(pid)) <= {"T"}}
        while time.monotonic() < deadline:
            _signal_all(signal.SIGSTOP)
            pids = _pids()
            if all(set(_states(pid)) <= _STOPPED for pid in pids) and pids == _pids():
                return {"frozen": True}
            time.sleep(_POLL)
        return {"frozen": False}

    def _continue(self, _: wire.Message) -> dict[str, Any]:
        self.frozen = False
        for pid in _pids():
            if pid not in self.stopped_before:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)
        return {}

    def _kill(self, message: wire.Message) -> dict[str, Any]:
        deadline = time.monotonic() + message.body["timeout"]
        while _signal_all(signal.SIGKILL) and time.monotonic() < deadline:
            self._reap()
            time.sleep(_POLL)
        return {"gone": not _pids()}

    def _reap(self) -> None:
        with contextlib.suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    return
                number = self.started.pop(pid, None)
                if number is None:
                    continue
                code = os.waitstatus_to_exitcode(status)
                ended = (
                    {"code": code, "signal": None} if code >= 0 else {"code": None, "signal": -code}
                )
                wire.send(self.harness, {"ended": number, **ended})


def run(keeper: socket.socket, bwrap: str) -> None:
    """Be pid 1: get ready, wait for what to build, build it, serve; never returns.

    ``bwrap`` is the program that is to build it, if one is. Whoever dies meanwhile takes us along: the link to the keeper ends, or the kernel sees to it.
    """
    try:
        kernel.die_with_parent()
        kernel.set_command_line("init")
        builder = Builder()
        problem = _attempt(mounts.mount_proc) or _attempt(lambda: builder.get_ready(bwrap))
        order = wire.receive(keeper)
        kernel.set_name("init")
        harness, *given = order.fds
        place = _place(order.body, given)
        namespace = -1
        if not problem and place.nest:
            problem = _attempt(mounts.mount_whole_proc)
        if not problem:
            problem, namespace = _move_in(builder, order.body["options"], place)
        if problem:
            wire.send(keeper, {"error": problem})
            return
        init = Init(socket.socket(fileno=harness), keeper, place, nproc=order.body["nproc"])
        wire.send(keeper, {"ready": True}, fds=[namespace] if namespace >= 0 else [])
        if namespace >= 0:
            os.close(namespace)
        init.serve(_wake_on_children())
    except wire.Closed:
        return
    finally:
        os._exit(0)


def _place(order: dict[str, Any], given: list[int]) -> launch.Place:
    return launch.Place(
        uid=order["uid"],
        own_users=order["own_users"],
        reports=given.pop(0) if order["watch"] else -1,
        watch=order["watch"],
        entrances=given,
        first_to_die=order["first_to_die"],
        nest=order["nest"],
    )


def _attempt(action: Callable[[], None]) -> str:
    """Why it failed; empty if it did not."""
    try:
        action()
    except OSError as error:
        return str(error)
    return ""


def _move_in(builder: Builder, options: list[str], place: launch.Place) -> tuple[str, int]:
    """Build the mount namespace and seal ourselves; gives what went wrong, and a descriptor.

    Without options for a builder, the keeper has built it, and it is there to move into.
    """
    try:
        if options:
            namespace = builder.build(options, own_users=place.own_users)
        else:
            namespace = image.move_in(nest=place.nest)
        kernel.empty_bounding_set()
        kernel.hide_memory()
        kernel.die_with_parent()  # forgotten with the credentials of before
    except (OSError, BuildFailed) as error:
        return str(error), -1
    return "", namespace


def _wake_on_children() -> int:
    """A descriptor that is readable when a child has ended."""
    receiving, wakeups = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(wakeups, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    return receiving


def _pids() -> set[int]:
    return {int(name) for name in os.listdir("/proc") if name.isdigit() and name != "1"}


def _states(pid: int) -> str:
    """The state letter of each thread; empty if it is gone."""
    letters = ""
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(OSError), open(f"/proc/{pid}/task/{task}/stat", "rb") as file:
                letters += chr(file.read().rpartition(b") ")[2][0])
    return letters


def _signal_all(number: int) -> bool:
    """Signal every process but ourselves; whether there was any."""
    try:
        os.kill(-1, number)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
