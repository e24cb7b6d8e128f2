"""``network.latency``: a service's replies come late."""

from __future__ import annotations

from dataclasses import dataclass

from harness.case import grammar
from harness.case.model import Params
from harness.faults.base import Landing, Layer, Place
from harness.faults.schemas import duration, params, text


@dataclass(frozen=True, slots=True)
class _Slow:
    service: str
    before: int

    def landing(self, place: Place) -> Landing:
        count = place.gate.delayed(self.service) - self.before
        return Landing(count, f"{count} replies were held back")

    def heal(self, place: Place) -> None:
        place.gate.delay(self.service, 0)


class Latency:
    """Holds back every reply of a service, outside the sandbox."""

    name = "network.latency"
    summary = "Every reply of a service is held back for a while."
    layer = Layer.NETWORK
    needs = ("network.services",)
    live = False
    schema = params(
        service=text("the service", default="model"),
        delay=duration("how long", default="500ms"),
    )

    def inject(self, params: Params, place: Place) -> _Slow:
        """Slow it down."""
        service = params["service"]
        before = place.gate.delayed(service)
        place.gate.delay(service, grammar.duration(params["delay"]))
        return _Slow(service, before)
