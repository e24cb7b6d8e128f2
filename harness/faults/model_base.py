"""What the faults of the model share: a default for each rewrite, and ways to cut a reply."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from harness.case.model import Params
from harness.faults.base import Layer
from harness.services.model.protocols.base import BODY, TERMINATOR, Trouble, failed, stamp_of
from harness.services.model.protocols.registry import spoken
from harness.services.reply import End, Part, Turn, Wire

#: One line of text. The end is spelt so because ``$`` lets a last line feed pass.
ONE_LINE = r"^[^\r\n]*(?![\s\S])"


class ModelFault:
    """Changes nothing; an injector overrides the rewrite that it is about."""

    layer = Layer.MODEL
    needs: Sequence[str] = ()
    serves = False

    def rewrite_turn(self, params: Params, turn: Turn) -> Turn:
        """Leave what is said as it is."""
        return turn

    def rewrite_wire(self, params: Params, wire: Wire) -> Wire:
        """Leave what is sent as it is."""
        return wire


def in_events(wire: Wire) -> bool:
    """Whether the reply is a stream of events, and not one body."""
    return any(part.name != BODY for part in wire.parts)


def halfway(wire: Wire) -> int:
    """The number of events after which half of the reply's content has been sent."""
    content = sum(1 for part in wire.parts if part.name != TERMINATOR)
    return max(content // 2, 1)


def size_of(wire: Wire) -> int:
    """Bytes of the body."""
    return sum(len(part.data) for part in wire.parts)


def after_events(wire: Wire, count: int, end: End) -> Wire:
    """End a stream after so many events; the very same wire if there are no more than those."""
    if count >= len(wire.parts):
        return wire
    return replace(wire, parts=tuple(wire.parts[:count]), end=end)


def after_bytes(wire: Wire, count: int, end: End) -> Wire:
    """End the body after so many bytes; a content length goes on telling the whole.

    The very same wire if there are no more bytes than those.
    """
    size = size_of(wire)
    if count >= size:
        return wire
    headers = wire.headers if wire.chunked else {**wire.headers, "content-length": str(size)}
    return replace(wire, headers=headers, parts=tuple(_first(wire.parts, count)), end=end)


def _first(parts: Sequence[Part], count: int) -> Sequence[Part]:
    kept: list[Part] = []
    for part in parts:
        if count <= 0:
            break
        kept.append(replace(part, data=part.data[:count]))
        count -= len(part.data)
    return kept


def error_reply(wire: Wire, trouble: Trouble, headers: Mapping[str, str] | None = None) -> Wire:
    """An error in the words of the protocol that the reply was in."""
    answer = failed(spoken(wire), trouble, stamp_of(wire))
    return replace(answer, headers=merged(answer.headers, headers or {}), delay=wire.delay)


def merged(headers: Mapping[str, str], more: Mapping[str, object]) -> Mapping[str, str]:
    """``headers`` with ``more`` in place of those of the same name, whatever the case."""
    given = {name.lower() for name in more}
    kept = {name: value for name, value in headers.items() if name.lower() not in given}
    return {**kept, **{name: str(value) for name, value in more.items()}}
