"""``network.refuse``: nobody listens where a service was."""

from __future__ import annotations

from dataclasses import dataclass

from harness.case.model import Params
from harness.faults.base import Landing, Layer, Place
from harness.faults.schemas import params, text


def _attempts(place: Place, service: str) -> int:
    seen = place.syns()
    return sum(seen.get(address, 0) for address in place.addresses.get(service, ()))


@dataclass(slots=True)
class _Refused:
    service: str
    before: int

    def landing(self, place: Place) -> Landing:
        count = _attempts(place, self.service) - self.before
        return Landing(count, f"{count} connection attempts met a closed port")

    def heal(self, place: Place) -> None:
        place.gate.admit(self.service)


class Refuse:
    """The service's listeners stop listening; the kernel refuses who connects."""

    name = "network.refuse"
    summary = "Nobody listens where the service was: connections are refused (ECONNREFUSED)."
    layer = Layer.NETWORK
    needs = ("network.services", "network.counter")
    live = False
    schema = params(service=text("the service", default="model"))

    def inject(self, params: Params, place: Place) -> _Refused:
        """Stop listening, and reset what is open."""
        service = params["service"]
        place.gate.refuse(service)
        before = _attempts(place, service)
        place.gate.cut()
        return _Refused(service, before)
