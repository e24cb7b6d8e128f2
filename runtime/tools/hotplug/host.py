"""The process in which a package's tools are listed, or one of them is called.

It reads what is asked as JSON from its input, answers as JSON on its output, and ends. What the
package prints goes to the errors.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import anyio

from runtime.clock import SystemClock
from runtime.settings import Settings, ToolSettings
from runtime.tools.base import Context, Tool, ToolCall
from runtime.tools.calling import call_tool
from runtime.tools.hotplug.offers import Offer

#: The group of entry points whose values are tools, or a function that gives them.
GROUP: Final = "agentd.tools"


class Problem(Exception):
    """Why there is no answer."""


def main() -> int:
    """Do what is asked; whatever a package raises is its answer."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    asked = json.load(sys.stdin)
    sys.path[0:0] = asked["path"]
    try:
        answer = _answer(asked)
    except Exception as error:  # noqa: BLE001 - a package raises whatever it likes
        said = str(error) if isinstance(error, Problem) else f"{type(error).__name__}: {error}"
        answer = {"problem": said}
    json.dump(answer, out)
    out.flush()
    # No thread of the package's is waited for.
    os._exit(0)


def _answer(asked: Mapping[str, Any]) -> dict[str, Any]:
    tools = {tool.name: tool for tool in _tools(asked["distribution"])}
    if "tool" not in asked:
        return {"tools": [_shown(tool) for tool in tools.values()]}
    tool = tools.get(asked["tool"])
    if tool is None or _offer(tool).digest != asked["digest"]:
        raise Problem(f"{asked['tool']} is not what it was; look at it again, and accept it")
    return anyio.run(_call, tool, asked)


async def _call(tool: Tool, asked: Mapping[str, Any]) -> dict[str, Any]:
    limits = ToolSettings(seconds=asked["seconds"], output=asked["output"])
    environment = dict(os.environ)
    context = Context(Path.cwd(), SystemClock(), Settings(tools=limits), environment)
    result = await call_tool(tool, ToolCall("1", tool.name, asked["arguments"]), context)
    # Its notes and facts would steer the runtime, which believes its own alone.
    return {
        "output": result.output,
        "error": result.error,
        "exit_code": result.exit_code,
        "truncated": result.truncated,
    }


def _tools(distribution: str) -> list[Tool]:
    try:
        points = importlib.metadata.distribution(distribution).entry_points.select(group=GROUP)
    except importlib.metadata.PackageNotFoundError:
        raise Problem("it is not installed where agentd looks") from None
    found = [tool for point in points for tool in _of(point.load())]
    if not found:
        raise Problem(f"it has no tools: no entry point in the group {GROUP} gives any")
    return found


def _of(loaded: Any) -> Iterable[Tool]:
    given = list(loaded() if callable(loaded) else loaded)
    for tool in given:
        if not isinstance(tool, Tool):
            raise Problem(f"{tool!r} is not a tool of runtime.tools.base")
    return given


def _shown(tool: Tool) -> dict[str, Any]:
    return {"name": tool.name, "summary": tool.summary, "schema": tool.schema}


def _offer(tool: Tool) -> Offer:
    # As it looks once it has been sent.
    return Offer(tool.name, tool.summary, json.loads(json.dumps(tool.schema)))


if __name__ == "__main__":
    sys.exit(main())
