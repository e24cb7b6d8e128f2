"""``model.slow-first-byte``: the reply is whole, and late."""

from __future__ import annotations

from dataclasses import replace

from harness.case.grammar import duration as seconds
from harness.case.model import Params
from harness.faults.model_base import ModelFault
from harness.faults.schemas import duration, params
from harness.services.reply import Wire


class SlowFirstByte(ModelFault):
    """A client that waits gets all of it."""

    name = "model.slow-first-byte"
    summary = "The first byte of the reply comes late."
    serves = True
    schema = params(delay=duration("how long it takes", default="5s"))

    def rewrite_wire(self, params: Params, wire: Wire) -> Wire:
        """Wait, then send all of it."""
        return replace(wire, delay=wire.delay + seconds(params["delay"]))
