"""``model.malformed-arguments``: the arguments of a tool call are no JSON."""

from __future__ import annotations

from dataclasses import replace

from harness.case.model import Params
from harness.faults.model_base import ModelFault
from harness.faults.schemas import params
from harness.services.reply import ToolCall, Turn


class MalformedArguments(ModelFault):
    """The JSON text of every call's arguments is cut in half; the reply itself is complete.

    Where a protocol carries arguments as a value (Anthropic, not streamed), the value is that
    text, not the object that it should be. A turn without tool calls is left alone.
    """

    name = "model.malformed-arguments"
    summary = "The JSON of the tool calls' arguments is broken off; the reply is complete."
    serves = True
    schema = params()

    def rewrite_turn(self, params: Params, turn: Turn) -> Turn:
        """Break them off."""
        if all(call.freeform for call in turn.calls):
            return turn
        return replace(turn, calls=tuple(map(_broken, turn.calls)))


def _broken(call: ToolCall) -> ToolCall:
    if call.freeform:
        return call
    return replace(call, arguments=call.arguments[: max(len(call.arguments) // 2, 1)])
