"""The ground of an engine: a container's image, namespaces and control groups.

The engine made the container, whose own program does nothing. The keeper joins it from
outside, as ``nsenter`` does, and pid 1 gets a pid namespace below the container's: it can be
seen, frozen and listed as in any other sandbox, and dies with the container whatever happens.
The container's root folder is the lower layer of an overlay of our own, so what changes is
recorded and nothing is ever written into the engine's storage.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sandboxes.helper import (
    containers,
    engines,
    groups,
    image,
    kernel,
    network,
    overlay,
    pid1,
    stage,
)
from sandboxes.helper.ground import Entered, Failed, NotJoinable, open_layers

_NAMESPACES = {"net": kernel.NEWNET, "ipc": kernel.NEWIPC, "uts": kernel.NEWUTS}
_START_SECONDS, _POLL = 2.0, 0.002


@dataclass(frozen=True, slots=True)
class Joined:
    """What the helper prepared for all sandboxes of a run.

    Attributes:
        site: where control groups are.
        uid: of the agent.
        engine: path of its socket.
        label: what the containers of the run carry, and no others do.
    """

    site: containers.Site
    uid: int
    engine: str
    label: str
    root_grade: bool = True

    def ahead(self, ours: Sequence[socket.socket]) -> None:
        """Nothing: the container is not known yet."""
        del ours

    def enter(self, spec: dict[str, Any], ours: Sequence[socket.socket]) -> Entered:
        """Join the container, but for its mounts, of which the root folder is copied."""
        pid, container = spec["container"]["pid"], spec["container"]["id"]
        try:
            handle = os.pidfd_open(pid)
        except ProcessLookupError as error:
            msg = f"there is no process {pid} here, as the engine says: it is on another machine"
            raise NotJoinable(msg) from error
        _check_program(pid, spec["container"]["program"])
        self.site.open(pid, container).close()  # so it is that container's, and no other process
        _check_namespaces(pid)
        kernel.unshare(kernel.NEWNS)
        _show_image(handle)
        kernel.setns(handle, sum(_NAMESPACES.values()))
        first = pid1.fork_below(handle, ours)
        os.close(handle)
        network.allow_ipv6()
        network.raise_loopback()
        return Entered(first, network.counter())

    def furnish(self, spec: dict[str, Any]) -> None:
        """Put an overlay over the image, and the sandbox's own into it."""
        image.build(spec, self.uid)

    def layers(self) -> list[overlay.Layer]:
        """One over the whole image."""
        return open_layers([("/", stage.IMAGE, image.UPPER)])

    def group(self, spec: dict[str, Any]) -> groups.Group:
        """The container's own."""
        return self.site.open(spec["container"]["pid"], spec["container"]["id"])

    def order(self, spec: dict[str, Any]) -> dict[str, Any]:
        """Nothing builds the root: it is ready when pid 1 hears of it.

        The container's own program shares the memory limit, and must not be the one to die.
        """
        del spec
        return {"options": [], "first_to_die": True}

    def bereave(self, making: int) -> None:
        """Containers, which end by themselves only once they were started."""
        engines.remove_all(self.engine, self.label, making)


def _check_program(pid: int, program: str) -> None:
    """Refuse what is not the container's program, seen from this kernel, once it was started."""
    deadline = time.monotonic() + _START_SECONDS
    while (name := _program(pid)) != program:
        if time.monotonic() > deadline:
            msg = (
                f"process {pid}, as the engine says, is {name} and not {program}: the container's "
                "runtime has a kernel of its own (gVisor, Kata), which cannot be joined from "
                "outside, or engine and harness are on two machines"
            )
            raise NotJoinable(msg)
        time.sleep(_POLL)


def _program(pid: int) -> str:
    with open(f"/proc/{pid}/cmdline", "rb") as file:
        return os.fsdecode(file.read(4096).split(b"\0")[0])


def _check_namespaces(pid: int) -> None:
    """Refuse a container that is not apart from us, or that calls users by other numbers."""
    for name in (*_NAMESPACES, "pid", "mnt", "user"):
        same = os.stat(f"/proc/{pid}/ns/{name}").st_ino == os.stat(f"/proc/self/ns/{name}").st_ino
        if same and name != "user":
            raise Failed(f"the container has no {name} namespace of its own")
        if not same and name == "user":
            raise NotJoinable("the engine maps users (userns-remap, or without root)")


def _show_image(handle: int) -> None:
    """Mount the root folder of a container on the stage, read-only and without its mounts.

    A mount can be copied only within its own namespace, so a child does that.
    """
    receiving, sending = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        code = 0
        try:
            kernel.setns(handle, kernel.NEWNS)
            socket.send_fds(sending, [b"."], [kernel.copy_tree("/", recursive=False)])
        except OSError as error:
            code = error.errno or 255
        finally:
            os._exit(code)
    sending.close()
    with receiving:
        _, trees, _, _ = socket.recv_fds(receiving, 1, 1, socket.MSG_CMSG_CLOEXEC)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if not trees:
        raise Failed(f"the container's root folder cannot be had: {os.strerror(code)}")
    kernel.restrict_tree(trees[0], kernel.RDONLY | kernel.NOSUID | kernel.NODEV)
    target = os.open(stage.IMAGE, os.O_PATH | os.O_CLOEXEC)
    kernel.attach_tree(trees[0], target)
    for fd in (trees[0], target):
        os.close(fd)
