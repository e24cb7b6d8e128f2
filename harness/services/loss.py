"""Packets to a service that are lost on their way, at random.

A filter on the service's own sockets has the kernel throw them away before anything of TCP or
of the service sees them, so the client's kernel has to send them again. The kernel counts what
each socket has thrown away.
"""

from __future__ import annotations

import contextlib
import socket
import struct
from collections import Counter
from collections.abc import Iterable
from typing import Final

from sandboxes.helper import bpf, kernel

_SO_ATTACH_FILTER: Final = 26
_SO_DETACH_FILTER: Final = 27
_SO_MEMINFO: Final = 55
_MEMINFO: Final = struct.Struct("=9I")  # the last one counts the drops
_RANDOM: Final = 0xFFFFF000 + 56
_EVERYTHING: Final = 0xFFFFFFFF


class Losses:
    """The sockets of a trial's services; all calls come from the loop's thread."""

    def __init__(self) -> None:
        self._percent: dict[str, int] = {}
        self._open: dict[socket.socket, tuple[str, int]] = {}
        self._lost: Counter[str] = Counter()

    def opened(self, service: str, sock: socket.socket) -> None:
        """A socket of a service is open: a listener, a connection, or one for datagrams."""
        if service in self._percent:  # it may have got none from its listener, if it had to wait
            _attach([sock], self._percent[service])
        self._open[sock] = service, 0  # what it lost before it was accepted counts too

    def lose(self, service: str, percent: int) -> None:
        """Lose so much of what comes in for it; 0 ends it."""
        self.look()
        sockets = [sock for sock, (owner, _) in self._open.items() if owner == service]
        if percent:
            self._open.update({sock: (service, _dropped(sock)) for sock in sockets})
            self._percent[service] = percent
            _attach(sockets, percent)
        elif self._percent.pop(service, None):
            for sock in sockets:
                with contextlib.suppress(FileNotFoundError):  # it has none
                    sock.setsockopt(socket.SOL_SOCKET, _SO_DETACH_FILTER, 0)

    def lost(self, service: str) -> int:
        """How many packets have been lost so."""
        self.look()
        return self._lost[service]

    def look(self) -> None:
        """Count what was lost since; a socket that is about to be closed must be looked at."""
        for sock, (service, known) in list(self._open.items()):
            if sock.fileno() < 0:
                del self._open[sock]
            elif service in self._percent:
                dropped = _dropped(sock)
                self._lost[service] += dropped - known
                self._open[sock] = service, dropped


def program_of(percent: int) -> bytes:
    """A socket filter that drops that many of a hundred packets, each by a throw of the dice."""
    code = bpf.Program()
    if percent < 100:
        code.do(bpf.LOAD_WORD, _RANDOM)
        code.at_least((percent << 32) // 100, yes="keep")
    code.answer(0)
    code.place("keep")
    code.answer(_EVERYTHING)
    return code.code()


def _attach(sockets: Iterable[socket.socket], percent: int) -> None:
    program, keep = kernel.packet_filter(program_of(percent))
    for sock in sockets:
        sock.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, program)
    del keep


def _dropped(sock: socket.socket) -> int:
    """The kernel's count for this socket."""
    raw = sock.getsockopt(socket.SOL_SOCKET, _SO_MEMINFO, _MEMINFO.size)
    return int(_MEMINFO.unpack(raw)[-1])
