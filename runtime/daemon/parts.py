"""Everything that one daemon is made of, put together in one place."""

from __future__ import annotations

import importlib
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import anyio

from runtime.agent.conversations import Conversations
from runtime.agent.loop import Agent
from runtime.agent.pieces import Pieces
from runtime.clock import Clock, SystemClock
from runtime.events import Events
from runtime.model.open import Models
from runtime.places import Places
from runtime.recovery.supervise import Supervisor
from runtime.screen.known import environment_secrets
from runtime.screen.screen import Screen
from runtime.settings import ModelSettings, Settings, load
from runtime.store.engine import url_of
from runtime.store.store import Store, open_store
from runtime.tools.background import Background
from runtime.tools.base import Context, Tool
from runtime.tools.hotplug.plugs import Plugs
from runtime.tools.registry import Registry

#: The families of core tools that there are.
FAMILIES: Final = (
    "fs_read",
    "fs_write",
    "text",
    "shell",
    "git_read",
    "git_write",
    "host",
    "build",
    "db",
    "net",
    "pkg",
    "sys",
)
#: Variables of the daemon's own that no tool's process is given.
_OURS: Final = ("AGENTD_", "ANTHROPIC_", "OPENAI_")


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of a running daemon."""

    places: Places
    settings: Settings
    workspace: Path
    clock: Clock
    screen: Screen
    store: Store
    events: Events
    conversations: Conversations
    registry: Registry
    plugs: Plugs
    supervisor: Supervisor
    pieces: Pieces
    agent: Agent
    background: Background
    models: Models

    async def begin(self) -> None:
        """Put right what the last end left: lost attempts, turns that broke off, hand-offs due."""
        lost = await self.supervisor.budget.close_lost()
        interrupted = await self.conversations.interrupt()
        await self.supervisor.handoffs.give_lost()
        await self.supervisor.handoffs.silence()
        await self.supervisor.handoffs.deliver()
        await self.events.emit("daemon.started", lost=lost, interrupted=interrupted)


@asynccontextmanager
async def assembled(
    environment: Mapping[str, str],
    clock: Clock | None = None,
    *,
    alone: bool = True,
    known: Mapping[str, str] | None = None,
) -> AsyncIterator[Parts]:
    """The parts, for as long as the daemon runs.

    Args:
        environment: where its places, switches and keys are.
        clock: the machine's if absent.
        alone: whether nobody else works in the state folder, so that what looks as if it was
            running is what the last end left.
        known: secrets beside those of the environment, by name.
    """
    places = Places.of(environment)
    places.make()
    settings = load(places.settings, environment)
    store = open_store(settings.store or url_of(places.database))
    try:
        secrets = environment_secrets(environment) | key(settings.model, environment)
        screen = Screen({**secrets, **(known or {})})
        parts = _put_together(places, settings, store, environment, screen, clock or SystemClock())
        if alone:
            await parts.begin()
        try:
            async with parts.background, parts.plugs.running():
                yield parts
        finally:
            with anyio.CancelScope(shield=True):
                await parts.models.close()
    finally:
        store.close()


def _put_together(
    places: Places,
    settings: Settings,
    store: Store,
    environment: Mapping[str, str],
    screen: Screen,
    clock: Clock,
) -> Parts:
    pieces = Pieces(screen)
    events = Events(store, clock, screen.value)
    conversations = Conversations(store, clock, screen.value)
    registry = Registry(core_tools())
    workspace = settings.workspace or Path.cwd()
    recovery = settings.recovery
    switch = workspace / (recovery.kill_switch or places.kill_switch)
    supervisor = Supervisor(store, clock, events, recovery, screen.value, switch)
    tools, background = for_tools(environment, settings.model), Background()
    context = Context(workspace, clock, settings, tools, background=background)
    agent = Agent(conversations, events, supervisor, registry, context, pieces)
    plugs = Plugs(store, events, registry, context, environment, screen.value)
    return Parts(
        places=places,
        settings=settings,
        workspace=workspace,
        clock=clock,
        screen=screen,
        store=store,
        events=events,
        conversations=conversations,
        registry=registry,
        plugs=plugs,
        supervisor=supervisor,
        pieces=pieces,
        agent=agent,
        background=background,
        models=Models(settings.model, environment),
    )


def core_tools() -> Iterator[Tool]:
    """Every tool that is built in."""
    for family in FAMILIES:
        yield from importlib.import_module(f"runtime.tools.families.{family}").TOOLS


def key(model: ModelSettings, environment: Mapping[str, str]) -> dict[str, str]:
    """The model's key by its variable, where the settings name one; secret whatever it is called."""
    name = model.api_key
    return {name: environment[name]} if name and name in environment else {}


def for_tools(environment: Mapping[str, str], model: ModelSettings) -> dict[str, str]:
    """What a tool's process is given of the environment: nothing of the daemon's own."""
    ours = key(model, environment)
    return {
        name: value
        for name, value in environment.items()
        if name not in ours and not name.startswith(_OURS)
    }
