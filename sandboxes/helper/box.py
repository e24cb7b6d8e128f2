"""One sandbox as it is built, and as it is removed; seen from outside.

The keeper makes the namespaces and mounts, forks pid 1 into them, and never enters the
sandbox's mount namespace itself: what must be done there is done by a short-lived child.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import socket
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from sandboxes.helper import (
    accounts,
    descriptors,
    groups,
    guard,
    kernel,
    left,
    mounts,
    network,
    overlay,
    paths,
    programs,
    rows,
    stage,
    taken,
    watch,
    wire,
)
from sandboxes.helper.ground import Failed as Failed
from sandboxes.helper.ground import Ground
from sandboxes.helper.pid1 import Pid1
from sandboxes.helper.stage import open_folder as open_folder

READY_SECONDS = 30.0
FREEZE_SECONDS = 10.0
KILL_SECONDS = 10.0
CLOCK_BYTES = 64 * (32 + 8)  # the shim's table of reads


class InUse(Failed):
    """An address is taken."""

    kind = "AddressInUse"


@dataclass(slots=True)
class Box:
    """A sandbox and all that is held of it."""

    ground: Ground
    spec: dict[str, Any]
    pid1: Pid1
    group: groups.Group | None = None
    roots: dict[str, int] = field(default_factory=dict)
    layers: list[overlay.Layer] = field(default_factory=list)
    namespace: int = -1  # the mount namespace inside, where it has one of its own
    frozen: bool = False
    watcher: watch.Watcher | None = None
    descriptors: descriptors.Descriptors | None = None
    taken: taken.Taken = field(default_factory=lambda: taken.Taken(stage.TAKEN))
    left: left.Left = field(default_factory=lambda: left.Left(stage.TAKEN))
    guard: guard.Guard | None = None
    names: accounts.Accounts = field(default_factory=accounts.Accounts)
    programs: programs.Programs = field(default_factory=programs.Programs)
    aliases: dict[tuple[str, str, str], os.stat_result] = field(default_factory=dict)
    changed: dict[tuple[str, str], tuple[int, rows.Row]] = field(default_factory=dict)

    def build(
        self, payload: bytes, counter: socket.socket | None
    ) -> tuple[dict[str, Any], list[socket.socket]]:
        """Make the sandbox; gives the answer and the sockets to hand out."""
        self._mount(payload)
        self._make_group()
        harness_end, init_end = socket.socketpair()
        self._order(init_end)
        if self.spec["guarded"]:
            self.guard = guard.Guard.begin(self.spec["guarded"])
        listeners = [self.listen(item) for item in self.spec["listens"]]
        self.layers = self.ground.layers()
        self._await_init()
        answer = {"packets": counter is not None, "uid": self.ground.uid}
        return answer, [harness_end, *([counter] if counter else []), *listeners]

    def _mount(self, payload: bytes) -> None:
        uid = self.ground.uid
        mounts.make_box(uid, self.spec["limits"]["disk"])
        if self.spec["shim"]:
            stage.write(f"{stage.CLOCK}/offset", "\0" * 16)
            stage.write(f"{stage.CLOCK}/reads", "\0" * CLOCK_BYTES, 0o666)
        self.ground.furnish(self.spec)
        contents = io.BytesIO(payload)
        for name, path in (("home", stage.HOME), ("workspace", stage.WORKSPACE)):
            self.roots[name] = open_folder(path)
            for item in self.spec[name]:
                content = contents.read(item["size"])
                paths.plant(self.roots[name], item, content, uid)

    def _make_group(self) -> None:
        provides, limits = self.ground.site.provides, self.spec["limits"]
        self.group = self.ground.group(self.spec)
        if self.group is not None and "memory" in provides:
            self.group.limit_memory(limits["memory"])
        if self.group is not None and "pids" in provides:
            self.group.limit_pids(limits["pids"])

    def _order(self, init_end: socket.socket) -> None:
        """Tell pid 1 what to build and whom to serve."""
        counted = self.group is not None and "pids" in self.ground.site.provides
        order = {
            "uid": self.ground.uid,
            "own_users": self.ground.root_grade,
            "watch": self.spec["watch"],
            "nest": self.spec["nest"],
            "nproc": 0 if counted else self.spec["limits"]["pids"],
            **self.ground.order(self.spec),
        }
        entrances = self.group.entrances() if self.group else []
        given = [*([self._make_watcher()] if self.spec["watch"] else []), *entrances]
        wire.send(self.pid1.link, order, fds=[init_end.fileno(), *given])
        init_end.close()
        for fd in given:
            os.close(fd)

    def _make_watcher(self) -> int:
        """Get ready to hear from watched programs; gives the end that is theirs."""
        ours, theirs = socket.socketpair()
        self.watcher = watch.Watcher(ours)
        return theirs.detach()

    def _await_init(self) -> None:
        self.pid1.link.settimeout(READY_SECONDS)
        message = wire.receive(self.pid1.link)
        if "error" in message.body:
            raise Failed(f"the sandbox could not be built: {message.body['error']}")
        self.namespace = message.fds[0] if message.fds else -1
        if self.watcher is not None:
            self.watcher.namespace = os.fstat(self.namespace).st_ino

    def listen(self, item: dict[str, Any]) -> socket.socket:
        """Bind an address inside."""
        try:
            return network.listen(item["host"], item["port"], item["kind"])
        except OSError as error:
            where = f"{item['kind']} {item['host']}:{item['port']}"
            if error.errno == errno.EADDRINUSE:
                raise InUse(f"{where} is in use inside") from error
            raise Failed(f"{where} cannot be bound: {error.strerror}") from error

    def root(self, name: str) -> int:
        """The open folder of the home or the workspace."""
        if name not in self.roots:
            raise Failed(f"nothing is done to {name!r} by path: expected home or workspace")
        return self.roots[name]

    @contextlib.contextmanager
    def view(self) -> Iterator[int]:
        """The root folder as it is seen inside."""
        receiving, sending = socket.socketpair()
        with receiving, sending:
            self.inside(lambda: _hand_over(sending, "/"))
            _, fds, _, _ = socket.recv_fds(receiving, 1, 1, socket.MSG_CMSG_CLOEXEC)
        try:
            yield fds[0]
        finally:
            os.close(fds[0])

    def ask_init(self, body: dict[str, Any], fds: Sequence[int] = ()) -> dict[str, Any]:
        """Ask pid 1."""
        self.pid1.link.settimeout(KILL_SECONDS + 5)
        wire.send(self.pid1.link, body, fds=fds)
        reply = wire.receive(self.pid1.link).body
        if "error" in reply:
            raise Failed(reply["error"]["message"])
        return reply

    def inside(self, action: Callable[[], None]) -> None:
        """Do something in the sandbox's mount namespace, in a child."""
        pid = os.fork()
        if pid == 0:
            code = errno.EIO
            try:
                if self.namespace >= 0:
                    kernel.setns(self.namespace, kernel.NEWNS)
                else:
                    os.chroot(stage.ROOT)
                action()
                code = 0
            except OSError as error:
                code = error.errno or code
            finally:  # whatever it was, or there would be two keepers
                os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        if code:
            why = os.strerror(code) if code > 0 else f"signal {-code}"
            raise Failed(f"it could not be done among the mounts of the sandbox: {why}")

    def let_die(self) -> None:
        """With everything killed: let go of what a freezer of version 1 holds back from dying."""
        has_freezer = "freezer" in self.ground.site.provides
        if self.frozen and self.group and has_freezer and not self.group.unified_freezer:
            self.group.freeze(on=False, timeout=FREEZE_SECONDS)
        self.frozen = False

    def remove(self) -> list[str]:
        """End everything; gives what could not be removed."""
        self.pid1.end()
        self.let_die()
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self.pid1.pid, 0)
        if self.watcher is not None:
            self.watcher.close()
        if self.group is None:
            return []
        self.group.close()
        return self.ground.site.remove(self.spec["name"])


def _hand_over(sending: socket.socket, path: str) -> None:
    socket.send_fds(sending, [b"."], [os.open(path, os.O_PATH | os.O_DIRECTORY)])
