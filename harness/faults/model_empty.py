"""``model.empty``: the model says nothing."""

from __future__ import annotations

from dataclasses import replace

from harness.case.model import Params
from harness.faults.model_base import ModelFault
from harness.faults.schemas import params
from harness.services.reply import Turn


class Empty(ModelFault):
    """A complete reply that holds no text and no call."""

    name = "model.empty"
    summary = "The model's reply is complete and empty."
    serves = True
    schema = params()

    def rewrite_turn(self, params: Params, turn: Turn) -> Turn:
        """Take everything out."""
        usage = None if turn.usage is None else (turn.usage[0], 0)
        return replace(turn, text="", calls=(), stop="end", usage=usage, raw=None)
