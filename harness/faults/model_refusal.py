"""``model.refusal``: the model declines."""

from __future__ import annotations

from dataclasses import replace

from harness.case.model import Params
from harness.faults.model_base import ModelFault
from harness.faults.schemas import params, text
from harness.services.reply import Turn


class Refusal(ModelFault):
    """A refusal as each protocol marks it, in place of the turn and its calls."""

    name = "model.refusal"
    summary = "The model refuses to go on, in the way in which the protocol marks a refusal."
    serves = True
    schema = params(text=text("what it says", default="I can't help with that.", minLength=1))

    def rewrite_turn(self, params: Params, turn: Turn) -> Turn:
        """Refuse."""
        return replace(turn, text=params["text"], calls=(), stop="refusal", raw=None)
