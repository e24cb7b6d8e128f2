"""``model.unknown-tool``: the model calls a tool that nobody offers."""

from __future__ import annotations

from dataclasses import replace

from harness.case.model import Params
from harness.faults.model_base import ModelFault
from harness.faults.schemas import params, text
from harness.services.reply import Turn


class UnknownTool(ModelFault):
    """Every call of the turn goes to that name. A turn without tool calls is left alone."""

    name = "model.unknown-tool"
    summary = "The model calls a tool that does not exist."
    serves = True
    schema = params(name=text("the name to call", default="no_such_tool", minLength=1))

    def rewrite_turn(self, params: Params, turn: Turn) -> Turn:
        """Rename them."""
        if not turn.calls:
            return turn
        calls = (replace(c, name=params["name"], namespace="", freeform=False) for c in turn.calls)
        return replace(turn, calls=tuple(calls))
