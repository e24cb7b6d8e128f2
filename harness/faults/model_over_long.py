"""``model.over-long``: the model does not stop talking."""

from __future__ import annotations

from dataclasses import replace

from harness.case.grammar import size as bytes_of
from harness.case.model import Params
from harness.faults.model_base import ModelFault
from harness.faults.schemas import params, size
from harness.services.model.heard import tokens
from harness.services.reply import Turn

_FILLER = "and so on, "


class OverLong(ModelFault):
    """The turn's text goes on up to a size; its calls come after it.

    A text that is as long already is left alone.
    """

    name = "model.over-long"
    summary = "The text of the reply is some megabytes long."
    serves = True
    schema = params(size=size("bytes of the text", default="8MiB", minimum=1))

    def rewrite_turn(self, params: Params, turn: Turn) -> Turn:
        """Fill it up."""
        wanted = params["size"]
        total = wanted if isinstance(wanted, int) else bytes_of(wanted)
        text = turn.text or ""
        missing = total - len(text.encode("utf-8", "replace"))
        if missing <= 0 or turn.raw is not None:
            return turn
        filler = (_FILLER * (missing // len(_FILLER) + 1))[:missing]
        usage = turn.usage and (turn.usage[0], max(turn.usage[1], tokens(total)))
        return replace(turn, text=text + filler, usage=usage)
