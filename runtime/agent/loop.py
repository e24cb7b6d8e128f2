"""The agent's loop: ask the model, make the calls that it asks for, tell it what came, again.

A turn ends honestly. It is done only where the model ended it itself, with something to say. An
answer that was cut, empty, refused or beyond the limit ends it as failed, with the reason, and the
conversation can go on from there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

import anyio
from anyio.abc import TaskGroup

from runtime.agent.conversations import Conversation, Conversations
from runtime.events import Events
from runtime.model.base import Asked, Hear, Model, ModelError, Offer, Reply, Said
from runtime.model.reading import distinct, sound
from runtime.recovery.observe import RunScope
from runtime.recovery.supervise import Supervisor
from runtime.tools.base import Context, ToolCall, ToolResult
from runtime.tools.registry import Registry

SYSTEM: Final = (
    "You are an agent that works on its own with the tools that it is offered. A result's note is "
    "of the runtime, not of the tool. A failure that was handed to a person is theirs: do not work "
    "around it; go on with what does not need it, and say at the end what is open."
)
#: Requests to the model in one turn.
MOST: Final = 200
#: Characters of a result that the model is shown of each stream.
SHOWN: Final = 1 << 15
_NO_TOOL: Final = 127
_INCOMPLETE: Final = frozenset({"incomplete", "broken"})


@dataclass(frozen=True, slots=True)
class Ended:
    """How a turn ended.

    Attributes:
        done: whether the model ended it itself, with something to say.
        text: what it said last.
        why: why it is not done.
    """

    done: bool
    text: str = ""
    why: str = ""


class Agent:
    """What carries conversations on."""

    def __init__(
        self,
        conversations: Conversations,
        events: Events,
        supervisor: Supervisor,
        registry: Registry,
        context: Context,
        hear: Callable[[str], Hear],
    ) -> None:
        self._hear = hear
        self._conversations = conversations
        self._events = events
        self._supervisor = supervisor
        self._registry = registry
        self._context = context

    async def turn(self, conversation: Conversation, model: Model) -> Ended:
        """Carry a conversation on until the model ends the turn, or something else does."""
        async with anyio.create_task_group() as background:
            try:
                ended = await self._turn(conversation, model, background)
            except ModelError as error:
                ended = Ended(False, why=str(error))
        await self._conversations.set_state(conversation.id, "done" if ended.done else "failed")
        await self._events.emit("turn.ended", conversation.id, done=ended.done, why=ended.why)
        return ended

    async def _turn(self, conversation: Conversation, model: Model, background: TaskGroup) -> Ended:
        for _ in range(MOST):
            said = await self._conversations.said(conversation.id)
            reply = await self._ask(conversation, model, said)
            taken = frozenset(call.id for entry in said for call in entry.calls)
            calls = distinct(reply.calls, taken)
            await self._conversations.add(conversation.id, Said("assistant", reply.text, calls))
            if ended := _ended(reply):
                return ended
            for call in calls:
                await self._make(call, conversation, background)
        return Ended(False, why=f"the turn took more than {MOST} requests")

    async def _ask(self, conversation: Conversation, model: Model, said: list[Said]) -> Reply:
        """Ask; what came incomplete is asked for again, for nothing of it was acted on."""
        left = self._context.settings.model.retries
        while True:
            try:
                return await model.ask(SYSTEM, said, self._offers(), self._hear(conversation.id))
            except ModelError as error:
                await self._events.emit(
                    "model.failed", conversation.id, why=str(error), error=error.kind
                )
                if error.kind not in _INCOMPLETE or not left:
                    raise
            left -= 1

    def _offers(self) -> list[Offer]:
        disabled = self._context.settings.tools.disabled
        return [
            Offer(tool.name, tool.summary, tool.schema)
            for tool in self._registry
            if tool.name not in disabled
        ]

    async def _make(self, asked: Asked, conversation: Conversation, background: TaskGroup) -> None:
        """Make one call, and write down what came of it."""
        await self._events.emit("tool.started", conversation.id, call=asked.id, tool=asked.name)
        result = await self._result(asked, conversation, background)
        said = Said("tool", shown(result), call=asked.id, failed=not result.ok)
        await self._conversations.add(conversation.id, said)
        await self._events.emit(
            "tool.ended",
            conversation.id,
            call=asked.id,
            tool=asked.name,
            exit_code=result.exit_code,
            note=result.note,
        )

    async def _result(
        self, asked: Asked, conversation: Conversation, background: TaskGroup
    ) -> ToolResult:
        tool = self._registry.get(asked.name)
        if tool is None or asked.name in self._context.settings.tools.disabled:
            return ToolResult(error=f"there is no tool {asked.name}", exit_code=_NO_TOOL)
        if asked.arguments is None:
            return ToolResult(error=f"{asked.name}: bad arguments: {asked.problem}", exit_code=2)
        native = self._context.settings.model.native
        scope = RunScope(conversation.id, conversation.kind, native)
        context = replace(self._context, conversation=conversation.id)
        call = ToolCall(asked.id, asked.name, asked.arguments)
        return await self._supervisor.call(tool, call, context, scope, background)


def shown(result: ToolResult) -> str:
    """A result as the model is shown it: every call's in the same shape."""
    parts = [
        ("output", _clipped(result.output)),
        ("error", _clipped(result.error)),
        ("exit code", str(result.exit_code)),
        ("note", result.note),
    ]
    return "\n".join(f"[{name}]\n{text}" for name, text in parts if text)


def _clipped(text: str) -> str:
    whole = sound(text)
    if len(whole) <= SHOWN:
        return whole
    half = SHOWN // 2
    return f"{whole[:half]}\n[{len(whole) - SHOWN} characters left out]\n{whole[-half:]}"


def _ended(reply: Reply) -> Ended | None:
    """How the turn ended, or ``None`` where there are calls to make."""
    if reply.stop == "refusal":
        return Ended(False, reply.text, "the model refused")
    if reply.stop == "length":
        return Ended(False, reply.text, "the answer was cut at its longest")
    if reply.calls:
        return None
    if not reply.text.strip():
        return Ended(False, why="the model said nothing")
    return Ended(True, reply.text)
