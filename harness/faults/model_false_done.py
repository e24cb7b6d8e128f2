"""``model.false-done``: the model claims to have finished."""

from __future__ import annotations

from dataclasses import replace

from harness.case.model import Params
from harness.faults.model_base import ModelFault
from harness.faults.schemas import params, text
from harness.services.reply import Turn


class FalseDone(ModelFault):
    """A claim of completion in place of the turn; the turn's calls are never made."""

    name = "model.false-done"
    summary = "Instead of working on, the model claims that the task is done."
    serves = True
    schema = params(
        text=text("the claim", default="Done. The task has been completed.", minLength=1)
    )

    def rewrite_turn(self, params: Params, turn: Turn) -> Turn:
        """Claim it."""
        return replace(turn, text=params["text"], calls=(), stop="end", raw=None)
