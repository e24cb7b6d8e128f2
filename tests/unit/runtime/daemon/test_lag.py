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
from sandboxes import clock
from tests.unit.runtime.daemon.running import running, says

pytestmark = pytest.mark.anyio
COMMIT = 0.3
FAILURES = 3


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def slow(parts: Parts) -> None:
    """Let each commit of the store take as long as a bad disk would."""
    commits = threading.Event()

    def commit(connection: Any) -> None:
        if not connection.get_execution_options().get("agentd_reading"):
            commits.wait(COMMIT)

    event.listen(parts.store.engine, "commit", commit)


async def test_failures_on_a_slow_disk_do_not_hold_up_the_loop(tmp_path: Path):
    lags: list[float] = []

    async def beat() -> None:
        while True:
            before = clock.monotonic()
            await anyio.sleep(0.005)
            lags.append(clock.monotonic() - before - 0.005)

    failing = tuple(
        Asked(f"c{number}", "read_file", {"path": f"none-{number}"}) for number in range(FAILURES)
    )
    answers = (Reply("", failing, "calls"), says("all failed"))
    settings = {"recovery": {"observe": True}}
    async with running(tmp_path, *answers, settings=settings, change=slow) as agentd:
        async with anyio.create_task_group() as group:
            group.start_soon(beat)
            body = {"kind": "project", "message": "read them"}
            _, made = await agentd.ask("POST", "/conversations", body)
            began = clock.monotonic()
            assert (await agentd.ask("GET", "/health"))[0] == 200
            assert clock.monotonic() - began < COMMIT
            await agentd.until(made["id"], "done")
            group.cancel_scope.cancel()
        _, said = await agentd.ask("GET", "/failures")
        assert len(said["failures"]) == FAILURES
    assert max(lags) < COMMIT / 2
