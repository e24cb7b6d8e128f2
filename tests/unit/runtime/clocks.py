"""A clock that stands until it is moved."""

from __future__ import annotations

import datetime


class Standing:
    """It moves only when somebody waits or sets it."""

    def __init__(self, now: str = "2031-02-03T04:05:06+00:00") -> None:
        self.moment = datetime.datetime.fromisoformat(now)
        self.passed = 0.0
        self.slept: list[float] = []

    def now(self) -> datetime.datetime:
        return self.moment

    def monotonic(self) -> float:
        return self.passed

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.advance(seconds)

    def advance(self, seconds: float) -> None:
        self.passed += seconds
        self.moment += datetime.timedelta(seconds=seconds)
