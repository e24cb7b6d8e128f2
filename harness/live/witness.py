"""What is taken down beside the evidence of a trial: its time line, and the host's clock."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.evidence.model import Happening
from harness.journal import Past
from sandboxes import clock


def timeline(past: Sequence[Past], origin: float) -> Iterator[Happening]:
    """What of the journal has a place on the time line of requests, which begins at ``origin``."""
    mains: set[object] = set()
    for at, event, fields in past:
        t = round(at - origin, 6)
        match event:
            case "armed" | "healed":
                yield Happening(t, event, fields["fault"])
            case "step":
                yield Happening(t, event, fields["kind"], fields["number"])
            case "started":
                mains.add(fields["process"])
                yield Happening(t, event)
            case "ended" if fields["process"] in mains:
                yield Happening(t, event)


class HostClock:
    """Notices when the host's wall clock is set, against one that never steps.

    Each look brackets the distance of the two clocks, so that a look which was interrupted
    widens the bracket and proves nothing. A clock that is slewed takes the other one along.
    """

    def __init__(self) -> None:
        self._least, self._most = float("inf"), float("-inf")
        self.look()

    def look(self) -> None:
        """Compare the clocks."""
        before = clock.running()
        wall = clock.wall()
        after = clock.running()
        self._least = min(self._least, wall - before)
        self._most = max(self._most, wall - after)

    @property
    def moved(self) -> float:
        """By how many seconds it was set at least, there or back."""
        return max(0.0, round(self._most - self._least, 6))
