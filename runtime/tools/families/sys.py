"""The machine: processes, disk, memory, load, logs and services."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, Final

import psutil

from runtime.processes import run
from runtime.tools.base import Arguments, Context, Run, Schema, Tool, ToolResult
from runtime.tools.define import (
    LOCAL,
    PATH,
    arguments,
    as_text,
    number,
    on_thread,
    says_failures,
    text,
    word,
)
from runtime.tools.paths import opened, reading

FAMILY: Final = "sys"
_COMMAND: Final = 200
#: Bytes at the end of a log that lines are looked for in, for each that is asked for.
_LINE: Final = 1 << 12


@on_thread
def ps(given: Arguments, context: Context) -> ToolResult:  # noqa: ARG001
    """The processes, the one with the most memory first."""
    wanted = given.get("name", "")
    found = [each for each in _processes() if wanted in each["command"]]
    found.sort(key=lambda each: -each["rss"])
    lines = [
        f"{each['pid']}\t{each['ppid']}\t{each['user']}\t{each['status']}\t{each['rss']}\t{each['command']}"
        for each in found[: given.get("count", 50)]
    ]
    return ToolResult("\n".join(["pid\tppid\tuser\tstatus\trss\tcommand", *lines, ""]))


def _processes() -> Iterator[dict[str, Any]]:
    for process in psutil.process_iter():
        try:
            with process.oneshot():
                words = process.cmdline() or [f"[{process.name()}]"]
                yield {
                    "pid": process.pid,
                    "ppid": process.ppid(),
                    "user": _user(process),
                    "status": process.status(),
                    "rss": process.memory_info().rss,
                    "command": " ".join(" ".join(words).split())[:_COMMAND],
                }
        except psutil.Error:
            continue


def _user(process: psutil.Process) -> str:
    try:
        return str(process.username())
    except KeyError:  # a user without a name
        return str(process.uids().real)


@on_thread
def disk(given: Arguments, context: Context) -> ToolResult:
    """The room on the file system that a path is on."""
    with opened(context.workspace, given.get("path", "."), os.O_PATH) as descriptor:
        found = os.statvfs(descriptor)
    total, free = found.f_blocks * found.f_frsize, found.f_bavail * found.f_frsize
    return _lines(total=total, free=free, inodes=found.f_files, inodes_free=found.f_favail)


@on_thread
def memory(given: Arguments, context: Context) -> ToolResult:  # noqa: ARG001
    """The memory of the machine."""
    found, swap = psutil.virtual_memory(), psutil.swap_memory()
    return _lines(
        total=found.total,
        available=found.available,
        used=found.used,
        swap_total=swap.total,
        swap_used=swap.used,
    )


@on_thread
def load(given: Arguments, context: Context) -> ToolResult:  # noqa: ARG001
    """How busy the machine is."""
    one, five, fifteen = os.getloadavg()
    return _lines(
        processors=psutil.cpu_count() or 1,
        load_1=f"{one:.2f}",
        load_5=f"{five:.2f}",
        load_15=f"{fifteen:.2f}",
    )


def _lines(**facts: object) -> ToolResult:
    return ToolResult("".join(f"{name}: {value}\n" for name, value in facts.items()))


@on_thread
def logs_tail(given: Arguments, context: Context) -> ToolResult:
    """The last lines of a file, however long it is."""
    count = given.get("lines", 100)
    most = min(count * _LINE, context.settings.tools.output)
    with reading(context.workspace, given["path"]) as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(size - most, 0))
        lines = file.read(most).splitlines(keepends=True)
    cut = size > most and len(lines) <= count
    return ToolResult(as_text(b"".join(lines[-count:])), truncated=cut)


@says_failures
async def service_status(given: Arguments, context: Context) -> ToolResult:
    """What systemd knows of a service."""
    ended = await run(
        ["systemctl", "status", "--no-pager", "--lines=20", "--", given["service"]],
        folder=context.workspace,
        environment=context.environment,
        seconds=context.settings.tools.seconds * 0.98,
        most=context.settings.tools.output,
    )
    return ToolResult(as_text(ended.output), as_text(ended.error), ended.exit_code)


def _tool(name: str, summary: str, schema: Schema, run: Run) -> Tool:
    return Tool(name, FAMILY, summary, schema, run, True, True, LOCAL)


TOOLS: Final = (
    _tool(
        "ps",
        "List processes, those with the most memory first.",
        arguments(
            name=text("only those whose command has it"),
            count=number("the most", minimum=1, maximum=1000),
        ),
        ps,
    ),
    _tool("disk", "Say how much room there is, in bytes.", arguments(path=PATH), disk),
    _tool("memory", "Say how much memory there is, in bytes.", arguments(), memory),
    _tool("load", "Say how busy the machine is.", arguments(), load),
    _tool(
        "logs_tail",
        "Read the last lines of a file.",
        arguments("path", path=PATH, lines=number("how many", minimum=1, maximum=10_000)),
        logs_tail,
    ),
    _tool(
        "service_status",
        "Say how a service of the system is.",
        arguments("service", service=word("its name")),
        service_status,
    ),
)
