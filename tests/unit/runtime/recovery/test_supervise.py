"""A failure is mended within every limit, or a person gets it: never anything else."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import anyio
import pytest
from sqlalchemy import Table, select

from runtime.events import Events
from runtime.recovery.observe import RunScope
from runtime.recovery.supervise import Supervisor
from runtime.screen.screen import Screen
from runtime.settings import RecoverySettings, Settings
from runtime.store.engine import url_of
from runtime.store.store import Store, open_store
from runtime.store.tables import ATTEMPTS, FAILURES, HANDOFFS, MESSAGES, REGISTER
from runtime.tools.base import Arguments, Context, Tool, ToolCall, ToolResult
from tests.unit.runtime.clocks import Standing

pytestmark = pytest.mark.anyio
ON = {
    "act": True,
    "attempts": 2,
    "usd_per_run": Decimal(1),
    "usd_per_day": Decimal(1),
}
RESET = ToolResult(error="read: connection reset by peer", exit_code=7)
OK = ToolResult("42\n")
RUN = RunScope("c1")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def server() -> Iterator[str]:
    """Somebody who takes connections, as the check before a retry wants to see."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/"


@dataclass
class Bench:
    """A supervisor with one tool, which gives one result after the other."""

    store: Store
    supervisor: Supervisor
    clock: Standing
    context: Context
    switch: Path
    url: str
    calls: list[Arguments] = field(default_factory=list)

    async def call(
        self,
        *results: ToolResult,
        name: str = "http_get",
        scope: RunScope = RUN,
        arguments: Mapping[str, Any] | None = None,
        **tool: Any,
    ) -> ToolResult:
        left = list(results)

        async def run(given: Arguments, context: Context) -> ToolResult:
            self.calls.append(given)
            found = left.pop(0)
            return ToolResult(
                found.output, found.error, found.exit_code, data={"url": self.url, **found.data}
            )

        fields = {"read_only": True, "idempotent": True, "price": Decimal("0.01"), **tool}
        schema = fields.pop("schema", {"type": "object"})
        made = Tool(name, fields.pop("family", "net"), "A tool.", schema, run, **fields)
        call = ToolCall("call-1", name, arguments or {})
        async with anyio.create_task_group() as group:
            found = await self.supervisor.call(made, call, self.context, scope, group)
        return found  # noqa: RET504 - a task group might end without it

    def rows(self, table: Table) -> Sequence[Mapping[str, Any]]:
        with self.store.read() as connection:
            return [dict(row) for row in connection.execute(select(table)).mappings()]

    def spent(self) -> list[tuple[str, int | None]]:
        return [(row["state"], row["settled_micro_usd"]) for row in self.rows(ATTEMPTS)]


class Made:
    def __init__(self, tmp_path: Path, url: str) -> None:
        self._tmp_path = tmp_path
        self._url = url
        self._stores: list[Store] = []

    def __call__(self, **changed: Any) -> Bench:
        settings = RecoverySettings(**{**ON, **changed})
        store = open_store(url_of(self._tmp_path / "agentd.db"))
        self._stores.append(store)
        clock, screen = Standing(), Screen()
        events = Events(store, clock, screen.value)
        switch = self._tmp_path / "RESILIENCE_ACT_OFF"
        supervisor = Supervisor(store, clock, events, settings, screen.value, switch)
        context = Context(self._tmp_path, clock, Settings(recovery=settings), {"PATH": "/usr/bin"})
        return Bench(store, supervisor, clock, context, switch, self._url)

    def close(self) -> None:
        for store in self._stores:
            store.close()


@pytest.fixture
async def bench(tmp_path: Path, server: str) -> AsyncIterator[Made]:
    made = Made(tmp_path, server)
    yield made
    made.close()


async def test_a_safe_retry_is_made_once_and_paid(bench: Made):
    made = bench()

    result = await made.call(RESET, OK)

    assert (result.output, result.exit_code) == ("42\n", 0)
    assert "worked when tried again" in result.note
    assert made.spent() == [("settled", 10_000)]
    assert made.clock.slept == [0.5]
    assert made.rows(HANDOFFS) == []


@pytest.mark.parametrize(
    "missing",
    [
        {"act": False},
        {"attempts": 0},
        {"usd_per_run": Decimal(0)},
        {"usd_per_day": Decimal(0)},
    ],
    ids=lambda missing: next(iter(missing)),
)
async def test_nothing_is_done_until_all_is_switched_on_and_funded(
    bench: Made, missing: dict[str, Any]
):
    made = bench(**missing)

    result = await made.call(RESET, OK)

    assert (result.error, result.exit_code, result.note) == (RESET.error, 7, "")
    assert len(made.calls) == 1
    assert made.rows(FAILURES) == made.rows(HANDOFFS) == made.rows(ATTEMPTS) == []


