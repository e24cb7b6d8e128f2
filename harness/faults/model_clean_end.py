"""``model.clean-end``: the reply ends as if all were well, without its end."""

from __future__ import annotations

from dataclasses import replace

from harness.case.model import Params
from harness.faults.model_base import ModelFault, in_events, size_of
from harness.faults.schemas import params
from harness.services.model.protocols.base import TERMINATOR
from harness.services.reply import End, Part, Wire


class CleanEnd(ModelFault):
    """A well-formed HTTP reply and a FIN, but no stop reason and no terminator.

    A body in one piece lacks its last closing brace.
    """

    name = "model.clean-end"
    summary = "The reply ends cleanly (FIN), without anything that says that it is complete."
    schema = params()

    def rewrite_wire(self, params: Params, wire: Wire) -> Wire:
        """Leave the end out, and close."""
        if in_events(wire):
            kept = tuple(part for part in wire.parts if part.name != TERMINATOR)
        else:
            kept = (Part(b"".join(part.data for part in wire.parts)[:-1]),)
        if sum(len(part.data) for part in kept) == size_of(wire):
            return wire
        # A content length, so that the end is an end to HTTP too: closing a chunked reply
        # without its last chunk would be a truncation.
        return replace(wire, parts=kept, chunked=False, end=End.CLOSE)
