"""``model.stall``: the reply stops in the middle and the connection stays open."""

from __future__ import annotations

from harness.case.model import Params
from harness.faults.model_base import (
    ModelFault,
    after_bytes,
    after_events,
    halfway,
    in_events,
    size_of,
)
from harness.faults.schemas import params
from harness.services.reply import End, Wire


class Stall(ModelFault):
    """Part of the reply comes, then nothing more. A body in one piece stops halfway."""

    name = "model.stall"
    summary = "The reply stops in the middle; the connection stays open."
    schema = params(
        after_events={
            "type": "integer",
            "minimum": 0,
            "description": "events of a stream to send first; half of them if not given",
        }
    )

    def rewrite_wire(self, params: Params, wire: Wire) -> Wire:
        """Send a part and keep the connection open."""
        if not in_events(wire):
            return after_bytes(wire, size_of(wire) // 2, End.HANG)
        return after_events(wire, params.get("after_events", halfway(wire)), End.HANG)
