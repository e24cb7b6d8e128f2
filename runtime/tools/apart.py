"""Regular expressions, run in a process of their own, which a deadline can end."""

from __future__ import annotations

import json
import os
import sys
from typing import Final

from runtime.processes import Ended, run
from runtime.tools.base import Context, ToolResult
from runtime.tools.define import as_text
from runtime.tools.matching import MOST, Search, asking

_PROGRAM: Final = ("-P", "-m", "runtime.tools.matching")


async def apart(search: Search, context: Context) -> ToolResult:
    """Search for a regular expression."""
    ended = await _run(asking(search, context.workspace), context)
    lines = [json.loads(line) for line in _whole(ended)]
    output = "".join(f"{line}\n" for line in lines[:MOST])
    cut = ended.truncated or len(lines) > MOST
    return ToolResult(output, as_text(ended.error), ended.exit_code, truncated=cut)


async def tested(pattern: str, text: str, context: Context) -> ToolResult:
    """Try a regular expression on a text; a line of JSON for each match."""
    ended = await _run(json.dumps({"pattern": pattern, "text": text}), context)
    output = "".join(f"{line}\n" for line in _whole(ended))
    if not output and not ended.exit_code:
        return ToolResult(error="no match\n", exit_code=1)
    cut = ended.truncated
    return ToolResult(output, as_text(ended.error), ended.exit_code, truncated=cut)


def _whole(ended: Ended) -> list[str]:
    """The lines that came whole: all before what was left out."""
    lines = as_text(ended.output).split("\n")[:-1]
    if not ended.truncated:
        return lines
    gap = next(place for place, line in enumerate(lines) if line.endswith(" bytes left out]"))
    return lines[: max(gap - 1, 0)]


async def _run(asked: str, context: Context) -> Ended:
    """Run the program, a moment less than the call may take."""
    seconds = context.settings.tools.seconds
    ended = await run(
        [sys.executable, *_PROGRAM],
        folder=context.workspace,
        environment={"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        seconds=seconds * 0.98,
        most=context.settings.tools.output * 8,  # of JSON, in which a byte takes six at most
        stdin=asked.encode(),
    )
    if not ended.timed_out:
        return ended
    said = f"the regular expression was timed out after {seconds:g} seconds\n"
    return Ended(ended.exit_code, b"", said.encode(), timed_out=True)
