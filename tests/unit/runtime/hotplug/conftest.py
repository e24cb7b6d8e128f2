"""A daemon's plugs, without the daemon."""

from __future__ import annotations

import contextlib
import os
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import anyio
import pytest

from runtime.events import Event, Events
from runtime.screen.screen import Screen
from runtime.settings import Settings, ToolSettings
from runtime.store.engine import url_of
from runtime.store.store import Store, open_store
from runtime.tools.base import Context, Tool, ToolCall, ToolResult
from runtime.tools.calling import call_tool
from runtime.tools.hotplug.plugs import Plugs
from runtime.tools.registry import Registry
from tests.unit.runtime.clocks import Standing

ENVIRONMENT = {"PATH": os.environ["PATH"], "ANTHROPIC_API_KEY": "not-for-plugs", "WANTED": "yes"}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Quick(Standing):
    """Waits of any length take a moment, in which others run."""

    async def sleep(self, seconds: float) -> None:
        await super().sleep(seconds)
        await anyio.sleep(0.005)


class Bench:
    """Plugs, and what is around them."""

    def __init__(self, store: Store, workspace: Path, seconds: float) -> None:
        self.store = store
        self.clock = Quick()
        settings = Settings(tools=ToolSettings(seconds=seconds))
        self.context = Context(workspace, self.clock, settings, {"PATH": os.environ["PATH"]})
        self.registry = Registry([core("stat"), core("read_file")])
        screen = Screen({"TOKEN": "planted-secret-0123456789"}).value
        self.events = Events(store, self.clock, screen)
        self.plugs = Plugs(store, self.events, self.registry, self.context, ENVIRONMENT, screen)

    async def call(self, name: str, **arguments: Any) -> ToolResult:
        return await self.call_within(self.context.settings.tools.seconds, name, **arguments)

    async def call_within(self, seconds: float, name: str, **arguments: Any) -> ToolResult:
        """Call a tool that has so many seconds."""
        context = replace(self.context, settings=Settings(tools=ToolSettings(seconds=seconds)))
        tool = self.registry.get(name)
        assert tool is not None, f"no tool {name} among {self.names()}"
        return await call_tool(tool, ToolCall("1", name, arguments), context)

    def names(self) -> set[str]:
        """Of the tools that are not built in."""
        return {tool.name for tool in self.registry if tool.family != "core"}

    async def event(self, kind: str, after: int = 0) -> Event:
        """The next of a kind."""
        with anyio.fail_after(30):
            async for event in self.events.follow(after):
                if event.kind == kind:
                    return event
        raise AssertionError("the stream of events ended")


def core(name: str) -> Tool:
    async def run(arguments: Any, context: Context) -> ToolResult:
        return ToolResult("core")

    return Tool(name, "core", "It is built in.", {"type": "object"}, run)


Open: TypeAlias = Callable[..., AbstractAsyncContextManager[Bench]]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Open]:
    """Makes a bench on one and the same store each time: a daemon, and then the next."""
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    store = open_store(url_of(tmp_path / "agentd.db"))

    @contextlib.asynccontextmanager
    async def bench(seconds: float = 20) -> AsyncIterator[Bench]:
        made = Bench(store, workspace, seconds)
        async with made.plugs.running():
            yield made

    yield bench
    store.close()
