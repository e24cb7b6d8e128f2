"""Works that wait are committed together, and each of them has its own end."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import anyio
import pytest
from sqlalchemy import Connection, text

from runtime.clock import SystemClock
from runtime.events import Events
from runtime.store.store import Store
from runtime.store.together import Together

pytestmark = pytest.mark.anyio
GO_ON = 30


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Counted:
    """A store's transactions, counted; the first waits until it may go on."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.begun = 0
        self.go_on = threading.Event()

    @contextmanager
    def write(self) -> Iterator[Connection]:
        self.begun += 1
        if self.begun == 1:
            assert self.go_on.wait(GO_ON)
        with self._store.write() as connection:
            yield connection


def adds(number: int) -> Callable[[Connection], int]:
    def work(connection: Connection) -> int:
        statement = "INSERT INTO events (at, kind, data) VALUES (:number, 'x', '{}')"
        connection.execute(text(statement), {"number": number})
        return number

    return work


def fails(connection: Connection) -> int:
    adds(99)(connection)
    raise RuntimeError("no")


def written(store: Store) -> list[int]:
    with store.read() as connection:
        return list(connection.execute(text("SELECT at FROM events ORDER BY id")).scalars())


async def test_what_waits_for_one_commit_shares_the_next_in_the_order_it_came(store: Store):
    counted, found = Counted(store), list[int]()
    together = Together(counted.write)

    async def take(number: int) -> None:
        found.append(await together.carry_out(adds(number)))

    async with anyio.create_task_group() as group:
        group.start_soon(take, 0)
        await anyio.wait_all_tasks_blocked()
        for number in range(1, 6):
            group.start_soon(take, number)
        await anyio.wait_all_tasks_blocked()
        counted.go_on.set()

    assert (written(store), sorted(found), counted.begun) == (list(range(6)), list(range(6)), 2)


async def test_one_that_fails_undoes_none_of_those_it_came_with(store: Store):
    counted, errors = Counted(store), list[str]()
    together = Together(counted.write)

    async def broken() -> None:
        try:
            await together.carry_out(fails)
        except RuntimeError as error:
            errors.append(str(error))

    async with anyio.create_task_group() as group:
        group.start_soon(together.carry_out, adds(0))
        await anyio.wait_all_tasks_blocked()
        group.start_soon(together.carry_out, adds(1))
        group.start_soon(broken)
        group.start_soon(together.carry_out, adds(2))
        await anyio.wait_all_tasks_blocked()
        counted.go_on.set()

    assert (written(store), errors) == ([0, 1, 2], ["no"])


async def test_what_is_cancelled_while_it_waits_is_not_carried_out(store: Store):
    counted = Counted(store)
    together = Together(counted.write)
    async with anyio.create_task_group() as group:
        group.start_soon(together.carry_out, adds(0))
        await anyio.wait_all_tasks_blocked()
        with anyio.move_on_after(0.01) as scope:
            await together.carry_out(adds(1))
        counted.go_on.set()
    assert scope.cancelled_caught
    assert await together.carry_out(adds(2)) == 2
    assert written(store) == [0, 2]


async def test_what_is_cancelled_while_it_is_carried_out_is_waited_for(store: Store):
    counted, found = Counted(store), list[int]()
    together = Together(counted.write)
    with anyio.CancelScope() as outer:
        async with anyio.create_task_group() as group:

            async def take(number: int) -> None:
                found.append(await together.carry_out(adds(number)))

            group.start_soon(take, 0)
            await anyio.wait_all_tasks_blocked()
            outer.cancel()
            threading.Timer(0.01, counted.go_on.set).start()
    assert (written(store), found) == ([0], [0])


async def test_events_that_are_emitted_at_once_are_all_there(store: Store):
    events = Events(store, SystemClock(), lambda value: value)
    async with anyio.create_task_group() as group:
        for number in range(20):
            group.start_soon(events.emit, f"k{number}")
    assert len(written(store)) == 20
