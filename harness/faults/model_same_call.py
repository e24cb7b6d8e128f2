"""``model.same-call``: the model makes the same call again and again."""

from __future__ import annotations

from dataclasses import replace

from harness.case.model import Params
from harness.faults.model_base import ModelFault
from harness.faults.schemas import params
from harness.services.reply import Turn


class SameCall(ModelFault):
    """The turn is said and not served, so that the next request gets it again.

    With ``times: N`` its calls are made N times more than the script says, each time under
    new ids; with ``times: always`` for ever. A turn without tool calls is left alone.
    """

    name = "model.same-call"
    summary = "The model repeats this turn's tool call instead of going on."
    schema = params()

    def rewrite_turn(self, params: Params, turn: Turn) -> Turn:
        """Say it as it is: that it is not served is what is wrong with it."""
        return replace(turn) if turn.calls else turn
