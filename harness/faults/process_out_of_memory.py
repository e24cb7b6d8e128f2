"""``process.out-of-memory``: the memory limit drops, and the kernel kills what is above it."""

from __future__ import annotations

from dataclasses import dataclass

from harness.case.model import Params
from harness.faults.base import Landing, Layer, Place
from harness.faults.schemas import bytes_of, params, size


@dataclass(frozen=True, slots=True)
class _Squeezed:
    kills_before: int

    def landing(self, place: Place) -> Landing:
        kills = (place.sandbox.usage().oom_kills or 0) - self.kills_before
        return Landing(max(kills, 0), f"the kernel counts {kills} out-of-memory kills")

    def heal(self, place: Place) -> None:
        place.sandbox.reset_limit("memory")


class OutOfMemory:
    """A lower memory limit for the subject and all that it starts."""

    name = "process.out-of-memory"
    summary = "The memory limit is lowered; the kernel kills a process that needs more."
    layer = Layer.PROCESS
    needs = ("limits.memory", "oom")
    live = True
    schema = params(
        memory=size("the new limit, home and workspace included", default="32MiB"),
    )

    def inject(self, params: Params, place: Place) -> _Squeezed:
        """Lower it."""
        before = place.sandbox.usage().oom_kills or 0
        place.sandbox.limit(memory=bytes_of(params["memory"]))
        return _Squeezed(before)