async def test_what_is_only_observed_is_recorded_and_not_changed(bench: Made):
    made = bench(act=False, observe=True)

    result = await made.call(RESET, OK)

    assert (result.error, result.note) == (RESET.error, "")
    assert [row["class"] for row in made.rows(FAILURES)] == ["network"]
    assert made.rows(HANDOFFS) == made.rows(ATTEMPTS) == []


@pytest.mark.parametrize("scope", [RunScope("c1", "chat"), RunScope("c1", "project", True)])
async def test_chats_and_native_models_only_observe(bench: Made, scope: RunScope):
    made = bench(observe=True)

    await made.call(RESET, OK, scope=scope)

    assert len(made.calls) == 1
    assert len(made.rows(FAILURES)) == 1
    assert made.rows(HANDOFFS) == []


async def test_chats_act_where_the_user_said_so(bench: Made):
    made = bench(in_chats=True)

    assert (await made.call(RESET, OK, scope=RunScope("c1", "chat"))).ok


@pytest.mark.parametrize(
    ("tool", "why"),
    [
        ({"name": "http_post"}, "not one of the tools"),
        ({"read_only": False}, "not one of the tools"),
        ({"price": None}, "nobody stated a price"),
    ],
)
async def test_what_may_not_be_tried_goes_to_a_person(bench: Made, tool: dict[str, Any], why: str):
    made = bench()

    result = await made.call(RESET, OK, **tool)

    [handoff] = made.rows(HANDOFFS)
    assert why in handoff["why"]
    assert handoff["id"] in result.note
    assert len(made.calls) == 1


@pytest.mark.parametrize(
    ("error", "cls"),
    [
        ("HTTP 401 Unauthorized: invalid token", "auth"),
        ("bind: address already in use", "port_conflict"),
        ("", "unknown"),
    ],
)
async def test_what_must_be_handed_over_is_not_retried(bench: Made, error: str, cls: str):
    made = bench()

    await made.call(ToolResult(error=error, exit_code=42), OK)

    assert [row["class"] for row in made.rows(FAILURES)] == [cls]
    assert len(made.rows(HANDOFFS)) == len(made.calls) == 1
    assert made.rows(ATTEMPTS) == []


async def test_attempts_end_at_their_limit(bench: Made):
    made = bench()

    result = await made.call(RESET, RESET, RESET, OK)

    assert not result.ok
    assert made.spent() == [("settled", 10_000)] * 2
    assert "2 attempts were made" in made.rows(HANDOFFS)[0]["why"]


async def test_the_server_s_delay_is_kept_and_the_deadline_too(bench: Made):
    made = bench()
    busy = {"status": 429}
    soon = ToolResult(
        error="429 Too Many Requests", exit_code=22, data={**busy, "retry_after": "2"}
    )
    late = ToolResult(
        error="429 Too Many Requests", exit_code=22, data={**busy, "retry_after": "120"}
    )

    assert (await made.call(soon, OK)).ok
    assert made.clock.slept == [2.0]
    assert not (await made.call(late, OK)).ok
    assert made.clock.slept == [2.0]
    assert "wait 120 s, which is beyond the deadline" in made.rows(HANDOFFS)[0]["why"]


async def test_the_kill_switch_stops_before_the_next_attempt(bench: Made):
    made = bench()
    made.switch.symlink_to("nowhere")

    await made.call(RESET, OK)

    assert len(made.calls) == 1
    assert "kill switch" in made.rows(HANDOFFS)[0]["why"]


async def test_a_kill_switch_that_comes_between_reserving_and_trying_stops_too(
    bench: Made, monkeypatch: pytest.MonkeyPatch
):
    made = bench()
    reserve = made.supervisor.budget.reserve

    async def reserve_then_trip(*given: Any) -> Any:
        found = await reserve(*given)
        made.switch.touch()
        return found

    monkeypatch.setattr(made.supervisor.budget, "reserve", reserve_then_trip)

    await made.call(RESET, OK)

    assert len(made.calls) == 1
    assert made.spent() == [("released", 0)]


async def test_what_cannot_be_verified_is_not_tried(bench: Made):
    made = bench()
    made.url = "http://127.0.0.1:1/"

    await made.call(RESET, OK)

    assert len(made.calls) == 1
    assert "does not hold: 127.0.0.1:1 takes no connection" in made.rows(HANDOFFS)[0]["why"]


