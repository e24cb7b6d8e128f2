"""``clock.leap-day`` and ``clock.daylight-change``: the wall clock runs over a special moment."""

from __future__ import annotations

import datetime
import zoneinfo
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from harness.case import grammar
from harness.case.model import Params
from harness.faults.base import Landing, Layer, Place
from harness.faults.clock_zone import Zone, Zoned
from harness.faults.met import ATTEMPTS
from harness.faults.schemas import duration, params, text
from harness.faults.wall_clock import Moved, late_reads, more, move, reads, who
from sandboxes import clock
from sandboxes.errors import SandboxError

_DAY = 86400
_FAR = 3 * 366  # days in which a zone that changes at all has changed both ways
_LEAD = duration("how long before that moment the clock stands at first", default="2s")


@dataclass(frozen=True, slots=True)
class Turning:
    """A wall clock that stood before a moment and runs over it.

    Attributes:
        moved: the clock.
        moment: what it runs over, in words.
        late: reads past an earlier mark, by program.
    """

    moved: Moved
    moment: str
    late: Mapping[str, int]

    def landing(self, place: Place) -> Landing:
        """It landed when programs of the subject have read the clock on both sides."""
        late = more(late_reads(place), self.late)
        early = more(more(reads(place), self.moved.before), late)
        return Landing(
            min(early.total(), late.total()),
            f"before {self.moment} the clock was read by {who(early)}, after it by {who(late)}",
        )

    def heal(self, place: Place) -> None:
        """Put the clock back."""
        self.moved.heal(place)


def _turn(place: Place, at: float, lead: str, moment: str) -> Turning:
    late = late_reads(place)
    offset = at - grammar.duration(lead) - clock.wall()
    return Turning(move(place, offset, mark=at), moment, late)


def _shown(place: Place) -> float:
    return clock.wall() + place.wall.offset


class LeapDay:
    """The last moment of 28 February in a leap year."""

    name = "clock.leap-day"
    summary = (
        "The wall clock runs from 28 into 29 February of the next leap year, counted from what "
        "it shows; it lands when the subject has read it before and after midnight."
    )
    layer = Layer.CLOCK
    needs = ("clock.wall",)
    live = False
    schema = params(lead=_LEAD)

    def inject(self, params: Params, place: Place) -> Turning:
        """Stand before it."""
        name = place.next.env.get("TZ") or "UTC"
        return _turn(place, leap_day(_zone(name), _shown(place)), params["lead"], "29 February")


class DaylightChange:
    """The last moment before the clocks of a zone change."""

    name = "clock.daylight-change"
    summary = (
        "The main process is started in a time zone, and the wall clock runs over the next "
        "change of its clocks; it lands when the subject has loaded the rules of that zone, and "
        "read the clock before and after the change."
    )
    layer = Layer.CLOCK
    needs = ("clock.wall", "clock.zone", ATTEMPTS)
    live = False
    schema = params(
        ("zone",),
        zone=text("name of the tz database, such as Europe/Berlin"),
        change=text("whether an hour is left out or comes twice", enum=["forward", "back"],
                    default="forward"),
        lead=_LEAD,
    )  # fmt: skip

    def inject(self, params: Params, place: Place) -> _Changing:
        """Set the zone, and stand before the change."""
        name, forward = params["zone"], params["change"] == "forward"
        at = change(_zone(name), _shown(place), forward=forward)
        zoned = Zone().inject({"zone": name}, place)
        try:
            for when in (at - 1, at):
                _expect(place, when, datetime.datetime.fromtimestamp(when, _zone(name)))
            turning = _turn(place, at, params["lead"], f"the change of {name}")
        except BaseException:
            zoned.heal(place)
            raise
        return _Changing(zoned, turning)


@dataclass(frozen=True, slots=True)
class _Changing:
    zoned: Zoned
    turning: Turning

    def landing(self, place: Place) -> Landing:
        loaded, turned = self.zoned.landing(place), self.turning.landing(place)
        count = turned.count if loaded.landed else 0
        return Landing(count, f"{turned.proof}; {loaded.proof}")

    def heal(self, place: Place) -> None:
        self.turning.heal(place)
        self.zoned.heal(place)


def _expect(place: Place, at: int, local: datetime.datetime) -> None:
    """Have a canary show that programs inside know of the change."""
    zone = {"TZ": str(local.tzinfo)}
    _, out = place.canary(["/usr/bin/date", "-d", f"@{at}", "+%z"], zone)
    shown, wanted = out.decode("utf-8", "replace").strip(), local.strftime("%z")
    if shown != wanted:
        raise SandboxError(f"a canary inside read {shown!r} for {local.isoformat()}")


def _zone(name: str) -> zoneinfo.ZoneInfo:
    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError) as error:
        raise SandboxError(f"no time zone {name!r} on this machine; install tzdata") from error


def leap_day(zone: datetime.tzinfo, after: float) -> float:
    """When the next 29 February begins in a zone; seconds since the epoch."""
    return next(
        start
        for year in range(datetime.datetime.fromtimestamp(after, zone).year, datetime.MAXYEAR)
        if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
        if (start := datetime.datetime(year, 2, 29, tzinfo=zone).timestamp()) > after
    )


def change(zone: datetime.tzinfo, after: float, *, forward: bool) -> int:
    """When the clocks of a zone next go forward, or back; whole seconds since the epoch.

    Raises:
        SandboxError: they do not.
    """
    for start in _days(int(after)):
        low, high = start, start + _DAY
        if not _goes(zone, low, high, forward=forward):
            continue
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (
                (low, middle) if _goes(zone, low, middle, forward=forward) else (middle, high)
            )
        return high
    way = "forward" if forward else "back"
    raise SandboxError(f"the clocks of {zone} do not go {way} in the next {_FAR // 366} years")


def _days(start: int) -> Iterator[int]:
    return (start + day * _DAY for day in range(_FAR))


def _goes(zone: datetime.tzinfo, low: int, high: int, *, forward: bool) -> bool:
    by = _ahead(zone, high) - _ahead(zone, low)
    return by > 0 if forward else by < 0


def _ahead(zone: datetime.tzinfo, at: int) -> float:
    ahead = datetime.datetime.fromtimestamp(at, zone).utcoffset()
    return 0.0 if ahead is None else ahead.total_seconds()
