"""Everything that is plugged in: added, listed and removed while the daemon runs."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any, Final

import anyio
from anyio.abc import TaskGroup

from runtime.events import Events
from runtime.store.store import Store
from runtime.tools.base import Context
from runtime.tools.hotplug import rows
from runtime.tools.hotplug.pins import Pins
from runtime.tools.hotplug.plugged import Plugged
from runtime.tools.hotplug.source import Source
from runtime.tools.hotplug.specs import (
    BadPlug,
    McpSpec,
    PackageSpec,
    SkillSpec,
    Spec,
    as_json,
    spec_of,
)
from runtime.tools.registry import Registry

#: Seconds that the daemon's start waits for what was plugged in before.
AT_START: Final = 10.0


class Plugs:
    """The plugs of one daemon.

    Args:
        store: where they are kept.
        events: where it is told what becomes of them.
        registry: where their tools go.
        context: of calls: the time, and the workspace, in which their programs work.
        environment: the daemon's; a plug is given what its spec names of it.
        screen: finds secrets in what is like JSON.
    """

    def __init__(
        self,
        store: Store,
        events: Events,
        registry: Registry,
        context: Context,
        environment: Mapping[str, str],
        screen: Callable[[Any], Any],
    ) -> None:
        self._store = store
        self._clock = context.clock
        self._events = events
        self._registry = registry
        self._screen = screen
        self._environment = environment
        self._workspace = context.workspace
        self._plugs: dict[str, Plugged] = {}
        self._broken: dict[str, rows.Saved] = {}
        self._group: TaskGroup | None = None

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Bring up what was plugged in before, and hold all of it until the end."""
        raised: Exception | None = None
        async with anyio.create_task_group() as group:
            self._group = group
            try:
                await self._restore(group)
                yield
            except Exception as error:  # noqa: BLE001 - raised below, as it is and in no group
                raised = error
            self._group = None
            group.cancel_scope.cancel()
        if raised is not None:
            raise raised

    async def _restore(self, group: TaskGroup) -> None:
        """Start them; what does not come up is told of, and stops nothing."""
        for each in await self._store.reading(rows.saved):
            if each.spec is None:
                self._broken[each.name] = each
                await self._events.emit("plug.down", name=each.name, why=each.problem)
                continue
            plugged = self._plugs[each.name] = self._plugged(each.spec, each.pins)
            group.start_soon(plugged.live)
        with anyio.move_on_after(AT_START):
            for plugged in tuple(self._plugs.values()):
                await plugged.first.wait()

    async def plug(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Plug something in.

        Args:
            given: its spec.

        Returns:
            What :meth:`list` says of it.

        Raises:
            BadPlug: it cannot be used, does not come up, or its name is taken.
        """
        spec, group = self._checked(given), self._running()
        plugged = self._plugs[spec.name] = self._plugged(spec, Pins())
        group.start_soon(plugged.live)
        try:
            await plugged.comes_up()
            await self._store.writing(
                lambda connection: rows.save(connection, spec, plugged.pins, self._clock)
            )
        except BaseException:
            self._plugs.pop(spec.name, None)
            plugged.remove()
            group.start_soon(plugged.close)
            raise
        report = plugged.report()
        await self._events.emit("plug.added", plug=report)
        return report

    def _checked(self, given: Mapping[str, Any]) -> Spec:
        spec = spec_of(given)
        if spec.name in self._plugs or spec.name in self._broken:
            raise rows.taken(spec.name)
        refuse_secrets(spec, self._screen)
        return spec

    async def unplug(self, name: str) -> dict[str, Any]:
        """Take something out: no new call finds its tools; calls that run end first.

        Raises:
            UnknownPlug: nothing has that name.
        """
        group = self._running()
        if self._broken.pop(name, None):
            await self._store.writing(lambda connection: rows.forget(connection, name))
            return {"name": name, "tools": [], "running": 0}
        plugged = self._found(name)
        del self._plugs[name]
        gone = plugged.remove()
        group.start_soon(plugged.close)
        await self._store.writing(lambda connection: rows.forget(connection, name))
        report = {"name": name, "tools": sorted(gone), "running": plugged.running}
        await self._events.emit("plug.removed", plug=report)
        return report

    async def accept(self, name: str) -> dict[str, Any]:
        """Let the definitions that something has now be used.

        Raises:
            UnknownPlug: nothing has that name.
        """
        plugged = self._found(name)
        accepted = list(await plugged.accept())
        await self._events.emit("plug.accepted", name=name, tools=accepted)
        return {**plugged.report(), "accepted": accepted}

    def list(self) -> list[dict[str, Any]]:
        """All of them: name, kind, state and why, tools, what has changed, what is unfit."""
        broken = [
            {
                "name": each.name,
                "kind": each.kind,
                "state": "down",
                "why": each.problem,
                "tools": [],
            }
            for each in self._broken.values()
        ]
        return [plugged.report() for plugged in self._plugs.values()] + broken

    def _found(self, name: str) -> Plugged:
        try:
            return self._plugs[name]
        except KeyError:
            raise rows.unknown(name) from None

    def _running(self) -> TaskGroup:
        if self._group is None:
            raise BadPlug("nothing can be plugged in now: the daemon is not running", "")
        return self._group

    def _plugged(self, spec: Spec, pins: Pins) -> Plugged:
        async def keep(name: str, pins: Pins) -> None:
            await self._store.writing(lambda connection: rows.keep(connection, name, pins))

        source = self._source(spec)
        return Plugged(spec, source, pins, self._registry, self._events.emit, keep)

    def _source(self, spec: Spec) -> Source:
        # What a kind needs is loaded with the first of it.
        match spec:
            case McpSpec():
                from runtime.tools.hotplug.mcp_server import McpServer  # noqa: PLC0415

                return McpServer(spec, self._clock, self._environment, self._workspace)
            case PackageSpec():
                from runtime.tools.hotplug.package import Package  # noqa: PLC0415

                return Package(spec, self._environment, self._workspace)
            case SkillSpec():
                from runtime.tools.hotplug.skill import Skill  # noqa: PLC0415

                return Skill(spec)


def refuse_secrets(spec: Spec, screen: Callable[[Any], Any]) -> None:
    """Keep secrets out of the store: a spec names the variables that they are in.

    Raises:
        BadPlug: there is one in it.
    """
    stored = as_json(spec)
    if screen(stored) != stored:
        raise BadPlug(
            f"what {spec.name} is started with holds a secret, which would be stored",
            "put it into a variable of agentd's, and name that with --env or --bearer",
        )
