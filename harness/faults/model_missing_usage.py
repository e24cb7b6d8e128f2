"""``model.missing-usage``: the reply does not say what it cost."""

from __future__ import annotations

from dataclasses import replace

from harness.case.model import Params
from harness.faults.model_base import ModelFault
from harness.faults.schemas import params
from harness.services.reply import Turn


class MissingUsage(ModelFault):
    """No usage anywhere in it; it misses a stream whose client has asked for none."""

    name = "model.missing-usage"
    summary = "The reply reports no token usage."
    serves = True
    schema = params()

    def rewrite_turn(self, params: Params, turn: Turn) -> Turn:
        """Leave it out."""
        return turn if turn.usage is None else replace(turn, usage=None)
