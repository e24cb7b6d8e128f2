"""``model.invalid-unicode``: the text holds bytes that are no UTF-8."""

from __future__ import annotations

from dataclasses import replace

from harness.case.model import Params
from harness.faults.model_base import ModelFault
from harness.faults.schemas import params
from harness.services.reply import ToolCall, Turn

_STRAY = "\udcff\udcfe"  # the bytes FF FE, once encoded


class InvalidUnicode(ModelFault):
    """The bytes FF FE before the text, or, without text, in the first call's arguments."""

    name = "model.invalid-unicode"
    summary = "The text of the reply holds bytes that are not UTF-8."
    serves = True
    schema = params()

    def rewrite_turn(self, params: Params, turn: Turn) -> Turn:
        """Put them in."""
        if turn.raw is not None:
            return replace(turn, raw=_STRAY + turn.raw)
        if turn.text:
            return replace(turn, text=_STRAY + turn.text)
        for at, call in enumerate(turn.calls):
            if (spoilt := _spoilt(call)) is not call:
                return replace(turn, calls=(*turn.calls[:at], spoilt, *turn.calls[at + 1 :]))
        return turn


def _spoilt(call: ToolCall) -> ToolCall:
    """With the bytes at the start of the first text among its arguments, if there is one."""
    before, quote, after = call.arguments.partition(':"')
    return replace(call, arguments=before + quote + _STRAY + after) if quote else call
