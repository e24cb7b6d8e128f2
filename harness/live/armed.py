"""Where one fault of a live trial stands."""

from __future__ import annotations

from dataclasses import dataclass, field

from harness.case.model import Fault, Trigger
from harness.faults.base import (
    Injection,
    Landing,
    Place,
    PlaceFault,
    Remembering,
    ReplyFault,
)
from harness.schedule import Turn
from sandboxes.errors import SandboxError


@dataclass(slots=True)
class State:
    """Where one fault stands.

    Attributes:
        due: its trigger came; it is begun, or about to be.
        over: likewise, its ``until`` came.
        heard: how much output there had been when it was due; its ``until`` looks behind that.
        begun: it was injected, or that was tried.
        ended: nothing of it is in force any more.
        moment: the earlier moment that it needs something from; ``None`` when that has come.
    """

    fault: Fault
    injector: ReplyFault | PlaceFault
    due: bool = False
    over: bool = False
    heard: dict[str, int] = field(default_factory=dict)
    begun: bool = False
    ended: bool = False
    injection: Injection | None = None
    landing: Landing = field(default_factory=lambda: Landing(0, "the trial ended before that"))
    moment: Trigger | None = None

    @classmethod
    def of(cls, fault: Fault, injector: ReplyFault | PlaceFault) -> State:
        """Nothing has come yet."""
        if isinstance(injector, Remembering):
            return cls(fault, injector, moment=injector.moment(fault.params))
        return cls(fault, injector)

    def turn(self, trigger: Trigger) -> Turn:
        """What a trigger that it waits for lets it do."""
        if trigger is self.moment:
            return Turn(self.fault.id, "remember")
        return Turn(self.fault.id, "end" if self.due else "begin")

    def waits(self) -> list[Trigger]:
        """Everything that it waits for."""
        return [trigger for trigger in (self.moment, self.pending()) if trigger is not None]

    def pending(self) -> Trigger | None:
        """What it waits for."""
        if not self.due:
            return self.fault.when
        return None if self.over else self.fault.until


def injected(injector: PlaceFault, fault: Fault, place: Place) -> Injection:
    """Inject a fault into the place.

    Raises:
        SandboxError: it could not be.
    """
    if "network.services" in injector.needs and not place.addresses:
        raise SandboxError("nothing can reach a service: the sandbox has no network")
    return injector.inject(fault.params, place)
