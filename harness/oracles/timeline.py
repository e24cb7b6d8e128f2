"""The time line of a trial: requests and what else happened, on one clock.

A request stands where it arrived. A fault in replies lands with the first request that
carries it; when a fault in the place hit for the first time is not on record. What happens at
the same moment keeps the order in which one leads to the other: the request that was a
trigger, then the fault that it triggered, then its landing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness.evidence.model import Evidence, Happening, Request

LANDED = "landed"


@dataclass(frozen=True, slots=True)
class Point:
    """Something on the time line.

    Attributes:
        t: seconds since the first step.
        what: ``request``, or as in :class:`~harness.evidence.model.Happening`, or ``landed``.
        name: of the service, the fault or the kind of step.
        number: of the step, or the ``seq`` of the request.
        request: itself, where it is one.
    """

    t: float
    what: str
    name: str
    number: int = 0
    request: Request | None = None

    def __str__(self) -> str:
        match self.what:
            case "request":
                what = f"request {self.number} ({self.name})"
            case "step":
                what = f"step {self.number} ({self.name})"
            case "started" | "ended":
                what = f"the subject {self.what}"
            case _:
                what = f"fault {self.name} {self.what}"
        return f"{what} at {self.t:.3f} s"


def timeline(evidence: Evidence) -> Sequence[Point]:
    """All that has a time, in order."""
    points = [Point(r.t, "request", r.service, r.seq, r) for r in evidence.requests]
    for happening in evidence.timeline:
        points.append(Point(happening.t, happening.what, happening.name, happening.number))
        points += _landing(happening, evidence.requests)
    return sorted(points, key=lambda point: point.t)


def _landing(armed: Happening, requests: Sequence[Request]) -> Iterator[Point]:
    """Where a fault that was armed hit for the first time."""
    hits = [r.t for r in requests if armed.name in (r.fault or "").split(",")]
    if armed.what == "armed" and hits:
        yield Point(max(armed.t, min(hits)), LANDED, armed.name)
