"""The stream loses nothing, keeps its order, and says nothing that was not screened."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from sqlalchemy import insert

from runtime.events import Events
from runtime.store.store import Store
from runtime.store.tables import EVENTS
from tests.unit.runtime.clocks import Standing

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def masked(value: Any) -> Any:
    return {key: "[masked]" if item == "s3cret" else item for key, item in value.items()}


async def test_who_subscribes_hears_what_was_and_what_comes(store: Store):
    events = Events(store, Standing(), masked)
    heard: list[int] = []

    async def listen() -> None:
        async for event in events.follow():
            heard.append(event.data["n"])
            if len(heard) == 700:
                return

    rows = [events.row("counted", None, {"n": n}) for n in range(650)]
    await store.writing(lambda connection: connection.execute(insert(EVENTS), rows))
    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            group.start_soon(listen)
            for n in range(650, 700):
                await events.emit("counted", n=n)

    assert heard == list(range(700))


async def test_what_is_said_is_screened_and_stamped(store: Store):
    events = Events(store, Standing(), masked)

    await events.emit("said", "c1", password="s3cret", user="eve")

    [event] = await events.since()
    assert event.data == {"password": "[masked]", "user": "eve"}
    assert (event.kind, event.conversation, event.at) == ("said", "c1", 1_927_857_906_000_000)
