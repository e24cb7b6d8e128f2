"""The runtime's clock, which is passed in: no rule asks the time anywhere else."""

from __future__ import annotations

import datetime
from typing import Protocol

import anyio

from sandboxes import clock

_MICRO = 1_000_000


class Clock(Protocol):
    """What tells the time, and waits."""

    def now(self) -> datetime.datetime:
        """The moment, in UTC."""

    def monotonic(self) -> float:
        """Seconds on a clock that never steps."""

    async def sleep(self, seconds: float) -> None:
        """Wait."""


class SystemClock:
    """The machine's clocks."""

    def now(self) -> datetime.datetime:
        """The moment, in UTC."""
        return datetime.datetime.fromtimestamp(clock.wall(), tz=datetime.UTC)

    def monotonic(self) -> float:
        """Seconds on a clock that never steps."""
        return clock.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait, and let others run."""
        await anyio.sleep(seconds)


def micros(moment: datetime.datetime) -> int:
    """Microseconds since the epoch, as the store keeps every moment."""
    since = moment - datetime.datetime.fromtimestamp(0, tz=datetime.UTC)
    return since // datetime.timedelta(microseconds=1)


def moment(micros: int) -> datetime.datetime:
    """The moment, in UTC, of microseconds since the epoch."""
    whole = datetime.datetime.fromtimestamp(micros // _MICRO, tz=datetime.UTC)
    return whole + datetime.timedelta(microseconds=micros % _MICRO)
