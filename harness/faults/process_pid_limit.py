"""``process.pid-limit``: no more processes can be started."""

from __future__ import annotations

from dataclasses import dataclass

from harness.case.model import Params
from harness.faults.base import Landing, Layer, Place
from harness.faults.schemas import params


@dataclass(frozen=True, slots=True)
class _Full:
    refused_before: int

    def landing(self, place: Place) -> Landing:
        refused = (place.sandbox.usage().pids_refused or 0) - self.refused_before
        return Landing(max(refused, 0), f"the kernel counts {refused} refused forks")

    def heal(self, place: Place) -> None:
        place.sandbox.reset_limit("pids")


class PidLimit:
    """A low limit on processes and threads; a fork beyond it fails with EAGAIN."""

    name = "process.pid-limit"
    summary = "The number of processes and threads is limited; a fork beyond it fails."
    layer = Layer.PROCESS
    needs = ("limits.pids", "limits.memory")
    live = True
    schema = params(
        pids={
            "type": "integer",
            "minimum": 1,
            "default": 1,
            "description": "how many processes and threads there may be in all",
        }
    )

    def inject(self, params: Params, place: Place) -> _Full:
        """Lower it."""
        before = place.sandbox.usage().pids_refused or 0
        place.sandbox.limit(pids=params["pids"])
        return _Full(before)
