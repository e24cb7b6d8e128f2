"""Programs, started."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
from typing import Final

import anyio

from runtime.processes import ProgramMissing, run
from runtime.tools.background import Full, Running
from runtime.tools.base import Arguments, Context, Tool, ToolResult
from runtime.tools.define import (
    LOCAL,
    PATH,
    arguments,
    as_text,
    choice,
    on_thread,
    refused,
    says_failures,
    text,
    word,
)
from runtime.tools.git import folder_in

FAMILY: Final = "shell"
_SHELL: Final = ("/bin/sh", "-c")
_RUNS: Final = 124
_SIGNALS: Final = ("TERM", "INT", "HUP", "KILL", "QUIT", "USR1", "USR2", "STOP", "CONT")


@says_failures
async def run_command(given: Arguments, context: Context) -> ToolResult:
    """A shell command, to its end."""
    return await shell("run", given["command"], given, context)


async def shell(name: str, command: str, given: Arguments, context: Context) -> ToolResult:
    """Run a shell command for a tool.

    Raises:
        OSError: it cannot be started where it should.
    """
    folder = await folder_in(context, given)
    seconds = context.settings.tools.seconds
    # The wrapper's deadline is a moment later: what has come by then is worth having.
    ended = await run(
        [*_SHELL, command],
        folder=folder,
        environment=context.environment,
        seconds=seconds * 0.98,
        most=context.settings.tools.output,
    )
    error = as_text(ended.error)
    if ended.timed_out:
        error += f"\n{name}: timed out after {seconds:g} seconds\n"
    return ToolResult(as_text(ended.output), error, ended.exit_code, truncated=ended.truncated)


@says_failures
async def run_bg(given: Arguments, context: Context) -> ToolResult:
    """A shell command that goes on when the call has ended, and ends with the daemon."""
    if context.background is None:
        return refused("run_bg: nothing can be left running here")
    folder = await folder_in(context, given)
    argv, most = [*_SHELL, given["command"]], context.settings.tools.output
    try:
        running = await context.background.start(argv, folder, context.environment, most)
    except Full as error:
        return refused(f"run_bg: {error}")
    return ToolResult(f"{running.id}\n")


def _found(given: Arguments, context: Context) -> Running | None:
    return context.background.get(given["id"]) if context.background else None


@says_failures
async def wait(given: Arguments, context: Context) -> ToolResult:
    """What a process of the background has written, and how it ended if it has."""
    running = _found(given, context)
    if running is None:
        return refused(f"wait: {given['id']}: no such process was started here")
    seconds = min(given.get("seconds", 0), context.settings.tools.seconds * 0.98)
    with anyio.move_on_after(seconds):
        await running.wait()
    if ended := running.ended:
        output, error = as_text(ended.output), as_text(ended.error)
        return ToolResult(output, error, ended.exit_code, truncated=ended.truncated)
    output, error = (as_text(each) for each in running.started.so_far())
    return ToolResult(output, error, _RUNS, note=f"{running.id} still runs")


@says_failures
async def send_signal(given: Arguments, context: Context) -> ToolResult:
    """A signal for a process of the background and its group; for no other one."""
    running = _found(given, context)
    if running is None:
        return refused(f"signal: {given['id']}: no such process was started here")
    if not running.started.alive:
        return refused(f"signal: {running.id}: No such process; it ended")
    with contextlib.suppress(ProcessLookupError):
        os.killpg(running.started.pid, signal.Signals[f"SIG{given.get('signal', 'TERM')}"])
    return ToolResult(f"sent to {running.id}\n")


@on_thread
def env_get(given: Arguments, context: Context) -> ToolResult:
    """A variable of the environment that programs are started with."""
    value = context.environment.get(given["name"])
    if value is None:
        return refused(f"env_get: {given['name']}: not set")
    return ToolResult(f"{value}\n")


@on_thread
def which(given: Arguments, context: Context) -> ToolResult:
    """Where a program is."""
    name = given["program"]
    found = shutil.which(name, path=context.environment.get("PATH", os.defpath))
    return ToolResult(f"{found}\n") if found else refused(str(ProgramMissing(name)), program=name)


_COMMAND: Final = text("for /bin/sh", minLength=1)
_ID: Final = text("as run_bg gave it", pattern=r"^bg-[0-9]+$")

TOOLS: Final = (
    Tool(
        "run",
        FAMILY,
        "Run a shell command in the workspace, and wait for its end.",
        arguments("command", command=_COMMAND, folder=PATH),
        run_command,
        price=LOCAL,
    ),
    Tool(
        "run_bg",
        FAMILY,
        "Start a shell command that goes on, and say its id.",
        arguments("command", command=_COMMAND, folder=PATH),
        run_bg,
        price=LOCAL,
    ),
    Tool(
        "wait",
        FAMILY,
        "Wait for a started command, and show what it wrote; exit code 124 while it runs.",
        arguments(
            "id",
            id=_ID,
            seconds={"type": "number", "minimum": 0, "description": "how long; not at all if 0"},
        ),
        wait,
        read_only=True,
        idempotent=True,
        price=LOCAL,
    ),
    Tool(
        "signal",
        FAMILY,
        "Send a signal to a started command.",
        arguments("id", id=_ID, signal=choice("which", *_SIGNALS)),
        send_signal,
        price=LOCAL,
    ),
    Tool(
        "env_get",
        FAMILY,
        "Say what a variable of the environment is.",
        arguments("name", name=text("its name", minLength=1)),
        env_get,
        read_only=True,
        idempotent=True,
        price=LOCAL,
    ),
    Tool(
        "which",
        FAMILY,
        "Say where a program is.",
        arguments("program", program=word("its name")),
        which,
        read_only=True,
        idempotent=True,
        price=LOCAL,
    ),
)
