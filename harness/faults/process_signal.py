"""``process.kill``, ``process.terminate`` and ``process.stop``: a signal to the main process."""

from __future__ import annotations

import signal
from dataclasses import dataclass

from harness.case.model import Params
from harness.faults.base import Landing, Layer, Place
from harness.faults.schemas import params


@dataclass(frozen=True, slots=True)
class _Sent:
    """A signal that was sent to a live process, or was not."""

    process: int
    signum: signal.Signals
    delivered: bool
    undo: signal.Signals | None

    def landing(self, place: Place) -> Landing:
        name = self.signum.name
        if not self.delivered:
            return Landing(0, f"the main process had ended before {name}")
        if self.signum is not signal.SIGKILL:
            return Landing(1, f"the kernel took {name} for the live main process")
        ended = place.ended.get(self.process)
        if ended is None or ended.signal != signal.SIGKILL:
            return Landing(0, f"the main process did not end by {name}")
        return Landing(1, f"the main process ended by {name}, says its wait status")

    def heal(self, place: Place) -> None:
        if self.delivered and self.undo is not None:
            place.sandbox.signal(self.process, self.undo)


class SignalFault:
    """Sends a signal to the main process, from outside its process namespace."""

    layer = Layer.PROCESS
    needs = ()
    live = True
    schema = params()

    def __init__(
        self, name: str, summary: str, signum: signal.Signals, undo: signal.Signals | None = None
    ) -> None:
        """``undo`` is the signal that heals it, if one can."""
        self.name = name
        self.summary = summary
        self._signum = signum
        self._undo = undo

    def inject(self, params: Params, place: Place) -> _Sent:
        """Send it."""
        main = place.main
        delivered = main is not None and place.sandbox.signal(main, self._signum)
        return _Sent(main or 0, self._signum, delivered, self._undo)


KILL = SignalFault("process.kill", "The main process is killed (SIGKILL).", signal.SIGKILL)
TERMINATE = SignalFault(
    "process.terminate", "The main process is asked to end (SIGTERM).", signal.SIGTERM
)
STOP = SignalFault(
    "process.stop",
    "The main process is stopped (SIGSTOP); it goes on when the fault heals (SIGCONT).",
    signal.SIGSTOP,
    signal.SIGCONT,
)
