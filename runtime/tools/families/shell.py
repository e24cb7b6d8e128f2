"""Programs, started."""

from __future__ import annotations

import os
import shutil
from typing import Final

from runtime.processes import ProgramMissing, run
from runtime.tools.base import Arguments, Context, Tool, ToolResult
from runtime.tools.define import LOCAL, PATH, arguments, as_text, text
from runtime.tools.paths import inside

FAMILY: Final = "shell"


async def run_command(given: Arguments, context: Context) -> ToolResult:
    """A shell command, to its end."""
    folder = context.workspace / inside(context.workspace, given.get("folder", "."))
    seconds = context.settings.tools.seconds
    # The wrapper's deadline is a moment later: what has come by then is worth having.
    ended = await run(
        ["/bin/sh", "-c", given["command"]],
        folder=folder,
        environment=context.environment,
        seconds=seconds * 0.98,
        most=context.settings.tools.output,
    )
    error = as_text(ended.error)
    if ended.timed_out:
        error += f"\nrun: timed out after {seconds:g} seconds\n"
    return ToolResult(as_text(ended.output), error, ended.exit_code, truncated=ended.truncated)


async def which(given: Arguments, context: Context) -> ToolResult:
    """Where a program is."""
    name = given["program"]
    found = shutil.which(name, path=context.environment.get("PATH", os.defpath))
    if found is None:
        return ToolResult(error=f"{ProgramMissing(name)}\n", exit_code=1, data={"program": name})
    return ToolResult(f"{found}\n")


TOOLS: Final = (
    Tool(
        "run",
        FAMILY,
        "Run a shell command in the workspace, and wait for its end.",
        arguments("command", command=text("for /bin/sh"), folder=PATH),
        run_command,
        price=LOCAL,
    ),
    Tool(
        "which",
        FAMILY,
        "Say where a program is.",
        arguments("program", program=text("its name", minLength=1)),
        which,
        read_only=True,
        idempotent=True,
        price=LOCAL,
    ),
)
