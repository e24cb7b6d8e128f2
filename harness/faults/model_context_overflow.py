"""``model.context-overflow``: the history is longer than the model takes."""

from __future__ import annotations

from harness.case.model import Params
from harness.faults.model_base import ModelFault, error_reply
from harness.faults.schemas import params
from harness.services.model.protocols.registry import spoken
from harness.services.reply import Wire


class ContextOverflow(ModelFault):
    """A 400 by which each protocol says that the prompt is too long."""

    name = "model.context-overflow"
    summary = "The model refuses the request because its history is too long for the context."
    schema = params()

    def rewrite_wire(self, params: Params, wire: Wire) -> Wire:
        """Put that error in its place."""
        return error_reply(wire, spoken(wire).overflow())
