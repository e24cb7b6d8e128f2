"""A figure: ours beside another, and what is hoped of their ratio."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sandboxes import clock


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the table.

    Attributes:
        what: what was measured.
        ours: the product's value.
        beside: the other value.
        unit: of both values.
        against: what the other value is of.
        goal: bound of ours divided by beside.
        more_is_better: whether the goal is a lower bound.
        note: anything a reader must know to compare fairly.
    """

    what: str
    ours: float
    beside: float
    unit: str
    against: str
    goal: float
    more_is_better: bool = False
    note: str = ""

    @property
    def ratio(self) -> float:
        """Ours divided by the other."""
        return self.ours / self.beside if self.beside else float("inf")

    @property
    def reached(self) -> bool:
        """Whether the ratio is on the right side of the goal."""
        return self.ratio >= self.goal if self.more_is_better else self.ratio <= self.goal


@dataclass(frozen=True, slots=True)
class Unavailable:
    """A figure that could not be taken here, and why."""

    what: str
    reason: str


def alternate(rounds: int, *calls: Callable[[], None]) -> Sequence[float]:
    """Median milliseconds of each call, taken in turn; the first round warms up."""
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(rounds + 1):
        for call, taken in zip(calls, times, strict=True):
            began = clock.monotonic()
            call()
            taken.append((clock.monotonic() - began) * 1000)
    return [statistics.median(taken[1:]) for taken in times]
