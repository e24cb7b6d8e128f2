"""Whatever a model sends, the turn ends honestly, nothing half is carried out, and it can go on."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from harness.case.model import Call, ScriptStep
from runtime.model.base import Said
from tests.functional.model.conftest import Serve, Served
from tests.unit.runtime.daemon.running import Running, running

pytestmark = pytest.mark.anyio

PROTOCOLS = {"anthropic": "", "openai-chat": "/v1", "openai-responses": "/v1"}
SCRIPT = (
    ScriptStep(
        say="Writing now, a word or two.", calls=[Call("call", "run", {"command": "echo x >> ran"})]
    ),
    ScriptStep(say="It is written."),
    ScriptStep(say="And further."),
)
STATUS = "model.status"
SILENT = ("model.hang", "model.stall")

#: Each fault with its parameters, what is said of it, and how often the call is carried out.
ENDING: Sequence[tuple[str, Mapping[str, Any], str]] = [
    ("model.empty", {}, "the model said nothing"),
    ("model.refusal", {}, "the model refused"),
    ("model.truncate", {"after_events": 2}, "cut off"),
    ("model.truncate", {"after_bytes": 150}, "cut off"),
    ("model.truncate", {"in_tool_call": True, "end": "close"}, ""),
    ("model.clean-end", {}, "ended before its end"),
    ("model.stream-error", {}, "broke off"),
    ("model.stream-error", {"after_events": 0}, ""),
    ("model.malformed-json", {}, "cannot be read"),
    ("model.wrong-content-type", {}, "ended before its end"),
    ("model.invalid-unicode", {}, "cannot be read"),
    ("model.over-long", {"size": 1 << 20}, "longer than"),
    ("model.reset", {}, "could not be reached"),
    ("model.hang", {}, "in time"),
    ("model.stall", {}, "cut off"),
    ("model.context-overflow", {}, "refused the request (400)"),
    (STATUS, {"status": 401}, "refused the key (401)"),
    (STATUS, {"status": 429, "headers": {"Retry-After": "1"}}, "asks to wait (429)"),
    (STATUS, {"status": 500}, "failed (500)"),
]
#: What the model is told of, and goes on from.
GOING: Sequence[tuple[str, str]] = [
    ("model.unknown-tool", "there is no tool"),
    ("model.malformed-arguments", "bad arguments: the arguments are no JSON"),
    ("model.duplicate-tool-id", ""),
    ("model.missing-usage", ""),
]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(params=list(PROTOCOLS))
def protocol(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def settings(served: Served, protocol: str, **more: Any) -> dict[str, Any]:
    base_url = f"{served.url}{PROTOCOLS[protocol]}"
    model = {"protocol": protocol, "base_url": base_url, "retries": 0, "timeout": 20, **more}
    return {"model": model}


async def turn(agentd: Running, made: str | None = None) -> tuple[str, Any, Any]:
    """A turn, to its end: the conversation, what it says of itself, and its last event."""
    if made is None:
        body = {"kind": "project", "message": "write it"}
        made = str((await agentd.ask("POST", "/conversations", body))[1]["id"])
    else:
        path = f"/conversations/{made}/messages"
        assert (await agentd.ask("POST", path, {"text": "further"}))[0] == 202
    found = await agentd.until(made, "done", "failed")
    [*_, event] = [each for each in await agentd.parts.events.since() if each.kind == "turn.ended"]
    return made, found, event.data


def ran(tmp_path: Path) -> int:
    path = tmp_path / "workspace" / "ran"
    return len(path.read_text().splitlines()) if path.exists() else 0


async def check(agentd: Running, conversation: str) -> Sequence[Said]:
    """Every call has an id of its own, and exactly one answer, right behind it."""
    said = await agentd.parts.conversations.said(conversation)
    waiting: list[str] = []
    seen: set[str] = set()
    for entry in said:
        if entry.role == "tool":
            assert entry.call in waiting
            waiting.remove(entry.call)
        else:
            assert waiting == []
            waiting = [call.id for call in entry.calls]
            assert not seen & set(waiting)
            assert len(set(waiting)) == len(waiting)
            seen |= set(waiting)
    assert waiting == []
    return said


@pytest.mark.parametrize(
    ("fault", "params", "why"), ENDING, ids=[f"{each[0]}-{i}" for i, each in enumerate(ENDING)]
)
async def test_a_turn_that_got_no_whole_reply_is_not_done_and_can_be_gone_on_with(
    serve: Serve, tmp_path: Path, protocol: str, fault: str, params: Any, why: str
):
    served = serve(SCRIPT)
    served.fault(fault, params)
    patience = {"timeout": 1} if fault in SILENT else {}
    async with running(tmp_path, settings=settings(served, protocol, **patience)) as agentd:
        made, found, ended = await turn(agentd)
        assert (found["state"], ended["done"]) == ("failed", False)
        assert why in ended["why"]
        assert ended["why"]
        assert ran(tmp_path) == 0
        assert "tool" not in [each["role"] for each in found["messages"]]

        _, found, ended = await turn(agentd, made)
        assert (found["state"], ended["done"]) == ("done", True), ended
        await check(agentd, made)


@pytest.mark.parametrize(("fault", "told"), GOING)
async def test_what_is_wrong_with_a_call_is_told_to_the_model_which_goes_on(
    serve: Serve, tmp_path: Path, protocol: str, fault: str, told: str
):
    served = serve(SCRIPT)
    served.fault(fault, times=2 if fault == "model.duplicate-tool-id" else 1)
    async with running(tmp_path, settings=settings(served, protocol)) as agentd:
        made, found, _ = await turn(agentd)
        assert found["state"] == "done"
        tools = [each["content"] for each in found["messages"] if each["role"] == "tool"]
        assert [each["failed"] for each in tools] == [bool(told)] * len(tools)
        assert told in json.dumps(tools)
        assert ran(tmp_path) == (0 if told else len(tools))
        _, found, _ = await turn(agentd, made)
        assert found["state"] == "done"
        await check(agentd, made)


@pytest.mark.parametrize("fault", ["model.clean-end", "model.stream-error", "model.reset"])
async def test_a_reply_that_broke_off_is_asked_for_again(
    serve: Serve, tmp_path: Path, protocol: str, fault: str
):
    served = serve(SCRIPT)
    served.fault(fault)
    async with running(tmp_path, settings=settings(served, protocol, retries=1)) as agentd:
        made, found, _ = await turn(agentd)
        assert (found["state"], ran(tmp_path)) == ("done", 1)
        await check(agentd, made)


async def test_the_same_call_for_ever_ends_the_turn(serve: Serve, tmp_path: Path, protocol: str):
    served = serve([ScriptStep(calls=[Call("call", "which", {"program": "sh"})]), *SCRIPT[2:]])
    served.fault("model.same-call", times=None)
    async with running(tmp_path, settings=settings(served, protocol)) as agentd:
        made, found, ended = await turn(agentd)
        assert (found["state"], ended["done"]) == ("failed", False)
        assert ended["why"] == (
            "the model made the same call 10 times, and was told the same each time"
        )
        await check(agentd, made)
