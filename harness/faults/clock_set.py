"""``clock.set`` and ``clock.step``: the wall clock jumps."""

from __future__ import annotations

from harness.case import grammar
from harness.case.model import Params
from harness.faults.base import Layer, Place
from harness.faults.schemas import params, text
from harness.faults.wall_clock import Moved, move
from sandboxes import clock


class Set:
    """The wall clock shows a given moment and runs on from there."""

    name = "clock.set"
    summary = "The wall clock jumps to a given moment; dynamically linked programs see it."
    layer = Layer.CLOCK
    needs = ("clock.wall",)
    live = False
    schema = params(("at",), at=text("RFC 3339, such as 2031-02-03T04:05:06Z", format="instant"))

    def inject(self, params: Params, place: Place) -> Moved:
        """Set it."""
        return move(place, grammar.instant(params["at"]) - clock.wall())


class Step:
    """The wall clock steps by an amount; monotonic clocks go on."""

    name = "clock.step"
    summary = "The wall clock steps forward or back; monotonic clocks go on."
    layer = Layer.CLOCK
    needs = ("clock.wall",)
    live = False
    schema = params(("by",), by=text("such as 2h or -36h", pattern=r"^-?[0-9]+(ms|s|m|h)$"))

    def inject(self, params: Params, place: Place) -> Moved:
        """Step it."""
        sign = -1 if params["by"].startswith("-") else 1
        by = sign * grammar.duration(params["by"].lstrip("-"))
        return move(place, place.wall.offset + by)
