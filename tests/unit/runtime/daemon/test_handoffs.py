"""People answer what they were given; a retry goes on with their note, and silence is a no."""

from __future__ import annotations

import math
from pathlib import Path

import anyio
import pytest

from runtime.model.base import Hear, Reply
from runtime.recovery.observe import RunScope, observe
from runtime.tools.base import ToolCall, ToolResult
from tests.unit.runtime.clocks import Standing
from tests.unit.runtime.daemon.running import Running, calls, running, says

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Waiting(Standing):
    """Who sleeps on it wakes when it is moved."""

    def __init__(self) -> None:
        super().__init__()
        self._moved = anyio.Event()

    async def sleep(self, seconds: float) -> None:
        until = self.passed + seconds
        while self.passed < until:
            await self._moved.wait()

    def advance(self, seconds: float) -> None:
        super().advance(seconds)
        moved, self._moved = self._moved, anyio.Event()
        moved.set()


async def given(agentd: Running, conversation: str) -> str:
    """A failure of a tool, given to a person."""
    tool = agentd.parts.registry.get("read_file")
    assert tool is not None
    result = ToolResult(error="read_file: secret.txt: Permission denied", exit_code=1)
    failed = observe(ToolCall("c1", "read_file", {"path": "secret.txt"}), tool, result)
    scope = RunScope(conversation)
    return (await agentd.parts.supervisor.handoffs.give(failed, scope, "not allowed")).id


async def begun(agentd: Running) -> str:
    body = {"kind": "project", "message": "read it"}
    made = str((await agentd.ask("POST", "/conversations", body))[1]["id"])
    await agentd.until(made, "done")
    return made


async def test_what_a_person_was_given_is_listed_with_its_evidence(tmp_path: Path):
    async with running(tmp_path, says("open: secret.txt")) as agentd:
        made = await begun(agentd)
        handoff = await given(agentd, made)
        _, said = await agentd.ask("GET", "/handoffs")
        [shown] = said["handoffs"]
        assert (shown["id"], shown["state"], shown["conversation"]) == (handoff, "open", made)
        assert (shown["class"], shown["tool"]) == ("permission_denied", "read_file")
        assert shown["evidence"]["arguments"] == {"path": "secret.txt"}
        _, found = await agentd.ask("GET", f"/conversations/{made}")
        assert [each["role"] for each in found["messages"]] == ["user", "assistant", "card"]


@pytest.mark.parametrize(("answer", "state"), [("approve", "approved"), ("reject", "rejected")])
async def test_an_answer_is_taken_once(tmp_path: Path, answer: str, state: str):
    async with running(tmp_path, says("open")) as agentd:
        made = await begun(agentd)
        handoff = await given(agentd, made)
        status, said = await agentd.ask(
            "POST", f"/handoffs/{handoff}/answer", {"answer": answer, "note": "because"}
        )
        assert (status, said["state"]) == (200, state)
        status, said = await agentd.ask("POST", f"/handoffs/{handoff}/answer", {"answer": "retry"})
        assert (status, said["error"]["code"]) == (409, "answered")
        [shown] = (await agentd.ask("GET", "/handoffs"))[1]["handoffs"]
        assert (shown["state"], shown["note"]) == (state, "because")
        assert len(agentd.model.shown) == 1


@pytest.mark.parametrize("note", ["I put it right.", ""])
async def test_a_retry_goes_on_with_the_note(tmp_path: Path, note: str):
    async with running(tmp_path, says("open"), says("read")) as agentd:
        made = await begun(agentd)
        handoff = await given(agentd, made)
        body = {"answer": "retry", "note": note}
        status, said = await agentd.ask("POST", f"/handoffs/{handoff}/answer", body)
        assert (status, said["conversation"]) == (200, made)
        found = await agentd.until(made, "done")
        assert found["messages"][-1]["content"]["text"] == "read"
        last = agentd.model.shown[-1][-1]
        assert (last.role, last.text) == ("user", note or "Try again what was handed to a person.")
        [shown] = (await agentd.ask("GET", "/handoffs"))[1]["handoffs"]
        assert shown["state"] == "retried"


async def test_a_note_that_comes_while_a_turn_runs_waits_for_its_end(tmp_path: Path):
    asked, going = anyio.Event(), anyio.Event()

    async def slowly(hear: Hear) -> Reply:
        asked.set()
        await going.wait()
        return calls("list_dir", path=".")

    answers = (slowly, says("open"), says("read"))
    async with running(tmp_path, *answers) as agentd:
        body = {"kind": "project", "message": "read it"}
        made = str((await agentd.ask("POST", "/conversations", body))[1]["id"])
        await asked.wait()
        handoff = await given(agentd, made)
        body = {"answer": "retry", "note": "mended"}
        status, said = await agentd.ask("POST", f"/handoffs/{handoff}/answer", body)
        assert (status, said["state"]) == (200, "retrying")
        going.set()
        with anyio.fail_after(30):
            while len(agentd.model.shown) < 3:
                await anyio.sleep(0.01)
        roles = [said.role for said in agentd.model.shown[-1]]
        assert roles == ["user", "assistant", "tool", "assistant", "user"]
        assert agentd.model.shown[-1][-1].text == "mended"
        await agentd.until(made, "done")


async def test_a_note_that_the_daemon_did_not_come_to_is_taken_up_at_its_next_start(tmp_path: Path):
    async with running(tmp_path, says("open")) as agentd:
        made = await begun(agentd)
        handoff = await given(agentd, made)
        await agentd.parts.supervisor.handoffs.answer(handoff, "retry", "mended")
    async with running(tmp_path, says("read")) as agentd:
        assert await agentd.parts.conversations.answered() == [made]
        await agentd.turns.answered(made)
        found = await agentd.until(made, "done")
        assert [each["role"] for each in found["messages"]][-2:] == ["user", "assistant"]


async def test_silence_is_recorded_as_silence_by_the_given_clock(tmp_path: Path):
    from runtime.daemon.server import LOOK, watch_silence

    clock = Waiting()
    settings = {"recovery": {"answer_within": 100}}
    async with running(tmp_path, says("open"), clock=clock, settings=settings) as agentd:
        made = await begun(agentd)
        handoff = await given(agentd, made)
        async with anyio.create_task_group() as group:
            group.start_soon(watch_silence, agentd.parts, agentd.stopping)
            await anyio.wait_all_tasks_blocked()
            for _ in range(math.ceil(100 / LOOK)):
                [shown] = (await agentd.ask("GET", "/handoffs"))[1]["handoffs"]
                assert shown["state"] == "open"
                clock.advance(LOOK)
                await anyio.wait_all_tasks_blocked()
            with anyio.fail_after(30):
                while (await agentd.ask("GET", "/handoffs"))[1]["handoffs"][0]["state"] == "open":
                    await anyio.sleep(0.01)
            group.cancel_scope.cancel()
        [shown] = (await agentd.ask("GET", "/handoffs"))[1]["handoffs"]
        assert (shown["state"], shown["answered"]) == ("silent", "2031-02-03T04:07:06+00:00")
        told = [each.data for each in await agentd.parts.events.since()][-1]
        assert told == {"handoff": handoff, "state": "silent"}
        status, _ = await agentd.ask("POST", f"/handoffs/{handoff}/answer", {"answer": "approve"})
        assert status == 409
