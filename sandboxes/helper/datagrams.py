"""The halves of sockets for datagrams, at either end of a relay."""

from __future__ import annotations

import contextlib
import select
import socket
import struct
from typing import Any

from sandboxes.helper.frames import MOST, Kind
from sandboxes.helper.relay import WINDOW, Relay

_COUNT = struct.Struct("!I")
_SENDERS = 256
_SOL_PACKET, _STATISTICS = 263, struct.Struct("=II")
_PACKET_STATISTICS = 6


class Datagrams:
    """A socket for datagrams in the sandbox: each sender gets a number."""

    def __init__(self, relay: Relay, channel: int, sock: socket.socket) -> None:
        self._relay = relay
        self._channel = channel
        self._sock = sock
        self._senders: dict[Any, int] = {}
        self._last = 0
        sock.setblocking(False)
        relay.halves[channel] = self
        relay.watch(sock.fileno(), select.EPOLLIN, self._ready)

    def frame(self, kind: Kind, data: bytes) -> None:
        """An answer to one of them."""
        if kind is Kind.DATAGRAM:
            number = _COUNT.unpack_from(data)[0]
            for sender, known in self._senders.items():
                if known == number:
                    with contextlib.suppress(OSError):
                        self._sock.sendto(data[_COUNT.size :], sender)

    def close(self) -> None:
        """Unbind it."""
        self._relay.forget(self._sock.fileno())
        self._sock.close()

    def drain(self) -> None:
        """Pass on what has come."""
        while self._take():
            pass

    def _ready(self, _: int) -> None:
        self._take()

    def _take(self) -> bool:
        try:
            data, sender = self._sock.recvfrom(MOST - _COUNT.size)
        except OSError:
            return False
        if sender not in self._senders:
            self._last += 1
            self._senders[sender] = self._last
            if len(self._senders) > _SENDERS:
                self._senders.pop(next(iter(self._senders)))
        if not self._relay.crowded:  # datagrams may be lost
            number = _COUNT.pack(self._senders[sender])
            self._relay.send(Kind.DATAGRAM, self._channel, number + data)
        return True


class Answered:
    """Its counterpart: sends to the socket that the harness serves, from one of its own each."""

    def __init__(self, relay: Relay, channel: int, address: tuple[str, int]) -> None:
        self._relay = relay
        self._channel = channel
        self._address = address
        self._by_number: dict[int, socket.socket] = {}
        relay.halves[channel] = self

    def frame(self, kind: Kind, data: bytes) -> None:
        """A datagram from inside."""
        if kind is not Kind.DATAGRAM:
            return
        number = _COUNT.unpack_from(data)[0]
        if number not in self._by_number:
            sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            sock.setblocking(False)
            sock.connect(self._address)
            self._by_number[number] = sock
            self._relay.watch(sock.fileno(), select.EPOLLIN, lambda _: self._answer(number))
            if len(self._by_number) > _SENDERS:
                self._end(next(iter(self._by_number)))
        with contextlib.suppress(OSError):
            self._by_number[number].send(data[_COUNT.size :])

    def drain(self) -> None:
        """Nothing: answers wait for their turn."""

    def close(self) -> None:
        """Close all of them."""
        for number in list(self._by_number):
            self._end(number)

    def _answer(self, number: int) -> None:
        with contextlib.suppress(OSError):
            data = self._by_number[number].recv(MOST - _COUNT.size)
            self._relay.send(Kind.DATAGRAM, self._channel, _COUNT.pack(number) + data)

    def _end(self, number: int) -> None:
        sock = self._by_number.pop(number)
        self._relay.forget(sock.fileno())
        sock.close()


class Packets:
    """A packet socket in the sandbox: what it yields, in order.

    An empty one stands for packets that came faster than they could be passed on.
    """

    def __init__(self, relay: Relay, channel: int, sock: socket.socket) -> None:
        self._relay = relay
        self._channel = channel
        self._sock = sock
        self._credit = WINDOW
        relay.halves[channel] = self
        self._watch()

    def frame(self, kind: Kind, data: bytes) -> None:
        """There is room for more."""
        if kind is Kind.CREDIT:
            self._credit += _COUNT.unpack(data)[0]
            self._watch()

    def drain(self) -> None:
        """Pass on what has come, as far as there is room."""
        while self._credit > 0:
            try:
                data = self._sock.recv(MOST)
            except OSError:
                break
            self._pass_on(data)
        lost = _STATISTICS.unpack(
            self._sock.getsockopt(_SOL_PACKET, _PACKET_STATISTICS, _STATISTICS.size)
        )[1]
        if lost:
            self._pass_on(b"")
        self._watch()

    def close(self) -> None:
        """Let go of it."""
        self._relay.forget(self._sock.fileno())
        self._sock.close()

    def _pass_on(self, data: bytes) -> None:
        self._credit -= len(data)
        self._relay.send(Kind.DATAGRAM, self._channel, data)

    def _watch(self) -> None:
        wanted = select.EPOLLIN if self._credit > 0 else 0
        self._relay.watch(self._sock.fileno(), wanted, lambda _: self.drain())


class Counted:
    """Its counterpart: the harness reads them from a socket of its own."""

    def __init__(self, relay: Relay, channel: int, sock: socket.socket) -> None:
        self._relay = relay
        self._channel = channel
        self._sock = sock
        self._waiting: list[bytes] = []
        sock.setblocking(False)
        relay.halves[channel] = self

    def frame(self, kind: Kind, data: bytes) -> None:
        """A packet."""
        if kind is Kind.DATAGRAM:
            self._waiting.append(data)
            self._write(0)

    def drain(self) -> None:
        """Nothing: packets come from the other end alone."""

    def close(self) -> None:
        """Let go of it."""
        self._relay.forget(self._sock.fileno())
        self._sock.close()

    def _write(self, _: int) -> None:
        with contextlib.suppress(BlockingIOError):
            while self._waiting:
                self._send(self._waiting[0])
                self._relay.send(Kind.CREDIT, self._channel, _COUNT.pack(len(self._waiting.pop(0))))
        self._relay.watch(self._sock.fileno(), select.EPOLLOUT if self._waiting else 0, self._write)

    def _send(self, data: bytes) -> None:
        try:
            self._sock.send(data)
        except BlockingIOError:
            raise
        except OSError:
            self._waiting[1:] = []  # nobody counts any more
