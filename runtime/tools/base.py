"""The contract of a tool, and the one shape of what a call gives."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, Final, TypeAlias

from runtime.clock import Clock
from runtime.settings import Settings
from runtime.tools.background import Background

Schema: TypeAlias = Mapping[str, Any]
Arguments: TypeAlias = Mapping[str, Any]

#: The only tools that a retry may ever call.
RETRIABLE: Final = frozenset(
    {
        "read_file",
        "list_dir",
        "glob",
        "grep",
        "stat",
        "git_status",
        "git_log",
        "git_diff",
        "http_get",
        "pr_view",
    }
)


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a call gave, exactly as it was returned.

    Attributes:
        output: the normal output; bytes that are no UTF-8 as lone surrogates.
        error: the error output, likewise.
        exit_code: 0 where it did what was asked.
        note: what the runtime has to say about it; never part of what the tool returned.
        truncated: whether something beyond a cap was dropped.
        data: facts beside the text, such as an HTTP status; for rules, never for the model.
    """

    output: str = ""
    error: str = ""
    exit_code: int = 0
    note: str = ""
    truncated: bool = False
    data: Mapping[str, Any] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether the tool says that it did what was asked."""
        return self.exit_code == 0


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call as the model made it.

    Attributes:
        id: what the model calls it.
        name: the tool.
        arguments: as an object; what could not be read as one never becomes a call.
    """

    id: str
    name: str
    arguments: Arguments


@dataclass(frozen=True, slots=True)
class Context:
    """What a call works with.

    Attributes:
        workspace: the folder that paths are resolved in, and none of them leaves.
        clock: the time.
        settings: what the user set.
        environment: of the processes that a tool starts.
        conversation: where the call was made.
        background: what keeps processes that outlive a call; ``None`` where none may.
    """

    workspace: Path
    clock: Clock
    settings: Settings
    environment: Mapping[str, str]
    conversation: str = ""
    background: Background | None = None


Run: TypeAlias = Callable[[Arguments, Context], Awaitable[ToolResult]]


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool.

    Attributes:
        name: unique among all that are registered.
        family: what it belongs to, such as ``fs_read``; of a plugged one, where it came from.
        summary: what it does, for the model.
        schema: JSON Schema of its arguments, an object.
        run: does it; raises nothing for what goes wrong with the call itself.
        read_only: it changes nothing, anywhere.
        idempotent: twice is the same as once.
        price: dollars for a call; ``None`` where nobody stated one.
        strict: arguments that ask for the same in a stricter form, the first first.
    """

    name: str
    family: str
    summary: str
    schema: Schema
    run: Run
    read_only: bool = False
    idempotent: bool = False
    price: Decimal | None = None
    strict: tuple[Arguments, ...] = ()
