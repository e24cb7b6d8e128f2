"""``model.duplicate-tool-id``: two tool calls have one id."""

from __future__ import annotations

from dataclasses import replace

from harness.case.model import Params
from harness.faults.model_base import ModelFault
from harness.faults.schemas import params
from harness.services.reply import Turn


class DuplicateToolId(ModelFault):
    """The first call is there twice, the same to the last byte.

    A turn without tool calls is left alone.
    """

    name = "model.duplicate-tool-id"
    summary = "The first tool call comes twice under the same id."
    serves = True
    schema = params()

    def rewrite_turn(self, params: Params, turn: Turn) -> Turn:
        """Repeat it."""
        if not turn.calls:
            return turn
        return replace(turn, calls=(turn.calls[0], *turn.calls))
