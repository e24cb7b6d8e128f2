"""Whatever the disk does, the event loop goes on."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import anyio
import pytest
from sqlalchemy import event

from runtime.daemon.parts import Parts
from runtime.model.base import Asked, Reply
from tests.unit.runtime.daemon.running import running, says

pytestmark = pytest.mark.anyio
FAILURES = 3


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Disk:
    """A disk that holds each commit of the store up until it is let go."""

    def __init__(self) -> None:
        self.held = threading.Event()
        self.let_go = threading.Event()
        self.threads: set[int] = set()

    def slow(self, parts: Parts) -> None:
        event.listen(parts.store.engine, "commit", self._commit)

    def _commit(self, connection: Any) -> None:
        if not connection.get_execution_options().get("agentd_reading"):
            self.threads.add(threading.get_ident())
            self.held.set()
            assert self.let_go.wait(30)


async def test_failures_on_a_slow_disk_do_not_hold_up_the_loop(tmp_path: Path):
    disk = Disk()
    failing = tuple(
        Asked(f"c{number}", "read_file", {"path": f"none-{number}"}) for number in range(FAILURES)
    )
    answers = (Reply("", failing, "calls"), says("all failed"))
    settings = {"recovery": {"observe": True}}
    async with running(tmp_path, *answers, settings=settings, change=disk.slow) as agentd:
        made: dict[str, Any] = {}

        async def begin() -> None:
            body = {"kind": "project", "message": "read them"}
            made.update((await agentd.ask("POST", "/conversations", body))[1])

        async with anyio.create_task_group() as group:
            group.start_soon(begin)
            assert await anyio.to_thread.run_sync(disk.held.wait, 30)
            assert (await agentd.ask("GET", "/health"))[0] == 200
            assert not made
            disk.let_go.set()
        await agentd.until(made["id"], "done")
        _, said = await agentd.ask("GET", "/failures")
        assert len(said["failures"]) == FAILURES
    assert threading.get_ident() not in disk.threads
