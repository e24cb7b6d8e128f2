"""A daemon's application in this process, with a model that says what a test tells it to."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import httpx2
from anyio.abc import TaskGroup

from runtime.clock import Clock
from runtime.daemon.app import application
from runtime.daemon.parts import Parts, assembled
from runtime.daemon.stopping import Stopping
from runtime.daemon.turns import Turns
from runtime.model.base import Asked, Hear, ModelError, Offer, Reply, Said

TOKEN = "a-token-of-the-tests-0123456789"
KEY = "sk-ant-api03-this-is-the-key-of-the-tests"

Answer = Reply | ModelError | Callable[[Hear], Awaitable[Reply]]


def says(text: str) -> Reply:
    return Reply(text, (), "end")


def calls(tool: str, **arguments: Any) -> Reply:
    return Reply("", (Asked("call-1", tool, arguments),), "calls")


@dataclass
class Model:
    """Says one answer after the other, and keeps what it was shown."""

    answers: list[Answer]
    shown: list[Sequence[Said]] = field(default_factory=list)

    async def get(self) -> Model:
        return self

    async def ask(
        self, system: str, conversation: Sequence[Said], tools: Sequence[Offer], hear: Hear
    ) -> Reply:
        self.shown.append(list(conversation))
        answer = self.answers.pop(0)
        if isinstance(answer, ModelError):
            raise answer
        if isinstance(answer, Reply):
            await hear(answer.text)
            return answer
        return await answer(hear)

    async def close(self) -> None:
        pass


@dataclass
class Running:
    parts: Parts
    turns: Turns
    stopping: Stopping
    client: httpx2.AsyncClient
    model: Model
    group: TaskGroup

    async def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        content = None if body is None else json.dumps(body)
        answer = await self.client.request(method, path, content=content)
        return answer.status_code, answer.json()

    async def until(self, conversation: str, *states: str) -> Any:
        with anyio.fail_after(30):
            while True:
                _, found = await self.ask("GET", f"/conversations/{conversation}")
                if found["state"] in states:
                    return found
                await anyio.sleep(0.01)


@asynccontextmanager
async def running(
    tmp_path: Path,
    *answers: Answer,
    clock: Clock | None = None,
    settings: Mapping[str, Any] | None = None,
    change: Callable[[Parts], None] = lambda parts: None,
) -> AsyncIterator[Running]:
    home, workspace = tmp_path / "home", tmp_path / "workspace"
    home.mkdir(exist_ok=True)
    workspace.mkdir(exist_ok=True)
    written = {"workspace": str(workspace), **(settings or {})}
    (home / "settings.yaml").write_text(json.dumps(written))
    keys = dict.fromkeys(("ANTHROPIC_API_KEY", "OPENAI_API_KEY"), KEY)
    environment = {"AGENTD_HOME": str(home), "PATH": "/usr/bin:/bin", **keys}
    async with assembled(environment, clock, known={"agentd-token": TOKEN}) as whole:
        model = Model(list(answers))
        # Without answers of its own, it asks the model that the settings name.
        parts = dataclasses.replace(whole, models=model) if answers else whole  # type: ignore[arg-type]
        change(parts)
        async with anyio.create_task_group() as group:
            stopping = Stopping()
            turns = Turns(parts, group, stopping)
            transport = httpx2.ASGITransport(
                application(parts, turns, stopping, TOKEN), raise_app_exceptions=False
            )
            headers = {"authorization": f"Bearer {TOKEN}"}
            async with httpx2.AsyncClient(
                transport=transport, base_url="http://agentd", headers=headers
            ) as client:
                yield Running(parts, turns, stopping, client, model, group)
            turns.end()
