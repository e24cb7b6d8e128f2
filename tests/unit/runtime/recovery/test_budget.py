"""The ledger: nothing is reserved beyond a limit, by however many at once, and nothing is lost."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import anyio
import pytest
from sqlalchemy import select

from runtime.recovery.budget import Budget, Refused, Reservation
from runtime.recovery.observe import Failed, RunScope
from runtime.settings import RecoverySettings
from runtime.store.store import Store, open_store
from runtime.store.tables import ATTEMPTS
from tests.unit.runtime.clocks import Standing
from tests.unit.runtime.recovery.failures import failed, tool

pytestmark = pytest.mark.anyio
RUN = RunScope("c1")
FAILED = failed()
AMPLE = RecoverySettings(act=True, attempts=9, usd_per_run=Decimal(100), usd_per_day=Decimal(100))


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def budget(store: Store, clock: Standing | None = None, **changed: Any) -> Budget:
    return Budget(store, clock or Standing(), AMPLE.model_copy(update=changed))


async def reserved(made: Budget, failed: Failed = FAILED, run: RunScope = RUN) -> Reservation:
    found = await made.reserve(failed, run)
    assert isinstance(found, Reservation)
    return found


async def why(made: Budget, failed: Failed = FAILED, run: RunScope = RUN) -> str:
    found = await made.reserve(failed, run)
    assert isinstance(found, Refused)
    return found.why


@pytest.mark.parametrize(
    ("limit", "which"),
    [
        ({"attempts": 3}, "3 attempts were made"),
        ({"usd_per_run": Decimal("0.03")}, "the run has spent its 0.03 dollars"),
        ({"usd_per_day": Decimal("0.039999")}, "the day has spent its 0.039999 dollars"),
    ],
)
async def test_eight_at_once_get_no_more_than_there_is(
    store: Store, limit: dict[str, Any], which: str
):
    made = budget(store, **limit)
    found: list[Reservation | Refused] = []

    async def take() -> None:
        found.append(await made.reserve(failed(), RUN))

    async with anyio.create_task_group() as group:
        for _ in range(8):
            group.start_soon(take)

    refused = [each.why for each in found if isinstance(each, Refused)]
    assert len(refused) == 5
    assert all(which in each for each in refused)


async def test_nothing_is_attempted_out_of_the_box(store: Store):
    made = Budget(store, Standing(), RecoverySettings())

    assert "0 attempts" in await why(made)


async def test_what_nobody_priced_is_refused(store: Store):
    assert "price for http_get" in await why(budget(store), failed(tool=tool(price=None)))


async def test_the_user_s_price_counts_before_the_tool_s(store: Store):
    assert (await reserved(budget(store, prices={"http_get": Decimal(2)}))).micro_usd == 2_000_000
    assert "price" in await why(budget(store, prices={"http_get": None}))


async def test_each_limit_has_its_own_scope(store: Store):
    made = budget(store, attempts=1, usd_per_run=Decimal("0.02"), usd_per_day=Decimal("0.03"))

    await reserved(made, failed(id="f1"))
    await reserved(made, failed(id="f2"))
    assert "the run" in await why(made, failed(id="f3"))
    await reserved(made, failed(id="f3"), RunScope("c2"))
    assert "the day" in await why(made, failed(id="f4"), RunScope("c3"))


async def test_the_day_ends_at_midnight_where_the_budget_is_kept(store: Store):
    clock = Standing("2031-02-03T18:14:59+00:00")
    made = budget(store, clock, usd_per_day=Decimal("0.01"), zone="Asia/Kathmandu")

    await reserved(made, failed(id="f1"))
    assert "the day" in await why(made, failed(id="f2"))
    clock.advance(1)
    await reserved(made, failed(id="f2"))


async def test_what_was_given_back_can_be_taken_again(store: Store):
    made = budget(store, attempts=1)

    await made.release(await reserved(made), "not made")

    await reserved(made)


async def test_what_was_reserved_when_the_daemon_died_stays_spent(url: str):
    first = open_store(url)
    await reserved(budget(first, attempts=2))
    settled = await reserved(budget(first, attempts=2))
    await budget(first).settle(settled, "ok")
    first.close()

    again = open_store(url)
    made = budget(again, attempts=2)
    assert await made.close_lost() == 1
    assert await made.close_lost() == 0
    assert "2 attempts" in await why(made)
    with again.read() as connection:
        rows = connection.execute(select(ATTEMPTS.c.state, ATTEMPTS.c.settled_micro_usd)).all()
    assert sorted(rows) == [("lost", 10_000), ("settled", 10_000)]
    again.close()


async def test_an_attempt_ends_once(store: Store):
    clock = Standing()
    made = budget(store, clock)
    reservation = await reserved(made)

    await made.settle(reservation, "ok")
    clock.moment += datetime.timedelta(seconds=5)
    await made.release(reservation, "late")

    with store.read() as connection:
        row = connection.execute(select(ATTEMPTS)).mappings().one()
    assert (row["state"], row["outcome"], row["settled"]) == ("settled", "ok", row["reserved"])
