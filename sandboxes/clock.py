"""The one owner of time in the harness: everything that waits or stamps asks here."""

from __future__ import annotations

import datetime
import time


def wall() -> float:
    """Seconds since the epoch."""
    return time.time()


def monotonic() -> float:
    """Seconds on a clock that never steps."""
    return time.monotonic()


def running() -> float:
    """Seconds on a clock that never steps and that goes on while the machine is suspended."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def sleep(seconds: float) -> None:
    """Wait."""
    time.sleep(seconds)


def stamp(at: float | None = None) -> str:
    """RFC 3339 in UTC with milliseconds; ``at`` in seconds since the epoch, default now."""
    moment = datetime.datetime.fromtimestamp(wall() if at is None else at, tz=datetime.UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def today() -> datetime.date:
    """The date in UTC."""
    return datetime.datetime.fromtimestamp(wall(), tz=datetime.UTC).date()
