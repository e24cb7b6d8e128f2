"""Calls of core tools, made as the daemon makes them."""

from __future__ import annotations

import hashlib
import os
import stat
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeAlias

from runtime.daemon.parts import core_tools
from runtime.tools.base import Context, ToolCall, ToolResult
from runtime.tools.calling import call_tool
from runtime.tools.registry import Registry

TOOLS = Registry(core_tools())

Call: TypeAlias = Callable[..., Awaitable[ToolResult]]


def caller(context: Context) -> Call:
    """What calls a tool by its name in a context."""

    async def call(name: str, /, **arguments: Any) -> ToolResult:
        tool = TOOLS.get(name)
        assert tool is not None, name
        return await call_tool(tool, ToolCall("c", name, arguments), context)

    return call


def git(folder: Path, *arguments: str) -> str:
    """Run git as its user does, with nothing of this machine's."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_DATE": "2031-01-01T00:00:00Z",
        "GIT_COMMITTER_DATE": "2031-01-01T00:00:00Z",
    }
    options = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "safe.directory=*"]
    done = subprocess.run(
        ["git", *options, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def snapshot(top: Path) -> dict[str, str]:
    """Everything below a folder: kind, mode and content, by path."""
    found = {}
    for parent, folders, names in os.walk(top):
        for name in (*folders, *names):
            path = Path(parent, name)
            status = path.lstat()
            said = f"{status.st_mode:o} {status.st_mtime_ns if not path.is_dir() else ''}"
            if stat.S_ISLNK(status.st_mode):
                said += f" -> {path.readlink()}"
            elif stat.S_ISREG(status.st_mode):
                said += f" {hashlib.sha256(path.read_bytes()).hexdigest()}"
            found[os.fsdecode(os.fsencode(path.relative_to(top)))] = said
    return found
