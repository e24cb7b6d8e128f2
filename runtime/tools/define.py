"""Ways to write a tool down: its schema in a line for each argument, and its failures as errno's."""

from __future__ import annotations

import errno
import functools
import os
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

import anyio.to_thread

from runtime.processes import ProgramMissing
from runtime.tools.base import Arguments, Context, Run, Schema, ToolResult
from runtime.tools.paths import Outside

#: What a call of a tool costs that works on this machine alone.
LOCAL: Final = Decimal("0.0001")
#: What a call costs that asks another machine.
REMOTE: Final = Decimal("0.001")
#: How shells end where a program is missing.
NO_PROGRAM: Final = 127

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


def word(description: str, **more: Any) -> Schema:
    """The schema of a text that a program gets as an argument: not empty, and never an option."""
    return text(description, pattern=r"^[^-\s\x00][^\x00]*$", **more)


def choice(description: str, *values: str) -> Schema:
    """The schema of one of some words; the first is what is meant where none is given."""
    return text(description, enum=list(values), default=values[0])


def names(description: str, each: Schema) -> Schema:
    """The schema of a list with something in it."""
    return {"type": "array", "items": each, "minItems": 1, "description": description}


def flag(description: str) -> Schema:
    """The schema of a switch, which is off."""
    return {"type": "boolean", "default": False, "description": description}


def on_thread(work: Callable[[Arguments, Context], ToolResult]) -> Run:
    """A tool whose work is done on a thread, and fails with what the system says."""

    async def run(arguments: Arguments, context: Context) -> ToolResult:
        return await anyio.to_thread.run_sync(work, arguments, context, abandon_on_cancel=True)

    return says_failures(functools.wraps(work)(run))


def says_failures(work: Run) -> Run:
    """A tool that fails with what the system says."""

    @functools.wraps(work)
    async def run(arguments: Arguments, context: Context) -> ToolResult:
        try:
            return await work(arguments, context)
        except ProgramMissing as error:
            return missing(error.program)
        except OSError as error:
            return failed(error)
        except UnicodeError as error:
            return refused(str(error))

    return run


def failed(error: OSError) -> ToolResult:
    """A failure as the programs of a Unix say it."""
    said = error.strerror or str(error)
    names = (error.filename, error.filename2)
    where = " -> ".join(_printable(os.fsdecode(name)) for name in names if name)
    data = {"errno": error.errno, "outside": isinstance(error, Outside)}
    return refused(f"{where}: {said}" if where else said, 1, **data)


def _printable(name: str) -> str:
    """A name on one line."""
    return name.replace("\\", "\\\\").replace("\n", "\\n") if "\n" in name else name


def refused(said: str, exit_code: int = 1, **data: Any) -> ToolResult:
    """A failure that a tool finds itself."""
    return ToolResult(error=f"{_sound(said)}\n", exit_code=exit_code, data=data)


def _sound(said: str) -> str:
    """A text of which bytes can be made, whatever a model put into it."""
    try:
        said.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return said.encode("utf-8", "backslashreplace").decode()
    return said


def missing(program: str) -> ToolResult:
    """A failure for want of a program."""
    return refused(str(ProgramMissing(program)), NO_PROGRAM, program=program)


def as_text(data: bytes) -> str:
    """Bytes as text, of which they can be made again."""
    return data.decode("utf-8", "surrogateescape")


def as_bytes(text: str) -> bytes:
    """The bytes of a text.

    Raises:
        OSError: there are none: a part of it is half a character.
    """
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise OSError(errno.EILSEQ, os.strerror(errno.EILSEQ)) from None
