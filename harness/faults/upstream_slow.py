"""``upstream.slow``: a service takes its time."""

from __future__ import annotations

from dataclasses import replace

from harness.case.grammar import duration as seconds
from harness.case.model import Params
from harness.faults.schemas import duration
from harness.faults.upstream_base import UpstreamFault, with_service
from harness.services.reply import Part, Wire


class Slow(UpstreamFault):
    """The whole reply, late, and if asked for in ever so small pieces."""

    name = "upstream.slow"
    summary = "The reply of a service comes late, or drips."
    serves = True
    schema = with_service(
        delay=duration("how long the first byte takes", default="5s"),
        every=duration("pause before each further piece of the body, instead of none"),
        bytes={
            "type": "integer",
            "minimum": 1,
            "description": "size of a piece, where the body drips",
            "default": 1,
        },
    )

    def rewrite_wire(self, params: Params, wire: Wire) -> Wire:
        """Wait, then send all of it, at once or dripping."""
        late = replace(wire, delay=wire.delay + seconds(params["delay"]))
        if "every" not in params:
            return late
        pause, size = seconds(params["every"]), params["bytes"]
        parts = [
            Part(part.data[at : at + size], part.name, pause + (part.delay if at == 0 else 0.0))
            for part in wire.parts
            for at in range(0, len(part.data), size)
        ]
        return replace(late, parts=tuple(parts))
