"""A ledger that forgets, for the sabotage of c11-killed-mid-attempt."""

from sqlalchemy import delete

from runtime.recovery.budget import Budget
from runtime.store.tables import ATTEMPTS


async def forget(self: Budget) -> int:
    """What was reserved when it died is not known any more."""
    open_ones = delete(ATTEMPTS).where(ATTEMPTS.c.state == "reserved")
    await self._store.writing(lambda connection: connection.execute(open_ones).rowcount)
    return 0
