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

import httptools

from harness.services.base import Incoming
from harness.services.exchange import Desk, Exchange
from harness.services.framing import CONTINUE, Manner, segments
from harness.services.reply import End, Part, Wire
from harness.services.sender import Sender

MOST_BODY: Final = 64 << 20
MOST_HEAD: Final = 256 << 10

_MOST_AHEAD: Final = 64
_LINGER: Final = 1.0
_KEPT_GARBAGE: Final = 64 << 10
_USUAL: Final = Manner()


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

    def failed(self, bug: BaseException) -> None:
        """The harness has a bug."""

    def came(self, connection: Connection) -> bool:
        """It is open; ``False`` if the trial is over."""

    def left(self, connection: Connection) -> None:
        """It is gone."""


class Connection(asyncio.Protocol):
    """A client's connection: ``number`` in its trial, and the desk that takes its requests."""

    def __init__(self, number: int, desk: Desk, house: House) -> None:
        self.number = number
        self._desk = desk
        self._house = house
        self._parser = httptools.HttpRequestParser(self)
        self._ahead: deque[Message | Refusal] = deque()
        self._exchange: Exchange | None = None
        self._linger: asyncio.TimerHandle | None = None
        self._busy = False
        self._draining = False
        self._deaf = False
        self._partial = b""
        self._new_message()

    # -- asyncio.Protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is no subclass of it
        self._sender = Sender(self._transport, asyncio.get_running_loop(), self._sent)
        if not self._house.came(self):
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        if self._deaf:
            return
        self._partial = self._partial + data if self._partial else data
        try:
            self._feed(data)
        except httptools.HttpParserCallbackError as error:
            self._broken(error.__context__ or error)
        except httptools.HttpParserError as error:
            self._refuse(400, f"this is no HTTP request: {error}")
        except Exception as bug:  # noqa: BLE001 - told to the trial
            self._broken(bug)
        if self._in_head and len(self._partial) > MOST_HEAD:
            self._refuse(431, f"the request's head is longer than {MOST_HEAD} bytes")
        if not self._in_head:
            self._partial = b""

    def _feed(self, data: bytes) -> None:
        while data:
            try:
                self._parser.feed_data(data)
            except httptools.HttpParserUpgrade as upgrade:
                # No other protocol is spoken here: it was an ordinary request, and HTTP goes on.
                self._parser = httptools.HttpRequestParser(self)
                data = data[upgrade.args[0] :]
            else:
                return

    def eof_received(self) -> bool:
        self._lost()
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self._lost("reset" if isinstance(exc, ConnectionResetError) else "cut")
        self._sender.stop()
        if self._linger is not None:
            self._linger.cancel()
        del self._parser  # it knows this protocol, and this protocol it
        self._house.left(self)

    def pause_writing(self) -> None:
        self._sender.paused = True

    def resume_writing(self) -> None:
        self._sender.resume()

    # -- httptools: pieces of a request

    def _new_message(self) -> None:
        self._in_head = False
        self._in_body = False
        self._url = b""
        self._headers: dict[str, str] = {}
        self._body: list[bytes] = []
        self._size = 0

    def on_message_begin(self) -> None:
        self._new_message()
        self._in_head = True

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._in_body:
            return  # a trailer
        key = name.decode("latin-1").lower()
        text = value.decode("latin-1")
        known = self._headers.get(key)
        self._headers[key] = text if known is None else f"{known}, {text}"

    def on_headers_complete(self) -> None:
        self._in_head = False
        self._in_body = True
        headers = self._headers
        length = headers.get("content-length", "")
        if length.isdecimal() and int(length) > MOST_BODY:
            self._too_large()
        elif "expect" in headers and not self._busy and self._expects(headers["expect"]):
            self._transport.write(CONTINUE)

    def _expects(self, what: str) -> bool:
        return what.lower() == "100-continue" and self._parser.get_http_version() != "1.0"

    def on_body(self, body: bytes) -> None:
        if self._deaf:
            return
        self._size += len(body)
        self._body.append(body)
        if self._size > MOST_BODY:
            self._too_large()

    def on_message_complete(self) -> None:
        if self._deaf:
            return
        self._in_body = False
        parser = self._parser
        incoming = self._incoming(b"".join(self._body))
        self._body = []
        bodiless = incoming.method == "HEAD"
        old = parser.get_http_version() == "1.0"
        keep = parser.should_keep_alive()
        manner = Manner(bodiless, old, keep) if bodiless or old or not keep else _USUAL
        if self._busy:
            self._queue(Message(incoming, manner))
        else:
            self._serve(incoming, manner)

    def _incoming(self, body: bytes) -> Incoming:
        method = self._parser.get_method().decode("ascii")
        return Incoming(self.number, method, self._url.decode("latin-1"), self._headers, body)

    # -- the flow

    def _queue(self, message: Message | Refusal) -> None:
        self._ahead.append(message)
        if len(self._ahead) >= _MOST_AHEAD:
            self._transport.pause_reading()

    def _serve(self, incoming: Incoming, manner: Manner) -> None:
        self._busy = True
        exchange = self._desk.take(self, incoming, manner)
        if exchange.open:
            self._exchange = exchange

    def send(self, exchange: Exchange, delay: float) -> None:
        """Send the reply; ``delay`` seconds are to pass before its first byte."""
        self._exchange = exchange
        self._sender.send(exchange, delay)

    def _sent(self, *, keep: bool) -> None:
        """The reply has left."""
        self._exchange = None
        self._busy = False
        if not keep:
            self._ahead.clear()
            self._transport.close()
        elif self._ahead and not self._draining:
            self._drain()

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

    def _too_large(self) -> None:
        self._refuse(413, f"the request's body is longer than {MOST_BODY} bytes")

    def _refuse(self, status: int, why: str) -> None:
        if not self._deaf:
            self._deaf = True
            refusal = Refusal(status, why, self._fragment())
            self._body = []
            if self._busy:
                self._queue(refusal)
            else:
                self._say_no(refusal)

    def _fragment(self) -> Incoming:
        """What has been read of a request that is not whole."""
        if self._in_body:
            return self._incoming(b"".join(self._body))
        return Incoming(self.number, "", "", {}, self._partial[:_KEPT_GARBAGE])

    def _say_no(self, refusal: Refusal) -> None:
        self._busy = True
        body = json.dumps({"error": refusal.why}).encode()
        wire = Wire(
            refusal.status, {"content-type": "application/json"}, (Part(body),), end=End.CLOSE
        )
        reply = segments(wire, Manner(keep=False))[0][1]
        self._transport.write(reply)
        self._house.untaken(self._desk.name, refusal, len(reply), "refused")
        if not self._transport.is_closing():
            # Closing now would reset what the client still sends, and it might miss the reply.
            self._transport.write_eof()
            loop = asyncio.get_running_loop()
            self._linger = loop.call_later(_LINGER, self._transport.abort)

    def _broken(self, bug: BaseException) -> None:
        """This is our fault; the client must not wait for ever."""
        self._house.failed(bug)
        self.reset()

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
        if not self._deaf and (self._in_head or self._in_body):
            self._house.untaken(self._desk.name, Refusal(0, "", self._fragment()), 0, how)
        self._deaf = True
