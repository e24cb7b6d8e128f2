"""When the clocks of a zone change next, and when the next 29 February begins in it."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from harness.faults.clock_turn import change, leap_day
from sandboxes.errors import SandboxError


def at(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


@pytest.mark.parametrize(
    ("zone", "after", "forward", "found"),
    [
        ("Europe/Berlin", "2031-02-03T04:05:06+00:00", True, "2031-03-30T01:00:00+00:00"),
        ("Europe/Berlin", "2031-02-03T04:05:06+00:00", False, "2031-10-26T01:00:00+00:00"),
        ("Europe/Berlin", "2031-03-30T00:59:59+00:00", True, "2031-03-30T01:00:00+00:00"),
        ("Europe/Berlin", "2031-03-30T01:00:00+00:00", True, "2032-03-28T01:00:00+00:00"),
        ("America/New_York", "2026-06-01T00:00:00+00:00", False, "2026-11-01T06:00:00+00:00"),
        ("Australia/Lord_Howe", "2026-06-01T00:00:00+00:00", True, "2026-10-03T15:30:00+00:00"),
    ],
)
def test_the_next_change_is_found_to_the_second(zone, after, forward, found):
    assert change(ZoneInfo(zone), at(after), forward=forward) == at(found)


def test_a_zone_without_a_change_says_so():
    with pytest.raises(SandboxError, match="Asia/Kathmandu do not go back"):
        change(ZoneInfo("Asia/Kathmandu"), at("2031-02-03T04:05:06+00:00"), forward=False)


@pytest.mark.parametrize(
    ("after", "year"),
    [("2026-06-01", 2028), ("2028-02-28", 2028), ("2028-02-29", 2032), ("2097-01-01", 2104)],
)
def test_the_next_leap_day_is_found(after, year):
    begun = datetime.fromisoformat(f"{after}T00:00:00+00:00").timestamp()

    assert leap_day(UTC, begun) == datetime(year, 2, 29, tzinfo=UTC).timestamp()


def test_a_leap_day_begins_by_the_clocks_of_the_zone():
    there = leap_day(ZoneInfo("Asia/Tokyo"), at("2026-01-01T00:00:00+00:00"))

    assert there == at("2028-02-28T15:00:00+00:00")
