"""``identity.no-terminal``: there is no terminal to ask."""

from __future__ import annotations

from dataclasses import dataclass

from harness.case.model import Params
from harness.faults.base import Landing, Layer, Place
from harness.faults.main_start import INSPECTED, Starts
from harness.faults.met import ATTEMPTS, Barred, Met
from harness.faults.schemas import params
from sandboxes.base import Act, Depth

_TERMINAL = "/dev/tty"
_ASKED: Barred = {Depth.ON: (Act.READ, Act.WRITE), Depth.IN: (), Depth.BELOW: ()}


@dataclass(frozen=True, slots=True)
class _Without:
    starts: Starts
    met: Met

    def landing(self, place: Place) -> Landing:
        begun = self.starts.such(place, lambda began: not began.terminal)
        asked = self.met.landing(place)
        proof = f"the kernel shows the main process started without a terminal {begun}x"
        return Landing(asked.count if begun else 0, f"{proof}; {asked.proof}")

    def heal(self, place: Place) -> None:
        """Nothing was changed: without a terminal is how every subject is started."""


class NoTerminal:
    """No stream is a terminal and none controls the process, as ever; here it must matter."""

    name = "identity.no-terminal"
    summary = (
        "The main process has no terminal, as in every trial; "
        "it lands when the subject opens /dev/tty to ask somebody."
    )
    layer = Layer.IDENTITY
    needs = (ATTEMPTS, INSPECTED)
    live = False
    schema = params()

    def inject(self, params: Params, place: Place) -> _Without:
        """Watch who asks for one."""
        del params
        return _Without(Starts.begin(place), Met.begin(place, _TERMINAL, _ASKED))
