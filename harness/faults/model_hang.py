"""``model.hang``: the model takes the request and never answers."""

from __future__ import annotations

from dataclasses import replace

from harness.case.model import Params
from harness.faults.model_base import ModelFault
from harness.faults.schemas import params
from harness.services.reply import End, Wire


class Hang(ModelFault):
    """Not one byte comes, and the connection stays open until the client leaves."""

    name = "model.hang"
    summary = "The model takes the request and sends nothing, ever."
    schema = params()

    def rewrite_wire(self, params: Params, wire: Wire) -> Wire:
        """Send nothing and keep it open."""
        return replace(wire, head=False, parts=(), end=End.HANG)
