"""``model.wrong-usage``: the reply lies about what it cost."""

from __future__ import annotations

from dataclasses import replace

from harness.case.model import Params
from harness.faults.model_base import ModelFault
from harness.faults.schemas import params
from harness.services.reply import Turn


class WrongUsage(ModelFault):
    """Reports these numbers. What the harness counts itself stays as it is."""

    name = "model.wrong-usage"
    summary = "The reply reports a token usage that is not so."
    serves = True
    schema = params(
        input={"type": "integer", "description": "tokens read, as reported", "default": 0},
        output={"type": "integer", "description": "tokens written, as reported", "default": 0},
    )

    def rewrite_turn(self, params: Params, turn: Turn) -> Turn:
        """Report them."""
        wrong = (params["input"], params["output"])
        return turn if turn.usage == wrong else replace(turn, usage=wrong)
