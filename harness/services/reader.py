"""Reads the requests that come in on one connection, in whatever pieces they come.

What comes in one piece between two requests, and repeats the last one or its head, is recalled
and not parsed.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, Protocol

import httptools

from harness.services.base import Incoming
from harness.services.framing import USUAL, Manner
from harness.services.recall import Recall

MOST_BODY: Final = 64 << 20
MOST_HEAD: Final = 256 << 10

_KEPT_GARBAGE: Final = 64 << 10


@lru_cache(maxsize=256)
def _name(name: bytes) -> str:
    return name.decode("latin-1").lower()


class Unreadable(Exception):
    """What came is no request, or too much of one; ``status`` is what to answer."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


class Ears(Protocol):
    """Whoever wants the requests."""

    def heard(self, incoming: Incoming, manner: Manner) -> None:
        """A whole request has come."""

    def asked_first(self) -> None:
        """A client waits to be told to go on, before it sends the body."""

    def hold(self, size: int) -> bool:
        """So many more bytes of a body have to be held; ``False``: there is no room."""


class Reader:
    """The reading half of a connection, ``number`` in its trial."""

    def __init__(self, number: int, ears: Ears) -> None:
        self._number = number
        self._ears = ears
        self._parser = httptools.HttpRequestParser(self)
        self._partial = b""
        self._last: Incoming | None = None
        self._recall: Recall | None = None
        self._new_message()

    def feed(self, data: bytes) -> None:
        """Read what has come; requests that are whole by now are heard meanwhile.

        Raises:
            Unreadable: it is no HTTP, or too large; nothing may be fed any more.
        """
        if self._recall is not None and self._recalled(self._recall, data):
            return
        between = not self.within
        self._last = None
        self._heard = 0
        self._partial = self._partial + data if self._partial else data
        try:
            self._parse(data)
        except httptools.HttpParserCallbackError as error:
            raise error.__context__ or error from None
        except httptools.HttpParserError as error:
            raise Unreadable(400, f"this is no HTTP request: {error}") from error
        self._remember(data, between=between)
        if not self._in_head:
            self._partial = b""
        elif len(self._partial) > MOST_HEAD:
            raise Unreadable(431, f"the request's head is longer than {MOST_HEAD} bytes")

    def _remember(self, data: bytes, *, between: bool) -> None:
        """Keep what has come, if it was one request from its first byte to its last.

        So nothing is recalled within a request: its first piece has made an end of that.
        """
        self._recall = None
        if between and self._heard == 1 and self._last is not None and not self.within:
            self._recall = Recall.of(data, self._last)

    def _recalled(self, recall: Recall, data: bytes) -> bool:
        incoming = recall.again(data)
        if incoming is None:
            incoming = recall.alike(data)
            if incoming is None or not self._ears.hold(len(incoming.body)):
                return False
        self._ears.heard(incoming, USUAL)
        return True

    def _parse(self, data: bytes) -> None:
        while data:
            try:
                self._parser.feed_data(data)
            except httptools.HttpParserUpgrade as upgrade:
                # No other protocol is spoken here: it was an ordinary request, and HTTP goes on.
                self._parser = httptools.HttpRequestParser(self)
                self._heard += 1
                data = data[upgrade.args[0] :]
            else:
                return

    @property
    def within(self) -> bool:
        """Whether a request has begun and is not whole."""
        return self._in_head or self._in_body

    @property
    def within_body(self) -> bool:
        """Whether its head is whole, and its body is not."""
        return self._in_body

    def fragment(self) -> Incoming:
        """What has been read of what is not whole; without method and path if it has no head."""
        if self._in_body:
            return self._incoming(b"".join(self._body))
        return Incoming(self._number, "", "", {}, self._partial[:_KEPT_GARBAGE])

    def stop(self) -> None:
        """Forget everything; the parser knows this reader, and this reader the parser."""
        self._new_message()
        self._partial = b""
        self._last = self._recall = None
        del self._parser

    # -- called by the parser

    def _new_message(self) -> None:
        self._in_head = False
        self._in_body = False
        self._url = b""
        self._headers: dict[str, str] = {}
        self._body: list[bytes] = []
        self._size = 0
        self._trailing = 0

    def on_message_begin(self) -> None:
        self._new_message()
        self._in_head = True

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        key = _name(name)
        if self._in_body:  # a trailer: on record, and under a name that no service looks for
            key = f"trailer {key}"
            self._trailing += len(name) + len(value)
            if self._trailing > MOST_HEAD:
                raise Unreadable(431, f"the request's trailers are longer than {MOST_HEAD} bytes")
        text = value.decode("latin-1")
        if key in self._headers:
            text = f"{self._headers[key]}, {text}"
        self._headers[key] = text

    def on_headers_complete(self) -> None:
        self._in_head = False
        self._in_body = True
        length = self._headers.get("content-length", "")
        if length.isdecimal() and int(length) > MOST_BODY:
            self._too_large()
        if "expect" in self._headers and self._expects(self._headers["expect"]):
            self._ears.asked_first()

    def _expects(self, what: str) -> bool:
        return what.lower() == "100-continue" and self._parser.get_http_version() != "1.0"

    def on_body(self, body: bytes) -> None:
        self._size += len(body)
        self._body.append(body)
        if self._size > MOST_BODY:
            self._too_large()
        if not self._ears.hold(len(body)):
            raise Unreadable(413, "the bodies of all open requests are too large together")

    def _too_large(self) -> None:
        raise Unreadable(413, f"the request's body is longer than {MOST_BODY} bytes")

    def on_message_complete(self) -> None:
        parser = self._parser
        incoming = self._incoming(b"".join(self._body))
        self._in_body = False
        self._body = []
        bodiless = incoming.method == "HEAD"
        old = parser.get_http_version() == "1.0"
        keep = parser.should_keep_alive()
        manner = Manner(bodiless, old, keep) if bodiless or old or not keep else USUAL
        self._heard += 1
        self._last = incoming if manner is USUAL else None
        self._ears.heard(incoming, manner)

    def _incoming(self, body: bytes) -> Incoming:
        method = self._parser.get_method().decode("ascii")
        return Incoming(self._number, method, self._url.decode("latin-1"), self._headers, body)
