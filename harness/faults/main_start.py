"""What the identity faults share: starts of the main process, and what the kernel said of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from harness.faults.base import Landing, Place
from harness.faults.met import Met
from sandboxes.base import Beginning
from sandboxes.errors import SandboxError, SandboxLost

#: The capability that all of this needs.
INSPECTED = "processes.inspected"

Variables = Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class Starts:
    """The starts of the main process from the moment this is made."""

    before: int

    @classmethod
    def begin(cls, place: Place) -> Starts:
        """Have every start from now on inspected."""
        place.next.inspected = True
        return cls(len(place.starts))

    def such(self, place: Place, holds: Callable[[Beginning], bool]) -> int:
        """How many of them began so."""
        return sum(1 for began in place.starts[self.before :] if holds(began))


@dataclass(frozen=True, slots=True)
class Changed:
    """Variables that the main process is started with, or (``None``) without.

    A program that was started without a variable has met that by being started.

    Attributes:
        wanted: those that were changed.
        was: what they were.
        what: in words.
        starts: since then.
    """

    wanted: Variables
    was: Variables
    what: str
    starts: Starts

    def landing(self, place: Place) -> Landing:
        """How often it was started so, by what the kernel gave it."""

        def holds(began: Beginning) -> bool:
            return all(began.env.get(name) == value for name, value in self.wanted.items())

        count = self.starts.such(place, holds)
        return Landing(count, f"the kernel shows the main process started {self.what} {count}x")

    def heal(self, place: Place) -> None:
        """For the next start; a running program keeps what it was started with."""
        _put(place, self.was)


def change(place: Place, wanted: Variables, what: str) -> Changed:
    """Start the main process with these variables from now on."""
    was = {name: place.next.env.get(name) for name in wanted}
    _put(place, wanted)
    return Changed(wanted, was, what, Starts.begin(place))


def _put(place: Place, variables: Variables) -> None:
    for name, value in variables.items():
        if value is None:
            place.next.env.pop(name, None)
        else:
            place.next.env[name] = value


@dataclass(slots=True)
class AtNext:
    """Something done to the sandbox right before the next start, and undone when it heals.

    Attributes:
        do: does it and begins to count what the subject meets of it; leaves nothing if it fails.
        undo: undoes it.
        met: the count; ``None`` until it is done.
        why: why it could not be done.
    """

    do: Callable[[], Met]
    undo: Callable[[], None]
    met: Met | None = None
    why: str = "the main process was not started since"

    @classmethod
    def begin(cls, place: Place, do: Callable[[], Met], undo: Callable[[], None]) -> AtNext:
        """Have it done at the next start."""
        fault = cls(do, undo)
        place.next.before.append(fault.take_effect)
        return fault

    def take_effect(self) -> None:
        """The main process is about to be started."""
        try:
            self.met = self.do()
        except SandboxLost:
            raise
        except SandboxError as error:
            self.why = f"could not be injected: {error}"

    def landing(self, place: Place) -> Landing:
        """What the subject met of it."""
        return Landing(0, self.why) if self.met is None else self.met.landing(place)

    def heal(self, place: Place) -> None:
        """Undo it; where it was not done yet, it will not be."""
        if self.take_effect in place.next.before:
            place.next.before.remove(self.take_effect)
        if self.met is not None:
            self.undo()
