"""A model that makes the same call again and again, and is told the same each time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from runtime.model.base import Asked

#: How often the same calls may give the same results, one time after the other.
SAME: Final = 10


class Again:
    """Counts how often the same came, one time after the other."""

    def __init__(self) -> None:
        self._last: object = None
        self._times = 0

    def too_often(self, calls: Sequence[Asked], results: Sequence[str]) -> str | None:
        """Why the turn is to end, if it is."""
        now = [(call.name, call.arguments, call.problem) for call in calls], list(results)
        self._times = self._times + 1 if now == self._last else 1
        self._last = now
        if self._times < SAME:
            return None
        return f"the model made the same call {SAME} times, and was told the same each time"
