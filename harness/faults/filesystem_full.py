"""``filesystem.full``: the private file system has no room left."""

from __future__ import annotations

from dataclasses import dataclass

from harness.case.model import Params
from harness.faults.base import Landing, Layer, Place
from harness.faults.schemas import bytes_of, params, size

_PAGE = 4096


@dataclass(slots=True)
class _Shrunk:
    """The free space was cut down; it has landed once the subject used the rest of it."""

    lowest: int

    def landing(self, place: Place) -> Landing:
        self.sample(place)
        return Landing(
            int(self.lowest < _PAGE),
            f"{self.lowest} bytes were left on the file system of home, workspace and /tmp",
        )

    def sample(self, place: Place) -> None:
        """Whoever met a full disk may tidy up after that, and there is room again."""
        free = place.sandbox.usage().disk_free
        if free is not None:
            self.lowest = min(self.lowest, free)

    def heal(self, place: Place) -> None:
        place.sandbox.resize(None)


class Full:
    """Room is left for ``free`` bytes; whoever writes more gets ENOSPC."""

    name = "filesystem.full"
    summary = (
        "Home, workspace and /tmp have room for a little more only; "
        "it lands when the subject has filled it to the last page."
    )
    layer = Layer.FILESYSTEM
    needs = ("disk.resize",)
    live = False
    schema = params(free=size("room that is left, at least one page", default="64KiB"))

    def inject(self, params: Params, place: Place) -> _Shrunk:
        """Shrink it."""
        free = max(bytes_of(params["free"]), _PAGE)
        place.sandbox.resize(free)
        return _Shrunk(free)
