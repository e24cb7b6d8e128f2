"""Every tool call goes through here: it is made, and what fails is mended safely or handed over.

The way of a failure, each step a module that can stop it::

    observe     what failed, exactly as returned, and its class      observe.py, classify/
    wait        as long as the failure asks for                      waiting.py
    verify      could the same work now?                             verify.py
    guard       the one changed call that the class allows           guard/
    budget      reserved before it runs                              budget.py
    kill switch looked at before every single attempt                killswitch.py
    attempt     within the deadline, all waits included
    hand over   to a person, always                                  handoff.py

Nothing acts out of the box. Acting needs the switch, attempts, and both budgets, and even then
only calls of ten tools that read are ever made again.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import anyio
from anyio.abc import TaskGroup

from runtime.clock import Clock
from runtime.events import Events
from runtime.recovery import killswitch
from runtime.recovery.budget import Budget, Refused, Reservation
from runtime.recovery.classes import ESCALATES
from runtime.recovery.guard import changes, followups
from runtime.recovery.guard.effects import effects
from runtime.recovery.handoff import Handoff, Handoffs
from runtime.recovery.observe import Failed, RunScope, again, observe, record
from runtime.recovery.verify import verify
from runtime.recovery.waiting import wait_before
from runtime.settings import RecoverySettings
from runtime.store.errors import StoreError
from runtime.store.store import Store
from runtime.tools.base import RETRIABLE, Context, Tool, ToolCall, ToolResult
from runtime.tools.calling import call_tool

_LOG: Final = logging.getLogger(__name__)
#: Exit code of a call that the guard refused.
REFUSED: Final = 126


@dataclass(frozen=True, slots=True)
class Stop:
    """Why nothing more is tried."""

    why: str


class Supervisor:
    """What stands between an agent and its tools."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        events: Events,
        settings: RecoverySettings,
        screen: Callable[[Any], Any],
        kill_switch: Path,
    ) -> None:
        self._store = store
        self._clock = clock
        self._events = events
        self._settings = settings
        self._screen = screen
        self._kill_switch = kill_switch
        self.budget = Budget(store, clock, settings)
        self.handoffs = Handoffs(store, clock, events, settings, screen)

    def acting(self, scope: RunScope) -> bool:
        """Whether anything may be done about a failure: switched on, funded, and in a project."""
        settings = self._settings
        funded = settings.attempts > 0 and settings.usd_per_run > 0 and settings.usd_per_day > 0
        covered = not scope.native and (scope.kind == "project" or settings.in_chats)
        return settings.act and funded and covered

    async def call(
        self, tool: Tool, call: ToolCall, context: Context, scope: RunScope, background: TaskGroup
    ) -> ToolResult:
        """Make a call; what comes back is what it gave, or what a safe retry gave.

        What must not hold up the call, the record of what is only observed, is done in
        ``background``.
        """
        acting = self.acting(scope)
        if acting and (refused := await self._refused(tool, call, context, scope)):
            return refused
        result = await call_tool(tool, call, context)
        if result.ok or not (acting or self._settings.observe):
            return result
        if acting:
            return await self._recover(tool, call, result, context, scope)
        background.start_soon(self._observe, tool, call, result, scope)
        return result

    async def _observe(
        self, tool: Tool, call: ToolCall, result: ToolResult, scope: RunScope
    ) -> None:
        """Classify and record a failure, and change nothing, whatever comes of that."""
        try:
            failed = await anyio.to_thread.run_sync(observe, call, tool, result)
            await self._record(failed, scope, owed=False)
        except StoreError:
            raise
        except Exception:  # noqa: BLE001 - a defect of observing is none of the turn
            _LOG.exception("a failure of %s could not be observed", tool.name)

    async def _recover(
        self,
        tool: Tool,
        call: ToolCall,
        result: ToolResult,
        context: Context,
        scope: RunScope,
    ) -> ToolResult:
        failed = await anyio.to_thread.run_sync(observe, call, tool, result)
        await self._record(failed, scope, owed=True)
        ended = await self._attempts(failed, context, scope)
        if isinstance(ended, ToolResult):
            return ended
        last, stop = ended
        with anyio.CancelScope(shield=True):
            handoff = await self.handoffs.give(last, scope, stop.why)
        return noted(last.result, handoff.note)

    async def _attempts(
        self, failed: Failed, context: Context, scope: RunScope
    ) -> ToolResult | tuple[Failed, Stop]:
        """Attempt it until it works or a step stops it."""
        until = self._clock.monotonic() + self._settings.deadline
        while True:
            ended = await self._attempt(failed, context, scope, until)
            if isinstance(ended, Stop):
                return failed, ended
            if ended.ok:
                tries = failed.number + 1
                return noted(ended, f"It failed before, and worked when tried again ({tries}).")
            failed = again(failed, ended)

    async def _attempt(
        self, failed: Failed, context: Context, scope: RunScope, until: float
    ) -> ToolResult | Stop:
        """One attempt, behind every gate; the switch is the first and the last of them."""
        if why := self._gate(failed) or await self._wait(failed, until):
            return Stop(why)
        call = await self._allowed(failed, context)
        if isinstance(call, Stop):
            return call
        reservation = await self.budget.reserve(failed, scope)
        if isinstance(reservation, Refused):
            return Stop(reservation.why)
        if why := killswitch.tripped(self._kill_switch):
            await self.budget.release(reservation, "not made")
            return Stop(why)
        return await self._try(failed, call, context, scope, reservation, until)

    async def _allowed(self, failed: Failed, context: Context) -> ToolCall | Stop:
        """The call that may be made, if it could work and the guard lets one through."""
        checked = await verify(failed, context)
        if checked.ok is not True:
            said = "could not be verified" if checked.ok is None else "does not hold"
            return Stop(f"what a retry needs {said}: {checked.why}")
        call = changes.changed(failed, context)
        if call is None:
            cls = failed.classified.cls.value
            return Stop(f"for {cls}, no change of this call is allowed that could help")
        if found := effects(call, failed.tool, context):
            return Stop(f"a retry would not only read, but change {', '.join(sorted(found))}")
        return call

    def _gate(self, failed: Failed) -> str | None:
        if failed.classified.cls in ESCALATES:
            return f"{failed.classified.cls.value} is for a person to decide"
        if failed.tool.name not in RETRIABLE or not failed.tool.read_only:
            return f"{failed.tool.name} is not one of the tools that may be tried again"
        return killswitch.tripped(self._kill_switch)

    async def _wait(self, failed: Failed, until: float) -> str | None:
        """Wait as long as the failure asks for, if that leaves time."""
        seconds = wait_before(failed, self._clock)
        if self._clock.monotonic() + seconds >= until:
            return f"a retry would have to wait {seconds:g} s, which is beyond the deadline"
        await self._clock.sleep(seconds)
        return None

    async def _try(
        self,
        failed: Failed,
        call: ToolCall,
        context: Context,
        scope: RunScope,
        reservation: Reservation,
        until: float,
    ) -> ToolResult:
        await self._events.emit(
            "attempt.started", scope.conversation, failure=failed.id, number=failed.number + 1
        )
        left = max(until - self._clock.monotonic(), 0.001)
        tools = context.settings.tools
        bounded = tools.model_copy(update={"seconds": min(left, tools.seconds)})
        settings = context.settings.model_copy(update={"tools": bounded})
        result = await call_tool(failed.tool, call, replace(context, settings=settings))
        await self.budget.settle(reservation, "ok" if result.ok else f"exit {result.exit_code}")
        return result

    async def _refused(
        self, tool: Tool, call: ToolCall, context: Context, scope: RunScope
    ) -> ToolResult | None:
        """A call that works around what a person was given is not made."""
        for handoff in await self.handoffs.open_in(scope.conversation):
            if why := followups.workaround(handoff.cls, call, tool, context):
                return await self._refuse(handoff, call, scope, why)
        return None

    async def _refuse(
        self, handoff: Handoff, call: ToolCall, scope: RunScope, why: str
    ) -> ToolResult:
        await self._events.emit(
            "call.refused", scope.conversation, handoff=handoff.id, tool=call.name, why=why
        )
        said = f"{call.name}: refused, because a failure waits for a person: {why}"
        return ToolResult(error=said, exit_code=REFUSED, note=handoff.note)

    async def _record(self, failed: Failed, scope: RunScope, *, owed: bool) -> None:
        screen, clock = self._screen, self._clock
        await self._store.writing(lambda each: record(each, failed, scope, clock, screen, owed))
        await self._events.emit(
            "failure.observed",
            scope.conversation,
            failure=failed.id,
            tool=failed.tool.name,
            rule=failed.classified.rule,
            **{"class": failed.classified.cls.value},
        )


def noted(result: ToolResult, note: str) -> ToolResult:
    """The same result, with a note beside what the tool returned."""
    return replace(result, note=f"{result.note}\n{note}".strip())
