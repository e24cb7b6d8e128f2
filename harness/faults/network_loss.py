"""``network.loss``: packets to a service are lost on the way, and have to be sent again."""

from __future__ import annotations

from dataclasses import dataclass

from harness.case.model import Params
from harness.faults.base import Landing, Layer, Place
from harness.faults.schemas import params, text


@dataclass(frozen=True, slots=True)
class _Lossy:
    service: str
    before: int

    def landing(self, place: Place) -> Landing:
        count = place.gate.lost(self.service) - self.before
        return Landing(count, f"the kernel counts {count} packets to {self.service} thrown away")

    def heal(self, place: Place) -> None:
        place.gate.lose(self.service, 0)


class Loss:
    """Has the kernel throw away packets on the service's sockets, outside the sandbox."""

    name = "network.loss"
    summary = (
        "Some of the packets to a service are lost, and TCP has to send them again; "
        "it lands when a packet of the subject was lost."
    )
    layer = Layer.NETWORK
    needs = ("network.services",)
    live = False
    besides = ("dns",)
    schema = params(
        service=text("the service, or dns for the name server", default="model"),
        percent={
            "type": "integer",
            "description": "how many of a hundred packets, each by chance; 100 loses them all",
            "minimum": 1,
            "maximum": 100,
            "default": 30,
        },
    )

    def inject(self, params: Params, place: Place) -> _Lossy:
        """Lose them from now on."""
        service = params["service"]
        before = place.gate.lost(service)
        place.gate.lose(service, params["percent"])
        return _Lossy(service, before)
