"""The ledger of attempts: reserved before one runs, settled after, and never forgotten.

A reservation is one statement that looks at every limit and writes in the same breath, so that
two attempts cannot both take the last of it. What was reserved when the daemon died counts as
spent: nobody knows whether the attempt was made.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    and_,
    bindparam,
    func,
    insert,
    select,
    update,
)

from runtime.clock import Clock, micros
from runtime.recovery.observe import Failed, RunScope
from runtime.settings import RecoverySettings
from runtime.store.store import Store
from runtime.store.tables import ATTEMPTS
from runtime.tools.base import Tool

_MICRO: Final = 1_000_000
_SPENT: Final = func.coalesce(ATTEMPTS.c.settled_micro_usd, ATTEMPTS.c.reserved_micro_usd)
_COUNTS: Final = ATTEMPTS.c.state != "released"
_ROW: Final = (
    "id",
    "failure",
    "conversation",
    "tool",
    "number",
    "day",
    "state",
    "reserved_micro_usd",
    "reserved",
)


def _within(row: Mapping[str, Any], limits: Mapping[str, Any]) -> dict[str, ColumnElement[bool]]:
    """By limit: whether one more attempt, that of a row, stays within it."""
    made = select(func.count()).where(ATTEMPTS.c.failure == row["failure"], _COUNTS)
    spent = select(func.coalesce(func.sum(_SPENT), 0))
    run = spent.where(ATTEMPTS.c.conversation == row["conversation"], _COUNTS)
    day = spent.where(ATTEMPTS.c.day == row["day"], _COUNTS)
    price = row["reserved_micro_usd"]
    return {
        "attempts": made.scalar_subquery() < limits["attempts"],
        "run": run.scalar_subquery() + price <= limits["run"],
        "day": day.scalar_subquery() + price <= limits["day"],
    }


# The statements are made once: to put one together takes longer than SQLite takes to carry it out.
_NEW: Final[Mapping[str, ColumnElement[Any]]] = {
    name: bindparam(f"new_{name}", type_=ATTEMPTS.c[name].type) for name in _ROW
}
_LIMITS: Final[Mapping[str, ColumnElement[Any]]] = {
    name: bindparam(name, type_=BigInteger) for name in ("attempts", "run", "day")
}
_ROOM: Final = and_(*_within(_NEW, _LIMITS).values())
_RESERVE: Final = (
    insert(ATTEMPTS)
    .from_select(list(_ROW), select(*_NEW.values()).where(_ROOM))
    .returning(ATTEMPTS.c.id)
)
_END: Final = update(ATTEMPTS).where(
    ATTEMPTS.c.id == bindparam("reservation"), ATTEMPTS.c.state == "reserved"
)


@dataclass(frozen=True, slots=True)
class Reservation:
    """An attempt that may be made."""

    id: str
    micro_usd: int


@dataclass(frozen=True, slots=True)
class Refused:
    """Why none may."""

    why: str


class Budget:
    """What attempts may cost, and what they did."""

    def __init__(self, store: Store, clock: Clock, settings: RecoverySettings) -> None:
        self._store = store
        self._clock = clock
        self._settings = settings

    async def reserve(self, failed: Failed, scope: RunScope) -> Reservation | Refused:
        """Reserve the next attempt for a failure, or say which limit it would pass."""
        price = self.price(failed.tool)
        if price is None:
            return Refused(f"nobody stated a price for {failed.tool.name}")
        reservation = Reservation(uuid.uuid4().hex, price)
        row = self._row(reservation, failed, scope)
        if await self._store.writing(lambda connection: self._insert(connection, row)):
            return reservation
        return Refused(await self._store.reading(lambda connection: self._why(connection, row)))

    async def settle(self, reservation: Reservation, outcome: str) -> None:
        """Write down that an attempt was made, and how it ended."""
        await self._end(reservation, "settled", outcome, reservation.micro_usd)

    async def release(self, reservation: Reservation, why: str) -> None:
        """Give back what was reserved for an attempt that was not made."""
        await self._end(reservation, "released", why[:32], 0)

    async def close_lost(self) -> int:
        """After a start: what is still reserved was lost, and stays spent. How many there were."""
        now = micros(self._clock.now())
        lost = (
            update(ATTEMPTS)
            .where(ATTEMPTS.c.state == "reserved")
            .values(state="lost", settled_micro_usd=ATTEMPTS.c.reserved_micro_usd, settled=now)
        )
        return await self._store.writing(lambda connection: connection.execute(lost).rowcount)

    def price(self, tool: Tool) -> int | None:
        """Micro-dollars for a call; the user's word counts before the tool's."""
        stated: Decimal | None = self._settings.prices.get(tool.name, tool.price)
        return None if stated is None else int((stated * _MICRO).to_integral_value())

    async def _end(self, reservation: Reservation, state: str, outcome: str, spent: int) -> None:
        values = {
            "reservation": reservation.id,
            "state": state,
            "outcome": outcome,
            "settled_micro_usd": spent,
            "settled": micros(self._clock.now()),
        }
        await self._store.writing(lambda each: each.execute(_END, values))

    def _row(self, reservation: Reservation, failed: Failed, scope: RunScope) -> dict[str, Any]:
        now = self._clock.now()
        return {
            "id": reservation.id,
            "failure": failed.id,
            "conversation": scope.conversation,
            "tool": failed.tool.name,
            "number": failed.number + 1,
            "day": self._settings.day(now),
            "state": "reserved",
            "reserved_micro_usd": reservation.micro_usd,
            "reserved": micros(now),
        }

    def _most(self) -> dict[str, int]:
        """The limits, of attempts and of micro-dollars."""
        settings = self._settings
        return {
            "attempts": settings.attempts,
            "run": int(settings.usd_per_run * _MICRO),
            "day": int(settings.usd_per_day * _MICRO),
        }

    def _insert(self, connection: Connection, row: dict[str, Any]) -> bool:
        values = {f"new_{name}": value for name, value in row.items()}
        return connection.execute(_RESERVE, {**values, **self._most()}).first() is not None

    def _why(self, connection: Connection, row: dict[str, Any]) -> str:
        for within, limit in self._limits(row):
            if not connection.execute(select(within)).scalar_one():
                return limit
        return "the budget was used up a moment ago"

    def _limits(self, row: dict[str, Any]) -> Sequence[tuple[ColumnElement[bool], str]]:
        """Each limit: whether one more attempt stays within it, and what to say if not."""
        settings = self._settings
        said = {
            "attempts": f"{settings.attempts} attempts were made, which is the limit",
            "run": f"the run has spent its {settings.usd_per_run} dollars",
            "day": f"the day has spent its {settings.usd_per_day} dollars",
        }
        return [(holds, said[limit]) for limit, holds in _within(row, self._most()).items()]
