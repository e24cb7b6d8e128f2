"""``model.stream-error``: a reply that began well reports an error."""

from __future__ import annotations

from dataclasses import replace

from harness.case.model import Params
from harness.faults.model_base import ModelFault, error_reply, halfway, in_events
from harness.faults.schemas import params, text
from harness.services.model.protocols.base import TERMINATOR, Trouble
from harness.services.model.protocols.registry import spoken
from harness.services.reply import Wire


class StreamError(ModelFault):
    """An error event inside a stream that has status 200; nothing comes after it.

    A reply in one piece becomes an error body under status 200.
    """

    name = "model.stream-error"
    summary = "After HTTP 200 and part of the reply comes an error event, and the stream ends."
    schema = params(
        after_events={
            "type": "integer",
            "minimum": 0,
            "description": "events to send first; half of them if not given",
        },
        status={
            "type": "integer",
            "minimum": 400,
            "maximum": 599,
            "description": "the status whose error it is",
            "default": 529,
        },
        message=text("message of the error, instead of the status's usual words"),
    )

    def rewrite_wire(self, params: Params, wire: Wire) -> Wire:
        """Break off with an error event."""
        trouble = Trouble(params["status"], params.get("message"))
        if not in_events(wire):
            return replace(error_reply(wire, trouble), status=wire.status)
        content = [part for part in wire.parts if part.name != TERMINATOR]
        first = content[: params.get("after_events", halfway(wire))]
        return replace(wire, parts=(*first, *spoken(wire).stream_error(trouble, len(first))))
