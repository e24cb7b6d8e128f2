"""A reply before it leaves: what is said (:class:`Turn`) and what is sent (:class:`Wire`).

The model's script gives a turn; a protocol renders it into a wire; faults rewrite either.
A wire is sent byte by byte as it is, so a fault can be exact to the byte: nothing adds a
length, a terminator or a chunk size behind its back.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call as it goes out.

    Attributes:
        id: fresh for each call.
        name: of the tool.
        arguments: the JSON text, right or wrong.
        namespace: of the tool, where the protocol has such.
        freeform: ``arguments`` is plain text, for a tool that takes no JSON.
    """

    id: str
    name: str
    arguments: str
    namespace: str = ""
    freeform: bool = False


@dataclass(frozen=True, slots=True)
class Turn:
    """What the model says in one turn.

    Attributes:
        text: ``None`` where it only calls tools.
        calls: in order.
        stop: ``end``, ``tools``, ``length``, ``refusal``, or a protocol's own word.
        usage: ``(input, output)`` tokens to report; ``None``: leave usage out.
        raw: a body to send instead of all this.
    """

    text: str | None
    calls: Sequence[ToolCall] = ()
    stop: str = "end"
    usage: tuple[int, int] | None = (0, 0)
    raw: str | None = None


class End(enum.Enum):
    """How a reply ends."""

    KEEP = "keep"  # whole; the connection stays open
    CLOSE = "close"  # close cleanly (FIN) after the last part
    RESET = "reset"  # reset (RST) after the last part
    HANG = "hang"  # keep it open and never send more


@dataclass(frozen=True, slots=True)
class Part:
    """Some bytes of the body, and how long to wait before they are sent.

    ``name`` tells faults what it is: ``event`` (a server-sent event), ``tool`` (one that
    carries tool arguments), ``terminator``, ``body`` (a body that is sent in one piece).
    """

    data: bytes
    name: str = "body"
    delay: float = 0.0


@dataclass(frozen=True, slots=True)
class Wire:
    """What is sent.

    Attributes:
        status: of the reply.
        headers: sent as they are, in order; framing headers are added by the sender from
            ``chunked`` and the parts, unless a header of that name is already here.
        parts: the body.
        chunked: chunked transfer encoding (streams), else a content length.
        end: how it ends.
        delay: seconds before the first byte.
        head: whether the status line and headers are sent at all.
        protocol: name of the model protocol that it speaks; empty elsewhere.
    """

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    parts: Sequence[Part] = ()
    chunked: bool = False
    end: End = End.KEEP
    delay: float = 0.0
    head: bool = True
    protocol: str = ""


class Sealed:
    """A whole reply that is ready to leave, and that no fault may touch any more.

    Attributes:
        status: of the reply.
        data: its head, its framing and its body, as an ordinary request is answered.
        open: gives the wire that it was made of, for all who want more than to send it.
    """

    __slots__ = ("data", "open", "status")

    end: ClassVar = End.KEEP
    delay: ClassVar = 0.0
    head: ClassVar = True

    def __init__(self, status: int, data: bytes, open_: Callable[[], Wire]) -> None:
        self.status = status
        self.data = data
        self.open = open_

    @property
    def parts(self) -> Sequence[Part]:
        """The parts of its wire."""
        return self.open().parts
