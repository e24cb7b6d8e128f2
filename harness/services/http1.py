"""One connection of HTTP/1.1: requests are read, each reply is sent as its wire says.

Requests on one connection are taken one at a time; what a client sends ahead waits. What is
no HTTP, or too much of it, is refused with a status, recorded, and never reaches the service.
A client that stops sending before it has its reply has gone: the reply ends there.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from dataclasses import dataclass
from typing import Final, Protocol, cast

from harness.services.base import Hit, Incoming
from harness.services.exchange import Desk, Exchange
from harness.services.framing import CONTINUE, Manner, segments
from harness.services.reader import Reader, Unreadable
from harness.services.reply import End, Part, Wire
from harness.services.sender import Sender

_MOST_AHEAD: Final = 64
_LINGER: Final = 1.0


@dataclass(frozen=True, slots=True)
class Message:
    """A request that has been read, and what its reply may look like."""

    incoming: Incoming
    manner: Manner


@dataclass(frozen=True, slots=True)
class Refusal:
    """What is said instead of an answer to something that is no request."""

    status: int
    why: str
    incoming: Incoming


class House(Protocol):
    """What a connection tells the trial it belongs to."""

    def untaken(self, service: str, refusal: Refusal, sent: int, how: str) -> None:
        """A request never reached its service: record it."""

    def shut_out(self, service: str, heard: Incoming, hit: Hit | None, how: str, said: str) -> None:
        """A handshake came to nothing: record it."""

    def failed(self, bug: BaseException) -> None:
        """The harness has a bug."""

    def came(self, connection: Connection) -> bool:
        """It is open; ``False`` if the trial is over."""

    def left(self, connection: Connection) -> None:
        """It is gone."""

    def hold(self, size: int) -> bool:
        """So many more bytes of bodies are held (fewer, if negative); ``False``: too many."""

    def crowded(self, connection: Connection) -> bool:
        """Whether it is to read no more until it is told to go on."""


class Connection(asyncio.Protocol):
    """A client's connection: ``number`` in its trial, and the desk that takes its requests."""

    def __init__(self, number: int, desk: Desk, house: House, met: Hit | None = None) -> None:
        """``met``: a fault that the client has met in the handshake before it."""
        self.number = number
        self._desk = desk
        self._house = house
        self._reader = Reader(number, self)
        self._ahead: deque[Message | Refusal] = deque()
        self._exchange: Exchange | None = None
        self._linger: asyncio.TimerHandle | None = None
        self._busy = False
        self._draining = False
        self._deaf = False
        self._held = 0
        self._met = met

    # -- asyncio.Protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is no subclass of it
        self._sender = Sender(self._transport, asyncio.get_running_loop(), self._sent)
        if not self._house.came(self):
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        if self._deaf:
            return
        try:
            self._reader.feed(data)
        except Unreadable as error:
            self._refuse(error)
        except Exception as bug:  # noqa: BLE001 - ours: told, and the client must not wait for ever
            self._house.failed(bug)
            self.reset()
        if self._held and self._house.crowded(self):
            self._transport.pause_reading()

    def go_on(self) -> None:
        """There is room again: read on."""
        self._transport.resume_reading()

    def eof_received(self) -> bool:
        self._lost()
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self._lost("reset" if isinstance(exc, ConnectionResetError) else "cut")
        self._sender.stop()
        self._reader.stop()
        if self._linger is not None:
            self._linger.cancel()
        if self._met is not None:
            said = "made the handshake and left"
            heard = Incoming(self.number, "", "", {}, b"")
            self._house.shut_out(self._desk.name, heard, self._met, "cut", said)
        self._house.left(self)

    def pause_writing(self) -> None:
        self._sender.paused = True

    def resume_writing(self) -> None:
        self._sender.resume()

    # -- the reader's ears

    def heard(self, incoming: Incoming, manner: Manner) -> None:
        """A whole request has come: serve it, now or after those before it."""
        if self._deaf:
            return
        if self._busy:
            self._queue(Message(incoming, manner))
        else:
            self._serve(incoming, manner)

    def asked_first(self) -> None:
        """A client wants to be told to send its body."""
        if not self._busy and not self._deaf:
            self._transport.write(CONTINUE)

    def hold(self, size: int) -> bool:
        """Hold some more of a body."""
        self._held += size
        return self._house.hold(size)

    def _let_go(self) -> None:
        self._house.hold(-self._held)
        self._held = 0

    # -- the flow

    def _queue(self, message: Message | Refusal) -> None:
        self._ahead.append(message)
        if len(self._ahead) >= _MOST_AHEAD:
            self._transport.pause_reading()

    def _serve(self, incoming: Incoming, manner: Manner) -> None:
        self._busy = True
        met, self._met = self._met, None
        exchange = self._desk.take(self, incoming, manner, met)
        if exchange.open:
            self._exchange = exchange

    def send(self, exchange: Exchange, delay: float) -> None:
        """Send the reply; ``delay`` seconds are to pass before its first byte."""
        self._exchange = exchange
        self._sender.send(exchange, delay)

    def _sent(self, *, keep: bool) -> None:
        """The reply has left."""
        self._exchange = None
        if not keep:
            self._transport.close()
            return
        self._busy = False
        if self._ahead and not self._draining:
            self._drain()
        elif self._held and not self._reader.within_body and not self._ahead:
            self._let_go()

    def _drain(self) -> None:
        """Take what was sent ahead, up to the first one that is not answered at once."""
        self._draining = True
        while self._ahead and not self._busy:
            ahead = self._ahead.popleft()
            if isinstance(ahead, Refusal):
                self._say_no(ahead)
            else:
                self._serve(ahead.incoming, ahead.manner)
        self._draining = False
        if not self._ahead:
            self._transport.resume_reading()

    # -- ways out

    def _refuse(self, error: Unreadable) -> None:
        if self._deaf:
            return
        self._deaf = True
        refusal = Refusal(error.status, str(error), self._reader.fragment())
        if self._busy:
            self._queue(refusal)
        else:
            self._say_no(refusal)

    def _say_no(self, refusal: Refusal) -> None:
        self._busy = True
        body = json.dumps({"error": refusal.why}).encode()
        wire = Wire(
            refusal.status, {"content-type": "application/json"}, (Part(body),), end=End.CLOSE
        )
        reply = segments(wire, Manner(keep=False))[0][1]
        self._transport.write(reply)
        self._house.untaken(self._desk.name, refusal, len(reply), "refused")
        self._let_go()
        if not self._transport.is_closing():
            # Closing now would reset what the client still sends, and it might miss the reply.
            if self._transport.can_write_eof():
                self._transport.write_eof()
            loop = asyncio.get_running_loop()
            self._linger = loop.call_later(_LINGER, self._transport.abort)

    def reset(self, how: str = "cut") -> None:
        """Reset the connection; a request that was under way ends as ``how``."""
        self._lost(how)
        self._sender.reset()

    def _lost(self, how: str = "cut") -> None:
        """There will be no more: end what was open, record what had been read of a request."""
        exchange, self._exchange = self._exchange, None
        if exchange is not None:
            self._sender.stop()
            exchange.ends(how, self._sender.bytes_sent())
        for ahead in self._ahead:
            untaken = ahead if isinstance(ahead, Refusal) else Refusal(0, "", ahead.incoming)
            self._house.untaken(self._desk.name, untaken, 0, how)
        self._ahead.clear()
        if not self._deaf and self._reader.within:
            fragment = Refusal(0, "", self._reader.fragment())
            self._house.untaken(self._desk.name, fragment, 0, how)
        self._deaf = True
        self._let_go()
