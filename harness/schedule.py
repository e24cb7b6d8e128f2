"""The schedule of a trial: at which place in its course each fault began and ended.

A place is told in the trial's own terms, which stay the same on another day: the step, how many
requests each service had got, and how long after the last of these it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from harness.errors import EvidenceLost

#: Triggers that come at the same place whenever the trial is tried.
EXACT = frozenset({"start", "request"})


@dataclass(frozen=True, slots=True)
class Moment:
    """A place in the course of a trial.

    Attributes:
        step: the number of the step, from 1; 0 before the first.
        asked: requests that had come, by service.
        since: seconds since the step began, or since the last request if that came later.
    """

    step: int
    asked: Mapping[str, int]
    since: float

    def __str__(self) -> str:
        came = [f"{count} to {service}" for service, count in self.asked.items()]
        after = f" after the requests {', '.join(came)}" if came else ""
        return f"step {self.step}{after}, {self.since:.3f} s on"


@dataclass(frozen=True, slots=True, order=True)
class Turn:
    """What came: the fault ``fault`` was to ``begin``, to ``end``, or to ``remember``."""

    fault: str
    what: str

    def __str__(self) -> str:
        return f"{self.fault} was to {self.what}"


Schedule = Mapping[Turn, Moment]


@dataclass(frozen=True, slots=True)
class Replay:
    """A trial that is run again by the schedule of an earlier one.

    Attributes:
        of: the folder of the earlier one, absolute.
        schedule: what came in it.
        chance: what everything was made from in it that is chosen by chance.
        differs: what is not as it was then: ``subject``, ``harness``, with what it was and is.
    """

    of: str
    schedule: Schedule
    chance: str
    differs: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """What ``run.json`` says of it."""
        return {"of": self.of, "differs": {key: dict(two) for key, two in self.differs.items()}}


def came_form(turn: Turn, moment: Moment) -> dict[str, Any]:
    """The fields of the journal's event ``came``."""
    return {"fault": turn.fault, "what": turn.what, "place": asdict(moment)}


def schedule_of(events: Iterable[Mapping[str, Any]]) -> Schedule:
    """The schedule that a journal tells.

    Raises:
        EvidenceLost: it tells of it in another form.
    """
    schedule = {}
    for event in events:
        if event["event"] != "came":
            continue
        try:
            place = event["place"]
            asked = {str(name): int(count) for name, count in place["asked"].items()}
            turn = Turn(str(event["fault"]), str(event["what"]))
            schedule[turn] = Moment(int(place["step"]), asked, float(place["since"]))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise EvidenceLost(f"the journal does not say when a fault came: {error!r}") from error
    return schedule
