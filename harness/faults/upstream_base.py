"""What the faults of an upstream share: the service they are for, and nothing said by a model."""

from __future__ import annotations

from collections.abc import Sequence

from harness.case.model import Params
from harness.extension import Schema
from harness.faults.base import Layer
from harness.faults.schemas import params, text
from harness.services.reply import Turn, Wire


class UpstreamFault:
    """A fault in the replies of the service that ``service`` names."""

    layer = Layer.UPSTREAM
    needs: Sequence[str] = ()
    serves = False

    def rewrite_turn(self, params: Params, turn: Turn) -> Turn:
        """An upstream says no turns."""
        return turn

    def rewrite_wire(self, params: Params, wire: Wire) -> Wire:
        """Change what is sent."""
        raise NotImplementedError


def with_service(**properties: Schema) -> Schema:
    """The schema of an upstream fault's ``with``."""
    return params(
        required=("service",),
        service=text("whose replies go wrong: a name under `services`"),
        **properties,
    )


def size_of(wire: Wire) -> int:
    """Bytes of the body."""
    return sum(len(part.data) for part in wire.parts)
