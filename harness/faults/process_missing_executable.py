"""``process.missing-executable``: a program is not there any more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.case.model import Params
from harness.faults.base import Landing, Layer, Place
from harness.faults.met import ATTEMPTS, Barred, Met, together
from harness.faults.programs import PROGRAM, each, found, undo
from harness.faults.schemas import params
from sandboxes.base import Act, Depth

_WANTED: Barred = {Depth.ON: (Act.RUN, Act.LOOK), Depth.IN: (), Depth.BELOW: ()}


@dataclass(frozen=True, slots=True)
class _Gone:
    numbers: Sequence[int]
    met: Sequence[Met]

    def landing(self, place: Place) -> Landing:
        return together(self.met, place)

    def heal(self, place: Place) -> None:
        undo(place, self.numbers)


class MissingExecutable:
    """The program is taken away from outside, from everywhere it is found."""

    name = "process.missing-executable"
    summary = (
        "A program is gone, as after an upgrade that failed: to start it gives ENOENT; "
        "it lands when the subject tries to start it, or looks for it."
    )
    layer = Layer.PROCESS
    needs = ("files.system", ATTEMPTS)
    live = False
    schema = params(("program",), program=PROGRAM)

    def inject(self, params: Params, place: Place) -> _Gone:
        """Take it away."""
        places = found(place, params["program"])
        numbers = each(place, places, place.sandbox.hide)
        return _Gone(numbers, [Met.begin(place, path, _WANTED) for path in places])
