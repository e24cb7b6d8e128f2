"""The helper of a run: it prepares the ground once and forks a keeper for each sandbox.

It hears from the harness on one socket; a message brings one end of a channel, on which the
keeper then speaks with the harness alone. One without, or end of file, means that the harness
has finished or is dead: every keeper is killed, whatever is left of control groups goes, and so
do we.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import select
import signal
import socket
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from sandboxes.helper import cgroups, containers, keeper, kernel, owners, stage
from sandboxes.helper.built import Built
from sandboxes.helper.ground import APART, IN_A_CONTAINER, Ground, Unusable
from sandboxes.helper.joined import Joined

if TYPE_CHECKING:
    from sandboxes.helper.outside import Apart

#: How long the next keeper waits to be forked, seconds: it would contend with the making of this
#: sandbox for the kernel's lock over mounts. Not where the next is asked for within ``_BUSY``.
_PAUSE, _BUSY = 0.01, 0.05
_AGENT = 61234  # owns nothing on any host we know; checked all the same
_PLAIN_AGENT = 1000  # user grade: what the user is called inside


@dataclass(slots=True)
class Server:
    """The running helper."""

    control: socket.socket
    ground: Ground | Apart
    keep: Callable[[socket.socket], None]
    keepers: dict[int, str] = field(default_factory=dict)  # pid to name; no name: it stands by
    spare: socket.socket = field(default_factory=socket.socket)
    spare_pid: int = 0
    asked: float = 0.0
    making: int = 0  # containers that the harness is about to have made
    dismissed: bool = False  # it said that it is through

    def serve(self) -> None:
        """Fork keepers until the harness is gone."""
        self.stand_by()
        woken, wakeups = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(wakeups, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        poller = select.poll()
        poller.register(self.control, select.POLLIN)
        poller.register(woken, select.POLLIN)
        while True:
            ready = poller.poll(None if self.spare_pid else _PAUSE * 1000)
            if not ready and not self.spare_pid:
                self.stand_by()
            for fd, _ in ready:
                if fd == woken:
                    os.read(woken, 4096)
                elif not self._accept():
                    return
            self._reap()

    def _accept(self) -> bool:
        """Hand a sandbox to the keeper that stands by; false at end of file."""
        try:
            name, fds, _, _ = socket.recv_fds(self.control, 4096, 1)
        except ConnectionResetError:
            return False
        if not fds:
            return self._note(name)
        if not self.spare_pid:
            self.stand_by()
        try:
            socket.send_fds(self.spare, [b"."], fds)
        except BrokenPipeError:  # it died while it waited
            self.stand_by()
            socket.send_fds(self.spare, [b"."], fds)
        self.keepers[self.spare_pid] = os.fsdecode(name)
        os.close(fds[0])
        self._stand_by_soon()
        return True

    def _note(self, word: bytes) -> bool:
        """What the harness says of itself; false when it is through, or says nothing any more."""
        self.making += {b"making": 1, b"made": -1}.get(word, 0)
        self.dismissed = word == b"through"
        return bool(word) and not self.dismissed

    def _stand_by_soon(self) -> None:
        """Fork the next keeper at once where sandboxes are wanted one after the other."""
        self.spare_pid = 0
        last, self.asked = self.asked, time.monotonic()
        if self.asked - last < _BUSY:
            self.stand_by()

    def stand_by(self) -> None:
        """Fork the keeper of the next sandbox."""
        self.spare.close()
        ours, theirs = socket.socketpair()
        pid = os.fork()
        if pid == 0:
            try:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                self.control.close()
                ours.close()
                kernel.set_name("shakeout-spare")
                self.keep(theirs)
            finally:
                os._exit(0)
        theirs.close()
        self.spare, self.spare_pid = ours, pid
        self.keepers[pid] = ""

    def _reap(self) -> None:
        """Collect keepers; one that did not end well may have left its control group."""
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                name = self.keepers.pop(ended[0], "")
                if name and ended[1] and name not in self.keepers.values():
                    self.ground.site.remove(name)

    def close(self) -> None:
        """Kill every keeper, and with it its sandbox; remove the control groups."""
        for pid in self.keepers:
            os.kill(pid, signal.SIGKILL)
        for pid in self.keepers:
            os.waitpid(pid, 0)
        self.ground.site.close()
        if not self.dismissed:
            self.ground.bereave(self.making)


def main(control_fd: int, run: str, bwrap: str, *engine: str) -> int:
    """Prepare, say so, and serve.

    Args:
        control_fd: the socket to the harness.
        run: the run's id.
        bwrap: bubblewrap; empty where an engine makes containers.
        engine: its socket, the label of the run's containers, and :data:`APART` where they are
            not joined from here.
    """
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    os.umask(0o022)
    control = socket.socket(fileno=control_fd)
    owner = os.getppid()
    try:
        ground, keep = _stand(run, owner, bwrap, *engine)
    except Unusable as error:
        _greet(control, {"error": error.args[0], "remedy": error.args[1]})
        return 1
    except Exception:  # noqa: BLE001 - there is nobody above to raise to
        _greet(control, {"error": traceback.format_exc(), "remedy": ""})
        return 1
    gc.collect()
    gc.freeze()
    gc.disable()
    grade = "root" if ground.root_grade else "user"
    _greet(control, {"grade": grade, "uid": ground.uid, "provides": sorted(ground.site.provides)})
    server = Server(control, ground, keep)
    try:
        server.serve()
    finally:
        server.close()
    return 0


def _stand(
    run: str, owner: int, bwrap: str, *engine: str
) -> tuple[Ground | Apart, Callable[[socket.socket], None]]:
    """The ground, and what is forked for each sandbox."""
    if engine[2:] == (APART,):
        from sandboxes.helper import outside  # noqa: PLC0415 - no other ground needs it

        outside.check()
        return outside.Apart(engine[0], engine[1]), outside.stand_by
    ground = _build(bwrap, run, owner) if bwrap else _join(*engine)
    return ground, partial(keeper.stand_by, ground)


def _greet(control: socket.socket, body: dict[str, object]) -> None:
    """The one message to the harness; the socket keeps its boundaries."""
    with contextlib.suppress(OSError):
        control.send(json.dumps(body).encode())


def _build(bwrap: str, run: str, owner: int) -> Ground:
    root_grade = os.geteuid() == 0
    uid = _free_uid() if root_grade else _PLAIN_AGENT
    site = cgroups.open_site(run, owner)
    try:
        if root_grade:
            kernel.unshare(kernel.NEWNS)
        else:
            _enter_user_namespace(uid)
        stage.prepare()
        stage.make_skeleton(uid)
    except OSError as error:
        site.close()
        remedy = (
            "allow unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone=1; on Ubuntu "
            "sysctl kernel.apparmor_restrict_unprivileged_userns=0), or run as root; "
            f"{IN_A_CONTAINER}"
        )
        raise Unusable(f"no mount namespace of our own: {error.strerror}", remedy) from error
    kernel.hide_memory()
    return Built(site, bwrap, uid, root_grade)


def _join(engine: str, label: str) -> Ground:
    if os.geteuid() != 0:
        why = "namespaces and control groups of containers can be entered by root only"
        raise Unusable(why, "run as root")
    uid = _free_uid()
    site = containers.open_site()
    kernel.unshare(kernel.NEWNS)
    stage.prepare()
    kernel.hide_memory()
    return Joined(site, uid, engine, label)


def _enter_user_namespace(uid: int) -> None:
    outer_uid, outer_gid = os.geteuid(), os.getegid()
    kernel.unshare(kernel.NEWUSER | kernel.NEWNS)
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{uid} {outer_uid} 1"),
        ("gid_map", f"{uid} {outer_gid} 1"),
    ):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
            file.write(text)


def _free_uid() -> int:
    """A kernel uid that no account has and no process outside our sandboxes runs under."""
    with open("/etc/passwd", encoding="utf-8", errors="replace") as file:
        taken = {line.split(":")[2] for line in file if line.count(":") >= 3}
    with open("/etc/group", encoding="utf-8", errors="replace") as file:
        taken |= {line.split(":")[2] for line in file if line.count(":") >= 3}
    running = _foreign_uids()
    return next(u for u in range(_AGENT, _AGENT + 1000) if str(u) not in taken and u not in running)


def _foreign_uids() -> set[int]:
    uids = set()
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError):
                uid = os.stat(f"/proc/{name}").st_uid
                if uid >= _AGENT and not _is_ours(name):
                    uids.add(uid)
    return uids


def _is_ours(pid: str) -> bool:
    with open(f"/proc/{pid}/cgroup", encoding="utf-8", errors="replace") as file:
        return f"/{owners.PREFIX}" in file.read()
