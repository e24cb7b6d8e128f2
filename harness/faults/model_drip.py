"""``model.drip``: the reply comes in drops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from harness.case.grammar import duration as seconds
from harness.case.model import Params
from harness.faults.model_base import ModelFault, in_events
from harness.faults.schemas import duration, params
from harness.services.reply import Part, Wire

_DROPS = 10


class Drip(ModelFault):
    """A pause before each event but the first; a body in one piece comes in ten."""

    name = "model.drip"
    summary = "The reply comes whole, drop by drop."
    serves = True
    schema = params(pause=duration("time between two drops", default="500ms"))

    def rewrite_wire(self, params: Params, wire: Wire) -> Wire:
        """Pause between the parts."""
        drops = wire.parts if in_events(wire) else _drops(wire.parts)
        if len(drops) <= 1:
            return wire
        pause = seconds(params["pause"])
        slow = (replace(part, delay=part.delay + pause) for part in drops[1:])
        return replace(wire, parts=(drops[0], *slow))


def _drops(parts: Sequence[Part]) -> Sequence[Part]:
    body = b"".join(part.data for part in parts)
    size = max(-(-len(body) // _DROPS), 1)
    return [Part(body[at : at + size]) for at in range(0, len(body), size)]
