"""The API says what there is, refuses by name what is wrong, and tells nobody a secret."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import pytest

from runtime.model.base import Hear, Reply
from tests.unit.runtime.daemon.running import KEY, TOKEN, Running, calls, running, says

pytestmark = pytest.mark.anyio

PATHS = [
    ("GET", "/conversations"),
    ("POST", "/conversations"),
    ("GET", "/conversations/none"),
    ("POST", "/conversations/none/messages"),
    ("POST", "/conversations/none/interrupt"),
    ("GET", "/events"),
    ("GET", "/handoffs"),
    ("POST", "/handoffs/none/answer"),
    ("GET", "/tools"),
    ("GET", "/plugs"),
    ("POST", "/plugs"),
    ("DELETE", "/plugs/none"),
    ("POST", "/plugs/none/accept"),
    ("GET", "/failures"),
    ("POST", "/stop"),
    ("GET", "/nothing"),
]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def begun(agentd: Running, message: str = "go on", kind: str = "project") -> str:
    status, made = await agentd.ask("POST", "/conversations", {"kind": kind, "message": message})
    assert status == 201
    return str(made["id"])


async def test_nothing_but_health_is_told_without_the_token(tmp_path: Path):
    async with running(tmp_path) as agentd:
        for given in (None, "Bearer wrong", f"bearer {TOKEN}", f"Bearer {TOKEN} ", TOKEN, ""):
            agentd.client.headers.pop("authorization", None)
            if given is not None:
                agentd.client.headers["authorization"] = given
            for method, path in PATHS:
                status, said = await agentd.ask(method, path)
                assert (status, said["error"]["code"]) == (401, "unauthorized"), (given, path)
            assert await agentd.ask("GET", "/health") == (200, {"status": "ok"})
        assert not agentd.stopping.asked.is_set()


BAD: list[tuple[str, bytes, int, str | None]] = [
    ("/conversations", b"", 400, None),
    ("/conversations", b"{", 400, None),
    ("/conversations", b"[]", 400, None),
    ("/conversations", b'"text"', 400, None),
    ("/conversations", b"\xff\xfe", 400, None),
    ("/conversations", b"[" * 100_000, 400, None),
    ("/conversations", b'{"kind": "chat", "more": 1}', 422, "more"),
    ("/conversations", b'{"kind": "other"}', 422, "kind"),
    ("/conversations", b'{"message": 3}', 422, "message"),
    ("/conversations", b'{"message": "  "}', 422, "message"),
    ("/conversations", b'{"message": "' + b"x" * (1 << 18) + b'"}', 413, None),
    ("/conversations/{id}/messages", b"{}", 422, "text"),
    ("/conversations/{id}/messages", b'{"text": null}', 422, "text"),
    ("/conversations/{id}/messages", b'{"text": "\\n"}', 422, "text"),
    ("/conversations/none/messages", b'{"text": "x"}', 404, None),
    ("/conversations/{id}/interrupt", b"", 409, None),
    ("/handoffs/none/answer", b'{"answer": "maybe"}', 422, "answer"),
    ("/handoffs/none/answer", b'{"answer": "retry", "note": 1}', 422, "note"),
    ("/handoffs/none/answer", b'{"answer": "retry"}', 404, None),
    ("/events", b"", 405, None),
    ("/nothing", b"", 404, None),
]


async def test_what_is_wrong_is_refused_by_the_name_of_its_field(tmp_path: Path):
    async with running(tmp_path) as agentd:
        _, made = await agentd.ask("POST", "/conversations", {})
        for path, body, status, field in BAD:
            answer = await agentd.client.post(path.format(id=made["id"]), content=body)
            error = answer.json()["error"]
            assert (answer.status_code, error["field"]) == (status, field), (path, body[:40])
            assert set(error) == {"code", "message", "field"}
            assert error["message"]
        for query in ("after=x", "after=-1", "after=1e3", "after=" + "9" * 30):
            status, said = await agentd.ask("GET", f"/events?{query}")
            assert (status, said["error"]["field"]) == (422, "after")
        _, listed = await agentd.ask("GET", "/conversations")
        assert [each["state"] for each in listed["conversations"]] == ["open"]


async def test_a_turn_runs_in_the_background_and_only_one_at_a_time(tmp_path: Path):
    going = anyio.Event()

    async def slowly(hear: Hear) -> Reply:
        await going.wait()
        return says("first")

    async with running(tmp_path, slowly, says("second")) as agentd:
        made = await begun(agentd, kind="chat")
        status, said = await agentd.ask("POST", f"/conversations/{made}/messages", {"text": "x"})
        assert (status, said["error"]["code"]) == (409, "running")
        going.set()
        found = await agentd.until(made, "done")
        assert [each["content"]["text"] for each in found["messages"]] == ["go on", "first"]

        status, _ = await agentd.ask("POST", f"/conversations/{made}/messages", {"text": "more"})
        assert status == 202
        found = await agentd.until(made, "done")
        texts = [each["content"]["text"] for each in found["messages"]]
        assert texts == ["go on", "first", "more", "second"]
        assert [each["position"] for each in found["messages"]] == [0, 1, 2, 3]


async def test_a_turn_can_be_interrupted_and_the_conversation_goes_on(tmp_path: Path):
    asked = anyio.Event()

    async def for_ever(hear: Hear) -> Reply:
        asked.set()
        await anyio.sleep_forever()
        raise AssertionError

    async with running(tmp_path, for_ever, says("back")) as agentd:
        made = await begun(agentd)
        await asked.wait()
        assert (await agentd.ask("POST", f"/conversations/{made}/interrupt"))[0] == 202
        await agentd.until(made, "interrupted")
        await agentd.ask("POST", f"/conversations/{made}/messages", {"text": "again"})
        await agentd.until(made, "done")
        ended = [each for each in await agentd.parts.events.since() if each.kind == "turn.ended"]
        assert [each.data["state"] for each in ended] == ["interrupted", "done"]


async def test_no_answer_holds_a_secret(tmp_path: Path):
    secret = "ghp_" + "Ab1" * 12
    spoken = Reply(f"the key is {KEY}", (), "end")
    call = calls("read_file", path=secret)
    async with running(tmp_path, call, spoken, settings={"recovery": {"observe": True}}) as agentd:
        made = await begun(agentd, f"use {secret} and {TOKEN}")
        await agentd.until(made, "done")
        paths = (f"/conversations/{made}", "/failures", "/handoffs", "/tools", f"/{secret}")
        heard = [(await agentd.client.get(path)).text for path in paths]
        body = json.dumps({"kind": TOKEN, secret: KEY})
        heard.append((await agentd.client.post("/conversations", content=body)).text)
        heard.append(json.dumps([each.data for each in await agentd.parts.events.since()]))
        for told in heard:
            assert not [each for each in (secret, TOKEN, KEY) if each in told], told
        assert "[redacted:" in heard[0]
        assert len(json.loads(heard[1])["failures"]) == 1


async def test_what_breaks_inside_is_told_without_its_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    async def broken(*words: Any) -> Any:
        raise RuntimeError(f"with {KEY}")

    async with running(tmp_path) as agentd:
        monkeypatch.setattr(type(agentd.parts.conversations), "all", broken)
        status, said = await agentd.ask("GET", "/conversations")
        assert (status, said["error"]["code"]) == (500, "internal")
        assert said["error"]["message"].startswith("RuntimeError: with ")
        assert KEY not in said["error"]["message"]


async def test_the_tools_are_told_with_their_marks(tmp_path: Path):
    async with running(tmp_path, settings={"tools": {"disabled": ["run"]}}) as agentd:
        _, said = await agentd.ask("GET", "/tools")
        tools = {each["name"]: each for each in said["tools"]}
        assert tools["read_file"]["read_only"]
        assert tools["read_file"]["schema"]["type"] == "object"
        assert tools["read_file"]["offered"]
        assert set(tools) == {each.name for each in agentd.parts.registry}


async def test_stop_asks_the_daemon_to_end(tmp_path: Path):
    async with running(tmp_path) as agentd:
        assert await agentd.ask("POST", "/stop") == (202, {"status": "stopping"})
        assert agentd.stopping.asked.is_set()
        assert agentd.stopping.error is None
