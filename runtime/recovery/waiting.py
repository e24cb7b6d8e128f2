"""How long to wait before a failed call is tried again."""

from __future__ import annotations

import email.utils
from typing import Final

from runtime.clock import Clock
from runtime.recovery.classes import FailureClass
from runtime.recovery.observe import Failed

#: Seconds before the first attempt where nobody said how long; doubled for each further one.
BACKOFF: Final = 0.5
_MOST: Final = 8.0
#: Classes whose cause is outside, and needs time.
_OUTSIDE: Final = frozenset(
    {FailureClass.NETWORK, FailureClass.RATE_LIMIT, FailureClass.PERMISSION_DENIED}
)


def wait_before(failed: Failed, clock: Clock) -> float:
    """Seconds to wait; what the server asked for is never cut short."""
    if failed.classified.cls not in _OUTSIDE:
        return 0.0
    backoff = min(BACKOFF * 2.0**failed.number, _MOST)
    asked = retry_after(str(failed.result.data.get("retry_after", "")), clock)
    return backoff if asked is None else max(asked, backoff)


def retry_after(value: str, clock: Clock) -> float | None:
    """The seconds that a ``Retry-After`` header asks for, whether a number or a date."""
    text = value.strip()
    if text.isascii() and text.isdigit():
        return float(text)
    try:
        moment = email.utils.parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return None
    if moment.tzinfo is None:
        return None
    return max((moment - clock.now()).total_seconds(), 0.0)
