"""A reply as bytes: the head, the framing, the pauses; and whether it is a complete reply.

Pure functions of a :class:`~harness.services.reply.Wire` and of what the request allows.
What the wire says about itself wins: a ``content-length`` that lies is sent as it stands.
"""

from __future__ import annotations

import http
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from harness.services.reply import End, Part, Sealed, Wire

CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"

_LINES: Final = {
    status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n" for status in http.HTTPStatus
}
_BODILESS: Final = frozenset({204, 304})
_LAST_CHUNK: Final = b"0\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Manner:
    """What the request allows of its reply.

    Attributes:
        bodiless: it was a HEAD request.
        old: it came as HTTP/1.0, which knows no chunks.
        keep: the connection may stay open.
    """

    bodiless: bool = False
    old: bool = False
    keep: bool = True


#: What a request allows that asks for nothing special.
USUAL: Final = Manner()

#: A pause in seconds, and the bytes that are sent after it.
Segment = tuple[float, bytes]


def segments(wire: Wire | Sealed, manner: Manner) -> Sequence[Segment]:
    """The bytes to send, cut only where there is a pause.

    The pause before the first byte (``wire.delay``) is not among them.
    """
    if isinstance(wire, Sealed):
        return ((0.0, wire.data),) if manner is USUAL else segments(wire.open(), manner)
    head = _head(wire, manner) if wire.head else b""
    if manner.bodiless or wire.status in _BODILESS:
        return ((0.0, head),)
    chunked = wire.chunked and not manner.old
    last = _LAST_CHUNK if chunked and wire.end is End.KEEP and wire.head else b""
    cuts = [at for at, part in enumerate(wire.parts) if part.delay > 0]
    if not cuts:
        return ((0.0, b"".join([head, *_framed(wire.parts, chunked), last])),)
    runs = [wire.parts[start:end] for start, end in itertools.pairwise([*cuts, None])]
    cut = [(0.0, b"".join([head, *_framed(wire.parts[: cuts[0]], chunked)]))]
    cut += [(run[0].delay, b"".join(_framed(run, chunked))) for run in runs]
    cut[-1] = (cut[-1][0], cut[-1][1] + last)
    return cut


def _framed(parts: Sequence[Part], chunked: bool) -> list[bytes]:
    if chunked:  # an empty chunk would be the last one
        return [b"%x\r\n%b\r\n" % (len(part.data), part.data) for part in parts if part.data]
    return [part.data for part in parts]


def _head(wire: Wire, manner: Manner) -> bytes:
    head = _LINES.get(wire.status) or f"HTTP/1.1 {wire.status} \r\n"
    named = set()
    for name, value in wire.headers.items():
        head += f"{name}: {value}\r\n"
        named.add(name.lower())
    if wire.chunked:
        if not manner.old and "transfer-encoding" not in named:
            head += "transfer-encoding: chunked\r\n"
    elif "content-length" not in named and wire.status not in _BODILESS:
        head += f"content-length: {_length(wire)}\r\n"
    if not manner.keep and "connection" not in named:
        head += "connection: close\r\n"
    return (head + "\r\n").encode()


def _length(wire: Wire) -> int:
    return sum([len(part.data) for part in wire.parts])


def complete(wire: Wire | Sealed, manner: Manner) -> bool:
    """Whether a client that has all of the bytes has a whole reply.

    It has not where the connection is reset or hangs, where the head is left out, where the
    last chunk is missing, and where fewer or more bytes came than ``content-length`` says.
    """
    if isinstance(wire, Sealed):
        return True
    if not wire.head or wire.end in (End.RESET, End.HANG):
        return False
    if manner.bodiless or wire.status in _BODILESS:
        return True
    for name, value in wire.headers.items():
        if name.lower() == "content-length" and value.strip() != str(_length(wire)):
            return False
    return not wire.chunked or manner.old or wire.end is End.KEEP
