"""``filesystem.full``: the private file system has no room left."""

from __future__ import annotations

from dataclasses import dataclass

from harness.case.model import Params
from harness.faults.base import Landing, Layer, Place
from harness.faults.met import ANSWERS
from harness.faults.schemas import bytes_of, params, size
from sandboxes.rules import Room

_PAGE = 4096


@dataclass(slots=True)
class _Shrunk:
    """The free space was cut down; it has landed once the subject wanted more than the rest."""

    rule: int
    lowest: int

    def landing(self, place: Place) -> Landing:
        self.sample(place)
        writes = place.sandbox.met(self.rule).get("calls", 0)
        return Landing(
            writes or int(self.lowest < _PAGE),
            f"writes of the subject for which there was no room: {writes}; {self.lowest} bytes "
            "were left on the file system of home, workspace and /tmp when it was looked at",
        )

    def sample(self, place: Place) -> None:
        """Room can also be used up in other ways than by writes, and be there again after that."""
        free = place.sandbox.usage().disk_free
        if free is not None:
            self.lowest = min(self.lowest, free)

    def heal(self, place: Place) -> None:
        place.sandbox.release(self.rule)
        place.sandbox.resize(None)


class Full:
    """Room is left for ``free`` bytes; whoever writes more gets ENOSPC."""

    name = "filesystem.full"
    summary = (
        "Home, workspace and /tmp have room for a little more only; "
        "it lands with each write of the subject for which there is no room, or when there is no "
        "page left while it is looked at, again and again (copies within the kernel and what is "
        "mapped are met so alone). Asynchronous calls (io_uring) do not exist in such a case."
    )
    layer = Layer.FILESYSTEM
    needs = ("disk.resize", ANSWERS)
    live = False
    schema = params(free=size("room that is left, at least one page", default="64KiB"))

    def inject(self, params: Params, place: Place) -> _Shrunk:
        """Shrink it."""
        free = max(bytes_of(params["free"]), _PAGE)
        rule = place.sandbox.intercept(Room())
        place.sandbox.resize(free)
        return _Shrunk(rule, free)
