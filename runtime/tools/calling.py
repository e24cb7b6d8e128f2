"""The one wrapper of every call: whatever a tool does, a :class:`ToolResult` comes of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import anyio
from jsonschema import Draft202012Validator

from runtime.tools.base import Arguments, Context, Tool, ToolCall, ToolResult

#: Exit codes of the wrapper's own, as shells and ``timeout`` have them.
BAD_ARGUMENTS: Final = 2
TIMED_OUT: Final = 124
CRASHED: Final = 70


async def call_tool(tool: Tool, call: ToolCall, context: Context) -> ToolResult:
    """Call a tool.

    Arguments that its schema refuses never reach it; a deadline ends it; what it raises is its
    failure and nobody else's.
    """
    seconds = context.settings.tools.seconds
    try:
        if wrong := problems(tool, call.arguments):
            data = {"bad_arguments": wrong}
            said = f"{tool.name}: bad arguments: {'; '.join(wrong)}"
            return ToolResult(error=said, exit_code=BAD_ARGUMENTS, data=data)
        with anyio.fail_after(seconds):
            result = await tool.run(call.arguments, context)
    except TimeoutError:
        said = f"{tool.name}: timed out after {seconds:g} seconds"
        return ToolResult(error=said, exit_code=TIMED_OUT)
    except Exception as error:  # noqa: BLE001 - a tool can raise whatever it likes
        said = f"{tool.name}: {type(error).__name__}: {error}"
        return ToolResult(error=said, exit_code=CRASHED)
    return capped(result, context.settings.tools.output)


def problems(tool: Tool, arguments: Arguments) -> list[str]:
    """What is wrong with arguments, each with its field."""
    found = Draft202012Validator(tool.schema).iter_errors(dict(arguments))
    return sorted(f"{error.json_path.removeprefix('$.')}: {error.message}" for error in found)


def capped(result: ToolResult, most: int) -> ToolResult:
    """The same, without what lies beyond the cap: the beginning and the end are kept."""
    if max(len(result.output), len(result.error)) <= most:
        return result
    output, error = _ends(result.output, most), _ends(result.error, most)
    return replace(result, output=output, error=error, truncated=True)


def _ends(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]}\n[{len(text) - 2 * half} characters left out]\n{text[-half:]}"
