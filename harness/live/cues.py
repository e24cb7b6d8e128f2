"""When a trigger comes: by itself, or, in a replay, at the place where it came before.

The start and requests come at the same place again by themselves. Time, output and files do
not: in a replay they are held to the recorded place. The fault comes no earlier than after the
same requests, in the same step, as long after the last of these as it was; output and files are
waited for besides. It comes no later than before the next request is answered or the next step
begins.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.case.model import Trigger
from harness.schedule import EXACT, Moment, Schedule, Turn
from sandboxes import clock


class Cues:
    """Where the course of a trial is, and what of its schedule has come. Not for several threads.

    Attributes:
        came: every turn that came, and where.
    """

    def __init__(self, schedule: Schedule | None) -> None:
        """``schedule`` is that of the trial that is replayed; ``None``: none is."""
        self._schedule = schedule
        self._step = 0
        self._asked: dict[str, int] = {}
        self._anchor = clock.monotonic()
        self._seen: set[Turn] = set()
        self.came: dict[Turn, Moment] = {}

    def step(self, number: int) -> None:
        """A step begins."""
        self._step = number
        self._anchor = clock.monotonic()

    def request(self, service: str, number: int) -> None:
        """A request has come."""
        self._asked[service] = number
        self._anchor = clock.monotonic()

    def asked(self, service: str) -> int:
        """How many requests a service has got."""
        return self._asked.get(service, 0)

    def comes(self, turn: Turn, trigger: Trigger, *, by_itself: bool) -> bool:
        """Whether it comes now; ``by_itself``: its trigger says so.

        What has come is noted as such.
        """
        if by_itself:
            self._seen.add(turn)
        if not (by_itself if self._free(trigger) else self._at_place(turn, trigger)):
            return False
        self.came[turn] = self._here()
        return True

    def wait(self, turn: Turn, trigger: Trigger) -> float | None:
        """How long it takes at least until time alone lets it come; ``None``: that cannot be told."""
        moment = (self._schedule or {}).get(turn)
        if moment is None or trigger.kind != "after" or not self._reached(moment):
            return None
        return max(0.0, self._anchor + moment.since - clock.monotonic())

    def held(self, trigger: Trigger) -> bool:
        """Whether a trigger is held to a recorded place."""
        return not self._free(trigger)

    def missed(self) -> Iterator[tuple[Turn, Moment]]:
        """What came in the earlier trial and has not come in this one, and where it came."""
        for turn, moment in (self._schedule or {}).items():
            if turn not in self.came:
                yield turn, moment

    def _free(self, trigger: Trigger) -> bool:
        return self._schedule is None or trigger.kind in EXACT

    def _at_place(self, turn: Turn, trigger: Trigger) -> bool:
        moment = (self._schedule or {}).get(turn)
        if moment is None:  # it never came
            return False
        if self._beyond(moment):
            return True
        in_time = self._reached(moment) and clock.monotonic() - self._anchor >= moment.since
        return in_time and (trigger.kind == "after" or turn in self._seen)

    def _reached(self, moment: Moment) -> bool:
        came = all(self.asked(service) >= count for service, count in moment.asked.items())
        return came and self._step >= moment.step

    def _beyond(self, moment: Moment) -> bool:
        """Whether something has come that came after it."""
        more = any(count > moment.asked.get(name, 0) for name, count in self._asked.items())
        return more or self._step > moment.step

    def _here(self) -> Moment:
        since = round(clock.monotonic() - self._anchor, 6)
        return Moment(self._step, dict(self._asked), since)
