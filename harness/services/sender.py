"""Sends a reply byte by byte as its wire says, at the pace of its pauses and of its client."""

from __future__ import annotations

import array
import asyncio
import fcntl
import socket
import struct
import termios
from collections.abc import Sequence
from typing import Final, Protocol

from harness.services.exchange import Exchange
from harness.services.framing import Segment, complete, segments
from harness.services.reply import End

_LINGER_OFF: Final = struct.pack("ii", 1, 0)
_SLICE: Final = 256 << 10
_DRAIN_POLL: Final = 0.002
_DRAIN_POLLS: Final = 500


class Sent(Protocol):
    """Told when a reply has left and the next one may be sent, or (``keep`` false) none may."""

    def __call__(self, *, keep: bool) -> None: ...


class Sender:
    """The sending half of a connection.

    Attributes:
        paused: the client does not read as fast as is sent.
    """

    def __init__(
        self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop, sent: Sent
    ) -> None:
        self._transport = transport
        self._loop = loop
        self._done = sent
        self.paused = False
        self._exchange: Exchange | None = None
        self._segments: Sequence[Segment] = ()
        self._at = 0
        self._rest = memoryview(b"")
        self._written = 0
        self._taken = 0
        self._timer: asyncio.TimerHandle | None = None
        # With no buffer allowed, "not paused" means that the kernel has taken every byte.
        transport.set_write_buffer_limits(high=0)

    def send(self, exchange: Exchange, delay: float) -> None:
        """Send the reply of an exchange, after a pause."""
        self._exchange = exchange
        if delay > 0:
            self._timer = self._loop.call_later(delay, self._begin)
        else:
            self._begin()

    def _begin(self) -> None:
        exchange = self._exchange
        if exchange is None or exchange.answer is None:
            return
        self._timer = None
        exchange.begins()
        self._segments = segments(exchange.answer.wire, exchange.manner)
        self._at = 0
        self._written = self._taken = 0
        self._go_on()

    def _go_on(self) -> None:
        """Send segments up to the next pause, the client's or ours."""
        while self._at < len(self._segments):
            if self._at:
                pause = self._segments[self._at][0]
                self._timer = self._loop.call_later(pause, self._write)
                return
            self._write_one()
            if self.paused or self._transport.is_closing():
                return
        self._finish()

    def _write(self) -> None:
        self._timer = None
        self._write_one()
        if not self.paused and not self._transport.is_closing():
            self._go_on()

    def _write_one(self) -> None:
        data = self._segments[self._at][1]
        self._at += 1
        if len(data) <= _SLICE:
            self._put(data)
            return
        self._rest = memoryview(data)
        self._write_rest()

    def _write_rest(self) -> None:
        """Send what is long slice by slice: so it is known how much a client has taken."""
        while self._rest and not self.paused and not self._transport.is_closing():
            piece, self._rest = self._rest[:_SLICE], self._rest[_SLICE:]
            self._put(piece)

    def _put(self, data: bytes | memoryview) -> None:
        self._transport.write(data)
        self._written += len(data)
        if self.paused:
            self._taken = self._written - self._transport.get_write_buffer_size()
        elif not self._transport.is_closing():
            self._taken = self._written

    def resume(self) -> None:
        """The client has taken what was buffered."""
        self.paused = False
        self._taken = self._written
        if self._exchange is None or self._timer is not None or self._transport.is_closing():
            return
        self._write_rest()
        if not self.paused:
            self._go_on()

    def _finish(self) -> None:
        exchange = self._exchange
        if exchange is None or exchange.answer is None:
            return
        wire = exchange.answer.wire
        match wire.end:
            case End.HANG:
                pass  # until the client goes, or the trial ends
            case End.RESET:
                self._reset_when_taken(_DRAIN_POLLS)
            case End.KEEP | End.CLOSE:
                self._exchange = None
                how = "whole" if complete(wire, exchange.manner) else "cut"
                exchange.ends(how, self._written)
                self._done(keep=wire.end is End.KEEP and exchange.manner.keep)

    def _reset_when_taken(self, polls: int) -> None:
        """Reset once the client's kernel has every byte; a reset throws away what it has not."""
        exchange = self._exchange
        if exchange is None:
            return
        if polls and _unacknowledged(self._transport):
            self._timer = self._loop.call_later(_DRAIN_POLL, self._reset_when_taken, polls - 1)
            return
        self._exchange = None
        self.reset()
        exchange.ends("reset", self._written)
        self._done(keep=False)

    def reset(self) -> None:
        """Close the connection with a reset."""
        reset(self._transport)

    def bytes_sent(self) -> int:
        """Bytes of this reply that the kernel has taken, up to the last slice or two."""
        return self._taken

    def stop(self) -> None:
        """Send no more."""
        self._exchange = None
        self._rest = memoryview(b"")
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def reset(transport: asyncio.Transport) -> None:
    """Close a connection at once, with a reset (RST) and not a FIN."""
    if not transport.is_closing():
        sock: socket.socket = transport.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_OFF)
    transport.abort()


def _unacknowledged(transport: asyncio.Transport) -> int:
    sock: socket.socket | None = transport.get_extra_info("socket")
    if sock is None or transport.is_closing():
        return 0
    waiting = array.array("i", [0])
    fcntl.ioctl(sock.fileno(), termios.TIOCOUTQ, waiting)
    return waiting[0]
