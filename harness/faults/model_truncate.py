"""``model.truncate``: the reply is cut off, and the connection breaks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from harness.case.model import Params
from harness.extension import Schema
from harness.faults.model_base import (
    ModelFault,
    after_bytes,
    after_events,
    halfway,
    in_events,
    size_of,
)
from harness.faults.schemas import params
from harness.services.model.protocols.base import TOOL
from harness.services.model.protocols.registry import spoken
from harness.services.reply import End, Part, Wire

_WHERE = ("after_events", "after_bytes", "in_tool_call")
_PARAMS = params(
    after_events={
        "type": "integer",
        "minimum": 0,
        "description": "events of a stream to send first; a body in one piece is cut halfway",
    },
    after_bytes={
        "type": "integer",
        "minimum": 0,
        "description": "bytes of the body to send first",
    },
    in_tool_call={
        "const": True,
        "description": "cut inside the arguments of the first tool call; misses a turn without",
    },
    end={
        "enum": ["reset", "close"],
        "description": "whether the connection is reset (RST) or closed (FIN)",
        "default": "reset",
    },
)

_SCHEMA: Schema = {
    **_PARAMS,
    "allOf": [
        {"not": {"required": [one, other]}}
        for at, one in enumerate(_WHERE)
        for other in _WHERE[at + 1 :]
    ],
}


class Truncate(ModelFault):
    """Cut by event, by byte, or inside a tool call; halfway if nothing is given.

    A reply that ends before the place of the cut is left alone.
    """

    name = "model.truncate"
    summary = "The reply is cut off by a reset or a close, at an event, a byte, or in a tool call."
    schema = _SCHEMA

    def rewrite_wire(self, params: Params, wire: Wire) -> Wire:
        """Send the first part and break the connection."""
        end = End(params["end"])
        if "after_bytes" in params:
            return after_bytes(wire, params["after_bytes"], end)
        if "in_tool_call" in params:
            return _in_tool_call(wire, end)
        if not in_events(wire):
            return after_bytes(wire, size_of(wire) // 2, end)
        return after_events(wire, params.get("after_events", halfway(wire)), end)


def _in_tool_call(wire: Wire, end: End) -> Wire:
    if not in_events(wire):
        body = b"".join(part.data for part in wire.parts)
        at = spoken(wire).arguments_at(body)
        return wire if at is None else after_bytes(wire, at + 1, end)
    before, pieces = _arguments(wire.parts)
    if not pieces:
        return wire
    if len(pieces) == 1:  # all arguments are in one event: cut the event
        return after_bytes(wire, _size(before) + len(pieces[0].data) // 2, end)
    return after_events(wire, len(before) + len(pieces) // 2, end)


def _arguments(parts: Sequence[Part]) -> tuple[Sequence[Part], Sequence[Part]]:
    """What comes before the arguments of the first call, and the events that carry them."""
    before = list(takewhile(lambda part: part.name != TOOL, parts))
    return before, list(takewhile(lambda part: part.name == TOOL, parts[len(before) :]))


def _size(parts: Sequence[Part]) -> int:
    return sum(len(part.data) for part in parts)
