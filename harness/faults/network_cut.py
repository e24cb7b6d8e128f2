"""``network.cut``: every open connection is reset at once."""

from __future__ import annotations

from dataclasses import dataclass

from harness.case.model import Params
from harness.faults.base import Landing, Layer, Place
from harness.faults.schemas import params


@dataclass(frozen=True, slots=True)
class _Cut:
    connections: int

    def landing(self, place: Place) -> Landing:
        return Landing(self.connections, f"{self.connections} open connections were reset")

    def heal(self, place: Place) -> None:
        """A cut connection stays cut."""


class Cut:
    """Resets what is open; new connections are let in."""

    name = "network.cut"
    summary = "Every open connection to a service is reset (RST); new ones are let in."
    layer = Layer.NETWORK
    needs = ("network.services",)
    live = True
    schema = params()

    def inject(self, params: Params, place: Place) -> _Cut:
        """Cut them."""
        return _Cut(place.gate.cut())
