"""What the clock faults share: the shim's offset, its canary, and its record of reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from harness.faults.base import Landing, Place
from sandboxes import clock
from sandboxes.errors import SandboxError

_TOLERANCE = 2.0


def shows(place: Place, offset: float) -> bool:
    """Whether a canary inside reads real time plus ``offset`` seconds."""
    code, out = place.canary(["/usr/bin/date", "+%s"])
    text = out.decode("ascii", "replace").strip()
    return code == 0 and text.isdigit() and abs(clock.wall() + offset - int(text)) <= _TOLERANCE


def reads(place: Place) -> Mapping[str, int]:
    """Reads of the wall clock that the shim answered, those of canaries and steps apart."""
    return _own(place, place.sandbox.wall_clock_reads())


def late_reads(place: Place) -> Mapping[str, int]:
    """Those among them that were shown the mark, or a later moment."""
    return Counter(place.sandbox.wall_clock_reads(late=True)) - place.wall.aside_late


def _own(place: Place, counted: Mapping[str, int]) -> Mapping[str, int]:
    return Counter(counted) - place.wall.aside


@dataclass(frozen=True, slots=True)
class Moved:
    """A wall clock that was moved by ``offset`` seconds from real time, from ``was``."""

    offset: float
    was: float
    before: Mapping[str, int]

    def landing(self, place: Place) -> Landing:
        """It landed when a program of the subject has read the moved clock."""
        since = more(reads(place), self.before)
        return Landing(
            since.total(),
            f"a canary read {self.offset:+.0f} s; the moved clock was read by {who(since)}",
        )

    def heal(self, place: Place) -> None:
        """Put it back to what it was."""
        _put(place, self.was)


def more(now: Mapping[str, int], before: Mapping[str, int]) -> Counter[str]:
    """What came on top of an earlier count."""
    return Counter(now) - Counter(before)


def who(counts: Mapping[str, int]) -> str:
    """Programs and how often each read, in words."""
    return ", ".join(f"{name} {n}x" for name, n in sorted(counts.items())) or "nobody"


def _put(place: Place, offset: float, mark: float = 0.0) -> Mapping[str, int]:
    """Show it from now on; gives what the subject had read until then."""
    before = place.sandbox.set_wall_clock(round(offset * 1e9), round(mark * 1e9))
    place.wall.offset = offset
    return _own(place, before)


def _expect(place: Place, offset: float) -> None:
    if not shows(place, offset):
        raise SandboxError(f"a canary inside did not see the clock moved by {offset:+.0f} s")


def move(place: Place, offset: float, mark: float = 0.0) -> Moved:
    """Show real time plus ``offset`` seconds from now on.

    Args:
        place: where.
        offset: in seconds.
        mark: reads that show this moment, seconds since the epoch, or a later one are late.

    Raises:
        SandboxError: a canary inside does not see it.
    """
    was = place.wall.offset
    before = _put(place, offset, mark)
    try:
        _expect(place, offset)
    except BaseException:
        _put(place, was)
        raise
    return Moved(offset, was, before)
