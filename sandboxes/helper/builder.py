"""Bubblewrap as the builder of a mount namespace, started before it is known what to build.

Starting it takes as long as a third of what it does, so it is started ahead and waits for its
options, which it reads from a descriptor. Its own program only waits: once everything is
mounted, pid 1 moves in, and both are let go.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import signal
from dataclasses import dataclass

from sandboxes.helper import kernel, stage

_INFO, _OPTIONS = 3, 4


class BuildFailed(Exception):
    """The mount namespace could not be built; the message is bubblewrap's."""


@dataclass(slots=True)
class Builder:
    """One start of bubblewrap; our ends of what it was given."""

    pid: int = 0
    options: int = -1
    holder_in: int = -1
    holder_out: int = -1
    info: int = -1
    errors: int = -1

    def get_ready(self, program: str) -> None:
        """Start it; without a program there is nothing to get ready."""
        if not program:
            return
        holder_in, self.holder_in = os.pipe()
        self.holder_out, holder_out = os.pipe()
        self.info, info = os.pipe()
        options, self.options = os.pipe()
        self.errors = os.memfd_create("bubblewrap")
        theirs = [_above(fd) for fd in (holder_in, holder_out, self.errors, info, options)]
        actions = [(os.POSIX_SPAWN_DUP2, fd, to) for to, fd in enumerate(theirs)]
        words = [program, "--args", str(_OPTIONS), "--info-fd", str(_INFO), "--", "/bin/cat"]
        self.pid = os.posix_spawn(program, words, {"PATH": "/usr/bin:/bin"}, file_actions=actions)
        os.write(self.holder_in, b".")  # while we hold the other end, so it cannot be broken
        for fd in (*theirs, holder_in, holder_out, info, options):
            os.close(fd)

    def build(self, options: list[str], *, own_users: bool) -> int:
        """Have it build, move in, let it go; gives a descriptor of the namespace.

        Meanwhile ``/proc`` is that of our pid namespace, for the keeper too: bubblewrap looks
        its child up there, by the number that we know it by.

        Raises:
            BuildFailed: it could not.
        """
        kernel.mount(stage.PROC, "/proc", "", kernel.BIND)
        with open(self.options, "wb") as file:
            file.write(b"".join(os.fsencode(word) + b"\0" for word in options))
        up = os.read(self.holder_out, 1)  # the holder answers: everything is mounted
        kernel.unmount("/proc")
        if not up:
            raise BuildFailed(self._why())
        holder = json.loads(os.read(self.info, 4096))["child-pid"]
        handle = os.pidfd_open(holder)
        kernel.setns(handle, kernel.NEWNS if own_users else kernel.NEWNS | kernel.NEWUSER)
        for victim in (holder, self.pid):
            os.kill(victim, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(-1, 0)
        for fd in (self.holder_in, self.holder_out, self.info, self.errors, handle):
            os.close(fd)
        return os.open("/proc/self/ns/mnt", os.O_RDONLY)

    def _why(self) -> str:
        os.waitpid(self.pid, 0)
        os.lseek(self.errors, 0, os.SEEK_SET)
        said = os.read(self.errors, 4096).decode("utf-8", "replace").strip()
        return said or "bwrap ended silently"


def _above(fd: int) -> int:
    """A copy whose number is none of those that the program is about to get."""
    return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, _OPTIONS + 1)
