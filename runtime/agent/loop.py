"""The agent's loop: ask the model, make the calls that it asks for, tell it what came, again.

A turn ends honestly. It is done only where the model ended it itself, with something to say. An
answer that was cut, empty, refused or beyond the limit ends it as failed, with the reason, and the
conversation can go on from there.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup

from runtime.agent.again import Again
from runtime.agent.conversations import Conversation, Conversations, State
from runtime.agent.pieces import Pieces, Speech
from runtime.errors import only
from runtime.events import Events
from runtime.model.base import Asked, Model, ModelError, Offer, Reply, Said, Stop
from runtime.model.open import Models
from runtime.model.reading import distinct, sound
from runtime.recovery.observe import RunScope
from runtime.recovery.supervise import Supervisor
from runtime.store.errors import StoreError
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
INTERRUPTED: Final = "it was interrupted"
_LOG: Final = logging.getLogger(__name__)
_NO_TOOL: Final = 127
#: Why an answer that stopped so is not acted on.
_WHY: Final[Mapping[Stop, str]] = {
    "refusal": "the model refused",
    "length": "the answer was cut at its longest",
    "other": "the model stopped for a reason that is not known",
}
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
        pieces: Pieces,
    ) -> None:
        self._pieces = pieces
        self._conversations = conversations
        self._events = events
        self._supervisor = supervisor
        self._registry = registry
        self._context = context

    async def turn(self, conversation: Conversation, models: Models) -> Ended:
        """Carry a conversation on until the model ends the turn, or something else does."""
        try:
            async with anyio.create_task_group() as background:
                ended = await self._turn(conversation, await models.get(), background)
        except anyio.get_cancelled_exc_class():
            raise
        except BaseException as error:  # noqa: BLE001 - what is no end of a turn is raised again
            ended = _broken(only(error))
        await self._end(conversation.id, "done" if ended.done else "failed", ended)
        return ended

    async def interrupted(self, conversation: str) -> None:
        """Write down that a turn was ended from outside."""
        await self._end(conversation, "interrupted", Ended(False, why=INTERRUPTED))

    async def _end(self, conversation: str, state: State, ended: Ended) -> None:
        data = {"done": ended.done, "why": ended.why, "state": state}
        row = await anyio.to_thread.run_sync(self._events.row, "turn.ended", conversation, data)
        await self._conversations.end(conversation, state, row)
        self._events.wake()

    async def _turn(self, conversation: Conversation, model: Model, background: TaskGroup) -> Ended:
        again = Again()
        for _ in range(MOST):
            said = await self._conversations.said(conversation.id)
            reply = await self._ask(conversation, model, said)
            if ended := _ended(reply):
                if reply.text.strip():
                    await self._conversations.add(conversation.id, Said("assistant", reply.text))
                return ended
            taken = frozenset(call.id for entry in said for call in entry.calls)
            calls = distinct(reply.calls, taken)
            await self._conversations.add(conversation.id, Said("assistant", reply.text, calls))
            results = [await self._make(call, conversation, background) for call in calls]
            if why := again.too_often(calls, results):
                return Ended(False, reply.text, why)
        return Ended(False, why=f"the turn took more than {MOST} requests")

    async def _ask(self, conversation: Conversation, model: Model, said: list[Said]) -> Reply:
        """Ask; what came incomplete is asked for again, for nothing of it was acted on."""
        left = self._context.settings.model.retries
        while True:
            speech = self._pieces.of(conversation.id)
            try:
                reply = await self._answer(model, said, speech)
            except ModelError as error:
                await self._events.emit(
                    "model.failed", conversation.id, why=str(error), error=error.kind
                )
                if error.kind not in _INCOMPLETE or not left:
                    raise
            else:
                await speech.end()
                return reply
            left -= 1

    async def _answer(self, model: Model, said: list[Said], speech: Speech) -> Reply:
        """One answer, which may come slowly, and not for ever."""
        seconds = self._context.settings.model.longest
        try:
            with anyio.fail_after(seconds):
                return await model.ask(SYSTEM, said, self._offers(), speech.hear)
        except TimeoutError:
            why = f"the model's answer took longer than {seconds:g} seconds"
            raise ModelError("unreachable", why) from None

    def _offers(self) -> list[Offer]:
        disabled = self._context.settings.tools.disabled
        return [
            Offer(tool.name, tool.summary, tool.schema)
            for tool in self._registry
            if tool.name not in disabled
        ]

    async def _make(self, asked: Asked, conversation: Conversation, background: TaskGroup) -> str:
        """Make one call, and write down what came of it, as the model is shown it."""
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
        return said.text

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
    if why := _WHY.get(reply.stop):
        return Ended(False, reply.text, why)
    if reply.calls:
        return None
    if reply.stop == "calls":
        return Ended(False, reply.text, "the model announced a call, and made none")
    if not reply.text.strip():
        return Ended(False, why="the model said nothing")
    return Ended(True, reply.text)


def _broken(error: BaseException) -> Ended:
    """How a turn ends by an error; one that is beyond the turn is raised again."""
    if isinstance(error, ModelError):
        return Ended(False, why=str(error))
    if isinstance(error, StoreError) or not isinstance(error, Exception):
        raise error
    _LOG.error("a turn broke", exc_info=error)
    return Ended(False, why=f"agentd broke: {type(error).__name__}: {error}")
