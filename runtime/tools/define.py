"""Ways to write a tool down: its schema in a line for each argument, and its failures as errno's."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

import anyio.to_thread

from runtime.tools.base import Arguments, Context, Run, Schema, ToolResult
from runtime.tools.paths import Outside

#: What a call of a tool costs that works on this machine alone.
LOCAL: Final = Decimal("0.0001")
#: What a call costs that asks another machine.
REMOTE: Final = Decimal("0.001")

PATH: Final[Schema] = {
    "type": "string",
    "format": "path",
    "minLength": 1,
    "description": "in the workspace",
}


def arguments(*required: str, **properties: Schema) -> Schema:
    """The schema of an object with these properties, and no others."""
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(required),
        "properties": properties,
    }


def text(description: str, **more: Any) -> Schema:
    """The schema of a text."""
    return {"type": "string", "description": description, **more}


def number(description: str, **more: Any) -> Schema:
    """The schema of a whole number."""
    return {"type": "integer", "description": description, **more}


def flag(description: str) -> Schema:
    """The schema of a switch, which is off."""
    return {"type": "boolean", "default": False, "description": description}


def on_thread(work: Callable[[Arguments, Context], ToolResult]) -> Run:
    """A tool whose work is done on a thread, and fails with what the system says."""

    @functools.wraps(work)
    async def run(arguments: Arguments, context: Context) -> ToolResult:
        return await anyio.to_thread.run_sync(
            _said(work), arguments, context, abandon_on_cancel=True
        )

    return run


def _said(work: Callable[[Arguments, Context], ToolResult]) -> Callable[..., ToolResult]:
    def call(arguments: Arguments, context: Context) -> ToolResult:
        try:
            return work(arguments, context)
        except OSError as error:
            return failed(error)

    return call


def failed(error: OSError) -> ToolResult:
    """A failure as the programs of a Unix say it."""
    said = error.strerror or str(error)
    where = f"{os.fsdecode(error.filename)}: " if error.filename else ""
    data = {"errno": error.errno, "outside": isinstance(error, Outside)}
    return ToolResult(error=f"{where}{said}\n", exit_code=1, data=data)


def as_text(data: bytes) -> str:
    """Bytes as text, of which they can be made again."""
    return data.decode("utf-8", "surrogateescape")
