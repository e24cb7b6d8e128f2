"""The contract of a wire format, and what all of them share.

A protocol hears a request, and puts a turn into a wire exactly as the official clients want
it: events in order, stop reasons, usage, headers, error bodies. It decides nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Protocol

from harness.services.model.heard import Heard
from harness.services.reply import Part, Turn, Wire

EVENT_STREAM = "text/event-stream; charset=utf-8"
JSON_BODY = "application/json"

#: Names of parts, see :class:`Part`. Everything that tells that the reply is complete is a
#: terminator: clients differ in which of those events they take for the end.
EVENT, TOOL, TERMINATOR, BODY = "event", "tool", "terminator", "body"


@dataclass(frozen=True, slots=True)
class Stamp:
    """What differs from one reply to the next: ``id`` is the bare part of all its ids."""

    id: str
    created: int


@dataclass(frozen=True, slots=True)
class Trouble:
    """An error that the model reports.

    A code of ``None`` is the protocol's own for the status, a message of ``None`` the
    status's reason phrase; ``param`` names what is wrong, where the protocol can say it.
    """

    status: int = 500
    message: str | None = None
    code: str | None = None
    param: str | None = None

    @property
    def text(self) -> str:
        """The message."""
        if self.message is not None:
            return self.message
        try:
            return HTTPStatus(self.status).phrase
        except ValueError:
            return "Overloaded" if self.status == 529 else f"Status {self.status}"


class ModelProtocol(Protocol):
    """One wire format."""

    @property
    def name(self) -> str: ...

    @property
    def call_prefix(self) -> str:
        """What the id of a tool call starts with."""

    def hear(self, body: bytes) -> Heard:
        """Read a request.

        Raises:
            NotHeard: the body is no JSON object.
        """

    def prompt(self, body: bytes) -> str:
        """The instructions and the last thing the user said; for side requests alone.

        Raises:
            NotHeard: the body is no JSON object.
        """

    def render(self, heard: Heard, turn: Turn, stamp: Stamp) -> Wire:
        """Put a turn into bytes, streamed if the request asked for it."""

    def headers(self, stamp: Stamp) -> dict[str, str]:
        """Those of every reply, without the content type."""

    def error(self, trouble: Trouble, stamp: Stamp) -> bytes:
        """The body of an error reply."""

    def stream_error(self, trouble: Trouble, sequence: int) -> Sequence[Part]:
        """The events by which a stream that has begun reports an error.

        ``sequence`` is the number of events before it.
        """

    def overflow(self) -> Trouble:
        """What it answers when the history is longer than the model's context."""

    def arguments_at(self, body: bytes) -> int | None:
        """Where the arguments of the first tool call start in a body sent in one piece."""


def dumps(value: object) -> str:
    """Compact JSON, in plain Unicode."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def encode(text: str) -> bytes:
    r"""UTF-8; ``\udc80`` to ``\udcff`` stand for the bytes that are none.

    That is how a fault puts a stray byte into a text. Any other lone surrogate becomes ``?``.
    """
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")


def event(kind: str, data: Mapping[str, Any]) -> bytes:
    """A server-sent event with a name."""
    return encode(f"event: {kind}\ndata: {dumps(data)}\n\n")


def pieces(text: str, size: int = 12, most: int = 256) -> Iterator[str]:
    """``text`` in pieces, as a model would send it; a long text in at most ``most``."""
    step = max(size, -(-len(text) // most))
    for start in range(0, len(text), step):
        yield text[start : start + step]


def streamed(protocol: ModelProtocol, stamp: Stamp, parts: Sequence[Part]) -> Wire:
    """A reply in events."""
    headers = {"content-type": EVENT_STREAM, "cache-control": "no-cache"}
    headers |= protocol.headers(stamp)
    return Wire(200, headers, parts, chunked=True, protocol=protocol.name)


def whole(protocol: ModelProtocol, stamp: Stamp, body: bytes, status: int = 200) -> Wire:
    """A reply in one piece."""
    headers = {"content-type": JSON_BODY} | protocol.headers(stamp)
    return Wire(status, headers, (Part(body, BODY),), protocol=protocol.name)


def raw_reply(protocol: ModelProtocol, heard: Heard, raw: str, stamp: Stamp) -> Wire:
    """A body that the script gives as it is, under the content type that the client awaits."""
    body = encode(raw)
    if not heard.stream:
        return whole(protocol, stamp, body)
    return streamed(protocol, stamp, (Part(body, BODY),))


def failed(protocol: ModelProtocol, trouble: Trouble, stamp: Stamp) -> Wire:
    """An error reply."""
    return whole(protocol, stamp, protocol.error(trouble, stamp), trouble.status)


def stamp_of(wire: Wire) -> Stamp:
    """The stamp of a reply that has been rendered, for one that takes its place."""
    sent = wire.headers.get("request-id") or wire.headers.get("x-request-id") or ""
    return Stamp(sent.removeprefix("req_"), 0)
