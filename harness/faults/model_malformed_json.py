"""``model.malformed-json``: what the model sends is no JSON."""

from __future__ import annotations

from dataclasses import replace

from harness.case.model import Params
from harness.faults.model_base import ModelFault, in_events
from harness.faults.schemas import params
from harness.services.reply import Part, Wire


class MalformedJson(ModelFault):
    """The closing brace of the body is a comma; in a stream, that of every event but the first.

    Nothing of the turn can be read, so it is not served: a client that asks again gets it.
    """

    name = "model.malformed-json"
    summary = "The body, or the data of every event after the first, is not JSON."
    schema = params()

    def rewrite_wire(self, params: Params, wire: Wire) -> Wire:
        """Spoil the last brace."""
        sound = 1 if in_events(wire) else 0
        parts = (*wire.parts[:sound], *map(_spoilt, wire.parts[sound:]))
        return wire if parts == tuple(wire.parts) else replace(wire, parts=parts)


def _spoilt(part: Part) -> Part:
    bare = part.data.rstrip()
    if not bare.endswith(b"}"):
        return part
    return replace(part, data=bare[:-1] + b"," + part.data[len(bare) :])
