"""An address that is held from outside, and binds of watched programs to it."""

from __future__ import annotations

import errno
import ipaddress
import os
import socket
from collections import Counter
from dataclasses import dataclass, field

from sandboxes.helper import copies
from sandboxes.helper.caller import Caller
from sandboxes.helper.rules import Answer

_LONGEST = 128
_FIRST_FREE = "/proc/sys/net/ipv4/ip_unprivileged_port_start"
_PLACES = {socket.AF_INET: slice(4, 8), socket.AF_INET6: slice(8, 24)}


@dataclass(slots=True)
class Taken:
    """Listens on the address, and counts the binds that fail for it.

    Each is tried here, on the very socket of the process, and the outcome is its answer: so it
    is the kernel's, and the address can be changed by nobody in between.
    """

    host: str
    port: int
    met: Counter[str] = field(default_factory=Counter)
    _holder: socket.socket = field(init=False)

    def __post_init__(self) -> None:
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        self._holder = socket.socket(family, socket.SOCK_STREAM)
        try:
            self._holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self._holder.bind((self.host, self.port))
            self._holder.listen()
        except OSError:
            self._holder.close()
            raise

    def decide(self, caller: Caller, answer: Answer) -> None:
        """See :class:`.rules.Rule`."""
        if not answer.go_on or not caller.is_called("bind"):
            return
        _, address, size, *_ = caller.arguments
        asked = caller.read(address, min(size, _LONGEST))
        if not self._may_be_asked_for(asked):
            return
        with _socket(caller.descriptor(0)) as copy:
            if copy.type != socket.SOCK_STREAM or not self._meets(asked, copy):
                return
            if not caller.still_waits():
                return
            answer.lasting = True
            try:
                copies.bind(copy.fileno(), asked)
                answer.give(0)
            except OSError as error:
                answer.fail(error.errno or errno.EINVAL)
        if answer.error == errno.EADDRINUSE:
            answer.taken.append(lambda: self.met.update(["binds"]))

    def close(self) -> None:
        """Let the address go."""
        self._holder.close()

    def _may_be_asked_for(self, asked: bytes) -> bool:
        with open(_FIRST_FREE, "rb") as file:
            first = int(file.read())
        return int.from_bytes(asked[2:4], "big") == self.port >= first

    def _meets(self, asked: bytes, copy: socket.socket) -> bool:
        where = asked[_PLACES[copy.family]] if copy.family in _PLACES else b""
        if len(where) not in (4, 16) or int.from_bytes(asked[:2], "little") != copy.family:
            return False
        six = copy.family == socket.AF_INET6
        both = not (six and copy.getsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY))
        return conflict(self.host, ipaddress.ip_address(where), both=both)


def _socket(descriptor: int) -> socket.socket:
    """The socket that a descriptor is of, which is closed where it is none."""
    try:
        return socket.socket(fileno=descriptor)
    except OSError:
        os.close(descriptor)
        raise


def conflict(
    held: str, asked: ipaddress.IPv4Address | ipaddress.IPv6Address, *, both: bool
) -> bool:
    """Whether one port cannot be had on two addresses; ``both``: an IPv6 socket takes IPv4 too."""
    holder = ipaddress.ip_address(held)
    mapped = getattr(asked, "ipv4_mapped", None)
    asked = mapped if mapped is not None and both else asked
    if held == "::":  # which takes IPv4 too
        return True
    if holder.version == asked.version:
        return holder == asked or holder.is_unspecified or asked.is_unspecified
    if asked.version == 6:
        return asked.is_unspecified and both
    return False
