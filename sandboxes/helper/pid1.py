"""Forking pid 1 of a sandbox: into namespaces that we are in already, or below a container's."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
from collections.abc import Sequence
from dataclasses import dataclass

from sandboxes.helper import init, kernel, plain


@dataclass(frozen=True, slots=True)
class Pid1:
    """The first process of a sandbox, from outside.

    Attributes:
        pid: as we see it.
        handle: its pidfd, or the link where the kernel has no such thing: readable at its end.
        link: on which it takes orders from us.
    """

    pid: int
    handle: int
    link: socket.socket

    def end(self) -> None:
        """Kill it, and with it everything in its namespace."""
        with contextlib.suppress(ProcessLookupError):
            if plain.is_plain():
                os.kill(self.pid, signal.SIGKILL)  # nobody but us collects it
            else:
                signal.pidfd_send_signal(self.handle, signal.SIGKILL)


def fork(ours: Sequence[socket.socket], bwrap: str) -> Pid1:
    """Fork it into the pid namespace that our children are made in; ``ours`` is not for it.

    ``bwrap`` is the program that will build the sandbox's mount namespace.
    """
    link, theirs = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        _be(theirs, [link, *ours], bwrap)
    theirs.close()
    return Pid1(pid, link.fileno() if plain.is_plain() else os.pidfd_open(pid), link)


def fork_below(neighbour: int, ours: Sequence[socket.socket]) -> Pid1:
    """Fork it into a pid namespace of its own below that of another process, given as a pidfd.

    It is our child all the same, so it dies with us. It dies with that other namespace too.
    The namespace can be left for a new one only from within, hence the process in between.
    """
    link, theirs = socket.socketpair()
    receiving, sending = socket.socketpair()
    home = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
    kernel.setns(neighbour, kernel.NEWPID)
    between = os.fork()
    if between == 0:
        _bridge(theirs, sending, [link, receiving, *ours])
    kernel.setns(home, kernel.NEWPID)
    os.close(home)
    for sock in (theirs, sending):
        sock.close()
    with receiving:
        _, handles, _, _ = socket.recv_fds(receiving, 1, 1, socket.MSG_CMSG_CLOEXEC)
    code = os.waitstatus_to_exitcode(os.waitpid(between, 0)[1])
    if not handles:
        raise OSError(code, f"no pid namespace below the container's: {os.strerror(code)}")
    return Pid1(_number(handles[0]), handles[0], link)


def _bridge(theirs: socket.socket, sending: socket.socket, others: Sequence[socket.socket]) -> None:
    code = 0
    try:
        kernel.unshare(kernel.NEWPID)
        pid = kernel.fork_sibling()
        if pid == 0:
            _be(theirs, [sending, *others], "")
        socket.send_fds(sending, [b"."], [os.pidfd_open(pid)])
    except OSError as error:
        code = error.errno or 255
    finally:
        os._exit(code)


def _be(link: socket.socket, others: Sequence[socket.socket], bwrap: str) -> None:
    for sock in others:
        sock.close()
    init.run(link, bwrap)


def _number(handle: int) -> int:
    """The process of a pidfd, as we call it."""
    with open(f"/proc/self/fdinfo/{handle}", encoding="utf-8") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("Pid:"))
