"""What the last end left neither mended nor given, a person gets at the next start; only that."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from runtime.events import Events
from runtime.recovery.budget import Budget, Reservation
from runtime.recovery.handoff import LOST, Handoffs
from runtime.recovery.observe import RunScope, record
from runtime.settings import RecoverySettings
from runtime.store.store import Store
from runtime.store.tables import HANDOFFS, MESSAGES, REGISTER
from tests.unit.runtime.clocks import Standing
from tests.unit.runtime.recovery.failures import failed

pytestmark = pytest.mark.anyio
ON = RecoverySettings.model_validate(
    {"act": True, "attempts": 2, "usd_per_run": 1, "usd_per_day": 1}
)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def same(value: object) -> object:
    return value


@pytest.mark.parametrize(
    ("owed", "outcome", "given"),
    [(True, None, 1), (True, "exit 7", 1), (True, "ok", 0), (False, None, 0)],
)
async def test_it_is_given_where_it_was_owed_and_no_attempt_worked(
    store: Store, owed: bool, outcome: str | None, given: int
):
    clock, scope, lost = Standing(), RunScope("c1"), failed(id="f1")
    budget = Budget(store, clock, ON)
    handoffs = Handoffs(store, clock, Events(store, clock, same), ON, same)
    with store.write() as connection:
        record(connection, lost, scope, clock, same, owed)
    if outcome:
        reserved = await budget.reserve(lost, scope)
        assert isinstance(reserved, Reservation)
        await budget.settle(reserved, outcome)

    assert await handoffs.give_lost() == given
    await handoffs.deliver()
    assert await handoffs.give_lost() == 0
    with store.read() as connection:
        rows = connection.execute(select(HANDOFFS)).all()
        assert [(row.failure, row.why, row.delivered) for row in rows] == [
            ("f1", LOST, True)
        ] * given
        assert len(connection.execute(select(REGISTER)).all()) == given
        assert [row.role for row in connection.execute(select(MESSAGES))] == ["card"] * given
