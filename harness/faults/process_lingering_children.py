"""``process.lingering-children``: each start of a program leaves a child behind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from harness.case import grammar
from harness.case.model import Params
from harness.faults.base import Landing, Layer, Place
from harness.faults.met import ATTEMPTS
from harness.faults.programs import PROGRAM, each, found, undo
from harness.faults.schemas import params, text

_ALWAYS = "always"


@dataclass(slots=True)
class _Burdened:
    """Programs that leave children behind, and which of those were seen."""

    numbers: Sequence[int]
    seen: set[int] = field(default_factory=set)

    def landing(self, place: Place) -> Landing:
        self.sample(place)
        pids = ", ".join(map(str, sorted(self.seen))) or "none"
        left = len(place.sandbox.lingering())
        return Landing(
            len(self.seen), f"children seen to live on: {pids}; of all of them {left} live still"
        )

    def sample(self, place: Place) -> None:
        """A child that lives for a while only may be gone in the end."""
        self.seen.update(place.sandbox.lingering())

    def heal(self, place: Place) -> None:
        undo(place, self.numbers)


class LingeringChildren:
    """Another program stands in for it, which forks the child and becomes the real one."""

    name = "process.lingering-children"
    summary = (
        "Each start of a program leaves a child behind in a session of its own, which ignores "
        "SIGTERM and SIGHUP and holds on to the program's output, so that who waits for its end "
        "waits for the child; it lands when such a child of the subject's was seen. The child is "
        "no process that the subject left, and dies when the fault heals."
    )
    layer = Layer.PROCESS
    needs = ("files.system", ATTEMPTS)
    live = False
    schema = params(
        ("program",),
        program=PROGRAM,
        **{
            "for": text(
                "how long each child lives: a duration such as 5s, or always",
                pattern="^(always|[0-9]+(ms|s|m|h))$",
                default=_ALWAYS,
            )
        },
    )

    def inject(self, params: Params, place: Place) -> _Burdened:
        """Put the other program in its place."""
        time = params["for"]
        seconds = None if time == _ALWAYS else grammar.duration(time)
        places = found(place, params["program"])
        return _Burdened(each(place, places, lambda path: place.sandbox.burden(path, seconds)))
