"""``process.kill``, ``process.terminate`` and ``process.stop``: a signal to the main process."""

from __future__ import annotations

import signal
from dataclasses import dataclass

from harness.case.model import Params
from harness.faults.base import Landing, Layer, Place
from harness.faults.schemas import params

_LOOKS = 100
_SETTLING = (signal.SIGKILL, signal.SIGSTOP)


@dataclass(frozen=True, slots=True)
class _Sent:
    """A signal that was sent to a live process, or was not.

    Attributes:
        seen: of a signal that stops: whether the process was then seen stopped.
    """

    process: int
    signum: signal.Signals
    delivered: bool
    seen: bool

    def landing(self, place: Place) -> Landing:
        name = self.signum.name
        if not self.delivered:
            return Landing(0, f"there was no live main process for {name}")
        if self.signum is signal.SIGKILL:
            ended = place.ended.get(self.process)
            if ended is None or ended.signal != signal.SIGKILL:
                return Landing(0, f"the main process did not end by {name}")
            return Landing(1, f"the main process ended by {name}, says its wait status")
        if self.signum is signal.SIGSTOP:
            return Landing(int(self.seen), f"{'' if self.seen else 'not '}seen stopped by {name}")
        return Landing(1, f"the kernel took {name} for the live main process")

    def heal(self, place: Place) -> None:
        if self.delivered and self.signum is signal.SIGSTOP:
            place.sandbox.signal(self.process, signal.SIGCONT)


class SignalFault:
    """Sends a signal to the main process, from outside its process namespace."""

    layer = Layer.PROCESS
    needs = ()
    live = True
    schema = params()

    def __init__(self, name: str, summary: str, signum: signal.Signals) -> None:
        self.name = name
        self.summary = summary
        self._signum = signum

    def inject(self, params: Params, place: Place) -> _Sent:
        """Send it."""
        main = place.main
        delivered = main is not None and place.sandbox.signal(main, self._signum)
        seen = delivered and self._signum in _SETTLING and _settled(place, main) == "T"
        return _Sent(main or 0, self._signum, delivered, seen)


def _settled(place: Place, main: int | None) -> str:
    """The state that the main process soon comes to: ``T``, ``Z``, or empty where it is gone."""
    state = ""
    for _ in range(_LOOKS):
        states = [each.state for each in place.sandbox.processes() if each.main == main]
        state = "".join(states)
        if state not in {"R", "S", "D"}:
            break
    return state


KILL = SignalFault("process.kill", "The main process is killed (SIGKILL).", signal.SIGKILL)
TERMINATE = SignalFault(
    "process.terminate", "The main process is asked to end (SIGTERM).", signal.SIGTERM
)
STOP = SignalFault(
    "process.stop",
    "The main process is stopped (SIGSTOP); it goes on when the fault heals (SIGCONT).",
    signal.SIGSTOP,
)
