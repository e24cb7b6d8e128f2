"""A circuit breaker: who failed several times in a row is left alone for a while."""

from __future__ import annotations

from typing import Final

from runtime.clock import Clock

#: Failures in a row after which no call is made.
FAILURES: Final = 5
#: Seconds until one call is let through to see.
REST: Final = 30.0


class Breaker:
    """Lets calls through, or not.

    Every call that :meth:`admits` is followed by :meth:`worked` or :meth:`failed`.
    """

    def __init__(self, clock: Clock, failures: int = FAILURES, rest: float = REST) -> None:
        self._clock = clock
        self._most = failures
        self._rest = rest
        self._failures = 0
        self._since = 0.0
        self._probing = False

    @property
    def open(self) -> bool:
        """Whether calls fail at once."""
        return self._failures >= self._most

    @property
    def left(self) -> float:
        """Seconds until a call is let through."""
        return max(self._since + self._rest - self._clock.monotonic(), 0.0) if self.open else 0.0

    def admits(self) -> bool:
        """Whether a call may be made now; of an open one's, one at a time after its rest."""
        if not self.open:
            return True
        if self._probing or self.left:
            return False
        self._probing = True
        return True

    def worked(self) -> None:
        """It was answered."""
        self._failures, self._probing = 0, False

    def failed(self) -> None:
        """It was not."""
        self._failures += 1
        self._probing = False
        if self.open:
            self._since = self._clock.monotonic()