async def test_a_path_is_put_right_and_nothing_else_is_changed(bench: Made, tmp_path: Path):
    made = bench()
    (tmp_path / "Report.txt").touch()
    schema = {
        "type": "object",
        "properties": {"path": {"type": "string", "format": "path"}, "lines": {"type": "integer"}},
    }
    missing = ToolResult(error="report.txt: No such file or directory", exit_code=1)

    given = {"path": "report.txt", "lines": 3}
    await made.call(missing, OK, name="read_file", schema=schema, arguments=given)

    assert made.calls == [given, {"path": "Report.txt", "lines": 3}]


async def test_a_hand_off_reaches_each_place_though_another_refuses(
    bench: Made, monkeypatch: pytest.MonkeyPatch
):
    made = bench(attempts=1)
    handoffs = made.supervisor.handoffs
    working = handoffs.to_register

    def refuse(*given: Any) -> None:
        raise ConnectionError("the register is away")

    monkeypatch.setattr(handoffs, "sinks", {"register": refuse, "card": handoffs.to_card})
    result = await made.call(RESET, RESET)

    assert made.rows(HANDOFFS)[0]["id"] in result.note
    assert [row["role"] for row in made.rows(MESSAGES)] == ["card"]
    assert made.rows(REGISTER) == []

    monkeypatch.setattr(handoffs, "sinks", {"register": working, "card": handoffs.to_card})
    await handoffs.deliver()
    assert [row["key"] for row in made.rows(REGISTER)] == [
        f"handoff/{made.rows(HANDOFFS)[0]['id']}"
    ]
    assert [row["role"] for row in made.rows(MESSAGES)] == ["card"]
    assert made.rows(HANDOFFS)[0]["delivered"] is True


async def test_evidence_is_for_people_and_in_no_transcript(bench: Made):
    made = bench()
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    said = f"fatal: {key} was refused: line of evidence"

    result = await made.call(ToolResult(error=said, exit_code=128), name="git_push")

    evidence = made.rows(FAILURES)[0]["evidence"]
    assert "line of evidence" in evidence["error"]
    shown = f"{made.rows(MESSAGES)}{made.rows(REGISTER)}{made.rows(HANDOFFS)}{result.note}"
    assert "line of evidence" not in shown
    assert key not in f"{evidence}{shown}"


async def test_a_call_that_works_around_a_hand_off_is_refused(bench: Made):
    made = bench()
    denied = ToolResult(error="cat: x: Permission denied", exit_code=1)
    await made.call(denied, name="cat", read_only=False, family="shell")
    shell: dict[str, Any] = {"name": "run", "read_only": False, "family": "shell"}

    refused = await made.call(OK, arguments={"command": "SuDo cat x"}, **shell)
    allowed = await made.call(OK, arguments={"command": "make test"}, **shell)
    elsewhere = await made.call(
        OK, arguments={"command": "sudo cat x"}, scope=RunScope("c2"), **shell
    )

    assert (refused.exit_code, len(made.calls)) == (126, 3)
    assert made.rows(HANDOFFS)[0]["id"] in refused.note
    assert allowed.ok
    assert elsewhere.ok


@pytest.mark.parametrize(
    ("answer", "free"), [("approve", True), ("retry", True), ("reject", False)]
)
async def test_a_person_s_answer_counts_once(bench: Made, answer: str, free: bool):
    made = bench()
    await made.call(ToolResult(exit_code=42))
    handoffs = made.supervisor.handoffs
    [row] = made.rows(HANDOFFS)

    assert await handoffs.answer(row["id"], answer, "go on") is not None
    assert await handoffs.answer(row["id"], "approve") is None
    assert bool(await handoffs.open_in("c1")) is not free


async def test_silence_is_a_no_and_recorded_as_silence(bench: Made):
    made = bench(answer_within=60)
    await made.call(ToolResult(exit_code=42))
    made.clock.advance(60)

    [row] = made.rows(HANDOFFS)
    assert await made.supervisor.handoffs.answer(row["id"], "approve") is None
    assert made.rows(HANDOFFS)[0]["state"] == "silent"
    assert len(await made.supervisor.handoffs.open_in("c1")) == 1


async def test_arguments_of_another_type_are_put_right_by_the_one_change_allowed(bench: Made):
    made = bench()
    schema = {"type": "object", "properties": {"lines": {"type": "integer"}}}

    result = await made.call(OK, arguments={"lines": "2"}, schema=schema)

    assert result.ok
    assert made.calls == [{"lines": 2}]
    assert [row["class"] for row in made.rows(FAILURES)] == ["bad_arguments"]


async def test_arguments_that_cannot_be_put_right_go_to_a_person(bench: Made):
    made = bench()
    schema = {"type": "object", "properties": {"lines": {"type": "integer"}}}

    result = await made.call(OK, arguments={"lines": "two"}, schema=schema)

    assert "lines: 'two' is not of type 'integer'" in result.error
    assert made.calls == []
    assert len(made.rows(HANDOFFS)) == 1
