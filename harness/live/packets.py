"""Counts what a subject sent, from the packet socket of its sandbox.

The socket gives packets to addresses outside the loopback network, which are nobody's, and
connection attempts (SYN) to any address. Both are evidence that the subject cannot forge:
the socket lies outside its reach, and the kernel fills it.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import struct
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import Future
from contextlib import suppress

from harness.evidence.model import Network

_SYN, _RST, _ACK = 0x02, 0x04, 0x10
_TCP, _UDP = 6, 17
_NAMES = {1: "icmp", _TCP: "tcp", _UDP: "udp", 58: "icmp6"}
_LISTED = 100
_KEPT = 10_000
#: Stands for every address beyond those that are kept.
_OTHERS = "(further addresses)"
_BATCH = 500
_SOL_PACKET, _PACKET_STATISTICS = 263, 6


class PacketCounter:
    """Reads the packet socket of one sandbox in the thread of the event loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop, source: socket.socket | None) -> None:
        self._loop = loop
        self._source = source
        self._outside = 0
        self._destinations: Counter[str] = Counter()
        self._syns: Counter[str] = Counter()
        self._dropped = 0
        self._finished = False
        if source is not None:
            source.setblocking(False)
            loop.call_soon_threadsafe(loop.add_reader, source.fileno(), self._read)

    def syns(self) -> Mapping[str, int]:
        """Connection attempts to services so far, ``address:port`` to count.

        Everything that was sent before the call is in it.
        """
        if self._source is not None and not self._finished:
            done: Future[None] = Future()
            self._loop.call_soon_threadsafe(self._catch_up, done)
            done.result()
        return dict(self._syns)

    def finish(self, names: Mapping[str, int]) -> Network:
        """Read the rest and give the record; ``names`` are the undeclared names asked for."""
        if self._source is None:
            return Network(names=names)
        done: Future[None] = Future()
        self._loop.call_soon_threadsafe(self._stop, done)
        done.result()
        return Network(
            names=names,
            packets=self._outside,
            destinations=dict(self._destinations.most_common(_LISTED)),
            syns=dict(self._syns),
            dropped=self._dropped,
        )

    def _catch_up(self, done: Future[None]) -> None:
        while self._read():
            pass
        done.set_result(None)

    def _stop(self, done: Future[None]) -> None:
        assert self._source is not None  # noqa: S101 - only called where there is one
        self._loop.remove_reader(self._source.fileno())
        self._finished = True
        while self._read():
            pass
        with suppress(OSError):
            raw = self._source.getsockopt(_SOL_PACKET, _PACKET_STATISTICS, 8)
            self._dropped += struct.unpack("II", raw)[1]
        done.set_result(None)

    def _read(self) -> bool:
        """Count a batch; whether there may be more."""
        assert self._source is not None  # noqa: S101 - only called where there is one
        for _ in range(_BATCH):
            try:
                packet = self._source.recv(128)
            except OSError:
                return False
            if packet:
                self._count(packet)
            else:
                self._dropped += 1
        return True

    def _count(self, packet: bytes) -> None:
        seen = destination(packet)
        if seen is None:
            return
        address, protocol, port, flags = seen
        if address.is_loopback:
            if protocol == _TCP and flags & (_SYN | _ACK) == _SYN:
                _count_in(self._syns, f"{address}:{port}")
            return
        if (protocol == _TCP and flags & _RST) or _is_unreachable(protocol, packet):
            return  # the kernel's own refusal
        self._outside += 1
        name = _NAMES.get(protocol, str(protocol))
        _count_in(self._destinations, f"{address}/{name}/{port}")


def _count_in(counts: Counter[str], what: str) -> None:
    """Count, without keeping more than so many different things."""
    counts[what if what in counts or len(counts) < _KEPT else _OTHERS] += 1


def _is_unreachable(protocol: int, packet: bytes) -> bool:
    """Whether it is the kernel's own ICMP answer that nobody is there."""
    if protocol == 1:
        return packet[(packet[0] & 15) * 4 :][:1] == b"\x03"
    return protocol == 58 and packet[40:41] == b"\x01"


Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def destination(packet: bytes) -> tuple[Address, int, int, int] | None:
    """Where an IP packet goes: ``(address, protocol, port, tcp flags)``; ``None``: no IP.

    The port is 0 where the protocol has none or the packet is cut.
    """
    if len(packet) >= 20 and packet[0] >> 4 == 4:
        size = (packet[0] & 15) * 4
        address: Address = ipaddress.IPv4Address(packet[16:20])
        protocol = packet[9]
    elif len(packet) >= 40 and packet[0] >> 4 == 6:
        size, protocol, address = 40, packet[6], ipaddress.IPv6Address(packet[24:40])
    else:
        return None
    inner = packet[size:]
    port = struct.unpack("!H", inner[2:4])[0] if protocol in (_TCP, _UDP) and len(inner) > 3 else 0
    flags = inner[13] if protocol == _TCP and len(inner) > 13 else 0
    return address, protocol, port, flags
