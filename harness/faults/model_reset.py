"""``model.reset``: the connection is reset before the reply."""

from __future__ import annotations

from dataclasses import replace

from harness.case.model import Params
from harness.faults.model_base import ModelFault, after_bytes
from harness.faults.schemas import params
from harness.services.reply import End, Wire


class Reset(ModelFault):
    """A TCP reset, before the status line or right after the headers."""

    name = "model.reset"
    summary = "The connection is reset (RST) before any of the reply, or right after its headers."
    schema = params(
        after={
            "enum": ["request", "headers"],
            "description": "what has been sent by then",
            "default": "request",
        }
    )

    def rewrite_wire(self, params: Params, wire: Wire) -> Wire:
        """Send nothing, or the headers alone, and reset."""
        if params["after"] == "headers":
            cut = after_bytes(wire, 0, End.RESET)
            return replace(cut, parts=(), end=End.RESET)
        return replace(wire, head=False, parts=(), end=End.RESET)
