"""The first step: what failed, exactly as it was returned, and what it is taken for."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from sqlalchemy import Connection, insert

from runtime.clock import Clock, micros
from runtime.recovery.classes import Classified, Failure, FailureClass, Span
from runtime.recovery.classify import classify
from runtime.store.tables import FAILURES
from runtime.tools.base import Tool, ToolCall, ToolResult

#: Characters of each end of a stream that are kept as evidence.
KEPT: Final = 4096


@dataclass(frozen=True, slots=True)
class RunScope:
    """Where a call is made.

    Attributes:
        conversation: its id.
        kind: ``project`` where an agent works on its own, ``chat`` where a person takes part.
        native: whether the model recovers from failures itself.
    """

    conversation: str
    kind: Literal["chat", "project"] = "project"
    native: bool = False


@dataclass(frozen=True, slots=True)
class Failed:
    """A failed call.

    Attributes:
        call: as the model made it.
        tool: what was called.
        result: what it gave.
        classified: its class, and why.
        number: of the attempt that failed; 0 is the model's own call.
        id: of the failure; its attempts share it.
    """

    call: ToolCall
    tool: Tool
    result: ToolResult
    classified: Classified
    number: int = 0
    id: str = field(default_factory=lambda: uuid.uuid4().hex)


def observe(call: ToolCall, tool: Tool, result: ToolResult) -> Failed:
    """Classify what a failed call gave."""
    return Failed(call, tool, result, _classified(tool, result))


def again(failed: Failed, result: ToolResult) -> Failed:
    """The same failure, as its next attempt showed it."""
    classified = _classified(failed.tool, result)
    return Failed(failed.call, failed.tool, result, classified, failed.number + 1, failed.id)


def _classified(tool: Tool, result: ToolResult) -> Classified:
    """What a failure is taken for; of a call that no tool was given, that is known."""
    if "bad_arguments" in result.data:
        said = result.error
        span = Span("error", 0, len(said), said)
        return Classified(FailureClass.BAD_ARGUMENTS, span, "call.bad-arguments")
    return classify(Failure(tool.name, result.exit_code, result.output, result.error))


def record(
    connection: Connection,
    failed: Failed,
    scope: RunScope,
    clock: Clock,
    screen: Callable[[Any], Any],
    owed: bool,
) -> None:
    """Write a failure down, screened; for people, and never part of a transcript.

    ``owed`` where something is done about it, so that a person gets it if that comes to no end.
    """
    row = {
        "id": failed.id,
        "at": micros(clock.now()),
        "conversation": scope.conversation,
        "call": screen(failed.call.id)[:128],
        "tool": failed.tool.name,
        "exit_code": failed.result.exit_code,
        "class": failed.classified.cls.value,
        "rule": failed.classified.rule,
        "evidence": screen(evidence(failed)),
        "owed": owed,
    }
    connection.execute(insert(FAILURES), [row])


def evidence(failed: Failed) -> dict[str, Any]:
    """What a person needs to understand a failure; not screened."""
    span = failed.classified.span
    return {
        "arguments": dict(failed.call.arguments),
        "output": _ends(failed.result.output),
        "error": _ends(failed.result.error),
        "span": {"stream": span.stream, "text": span.text} if span else None,
        "attempts": failed.number,
    }


def _ends(text: str) -> str:
    whole = text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    if len(whole) <= 2 * KEPT:
        return whole
    return f"{whole[:KEPT]}\n[{len(whole) - 2 * KEPT} characters left out]\n{whole[-KEPT:]}"
