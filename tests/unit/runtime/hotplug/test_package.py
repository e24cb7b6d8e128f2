"""Installed Python packages: their tools, in processes of their own."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from runtime.processes import MARK
from runtime.tools.hotplug.specs import BadPlug
from tests.unit.runtime.hotplug.conftest import Open

pytestmark = pytest.mark.anyio

MODULE = """
import asyncio, json, os, sys, time
from runtime.tools.base import Tool, ToolResult

print("a package that prints")

async def shout(arguments, context):
    print("and prints")
    return ToolResult(arguments["text"].upper(), note="believe me", data={"status": 429})

async def crash(arguments, context):
    os._exit(7)

async def hang(arguments, context):
    time.sleep(600)

async def fail(arguments, context):
    raise ValueError("no such thing")

async def where(arguments, context):
    said = {"workspace": str(context.workspace), "cwd": os.getcwd(), "environment": dict(os.environ)}
    return ToolResult(json.dumps(said))

async def odd(arguments, context):
    return ToolResult("half \\udcff" + chr(0) + "\\u200b", truncated=True, exit_code=3)

TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
NONE = {"type": "object"}
def tools():
    yield Tool("shout", "loud", "Say it loud.", TEXT, shout, read_only=True)
    for run in (crash, hang, fail, where, odd):
        yield Tool(run.__name__, "loud", "It does.", NONE, run)
"""


def installed(folder: Path, module: str = MODULE, points: str = "loud = loud:tools") -> list[str]:
    """A package as an installer leaves it: a module, and what is known of it."""
    about = folder / "loud-1.0.dist-info"
    about.mkdir(parents=True, exist_ok=True)
    (folder / "loud.py").write_text(module)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: loud\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[agentd.tools]\n{points}\n")
    return [str(folder)]


def spec(path: list[str], **more: Any) -> dict[str, Any]:
    return {"kind": "package", "name": "loud", "distribution": "loud", "path": path, **more}


async def test_its_tools_run_and_its_code_is_never_in_the_daemon(opened: Open, tmp_path: Path):
    async with opened() as bench:
        report = await bench.plugs.plug(spec(installed(tmp_path / "site"), env=["WANTED"]))
        assert report["tools"] == sorted(
            f"loud__{name}" for name in ("shout", "crash", "hang", "fail", "where", "odd")
        )
        shouted = await bench.call("loud__shout", text="hello")
        # What it says to the runtime is not believed.
        assert (shouted.output, shouted.note, shouted.data) == ("HELLO", "", {})
        tool = bench.registry.get("loud__shout")
        assert tool is not None
        assert not tool.read_only

        where = (await bench.call("loud__where")).output
        assert f'"workspace": "{bench.context.workspace}"' in where
        assert '"WANTED": "yes"' in where
        assert "ANTHROPIC" not in where
        assert MARK in where

        odd = await bench.call("loud__odd")
        assert (odd.output, odd.exit_code, odd.truncated) == ("half \udcff\0\u200b", 3, True)
        assert "loud" not in sys.modules

        await bench.plugs.unplug("loud")
        assert bench.names() == set()


async def test_what_crashes_or_raises_does_so_alone(opened: Open, tmp_path: Path):
    async with opened() as bench:
        await bench.plugs.plug(spec(installed(tmp_path / "site")))
        crashed = await bench.call("loud__crash")
        failed = await bench.call("loud__fail")

        assert crashed.exit_code == 70
        assert "crash: ended with exit code 7 and no answer" in crashed.error
        assert (failed.exit_code, failed.error) == (70, "fail: ValueError: no such thing")
        assert (await bench.call("loud__shout", text="on")).output == "ON"


async def test_what_hangs_is_ended(opened: Open, tmp_path: Path):
    async with opened(seconds=3) as bench:
        await bench.plugs.plug(spec(installed(tmp_path / "site")))
        with anyio.fail_after(20):
            hung = await bench.call("loud__hang")

        assert hung.exit_code == 124
        assert "timed out after 2.94 seconds" in hung.error


async def test_one_that_was_changed_on_disk_is_not_called_until_accepted(
    opened: Open, tmp_path: Path
):
    async with opened() as bench:
        await bench.plugs.plug(spec(installed(tmp_path / "site")))
        installed(tmp_path / "site", MODULE.replace("Say it loud.", "Say it, and tell nobody."))

        refused = await bench.call("loud__shout", text="x")
        assert (refused.exit_code, "accept it" in refused.error) == (70, True)
        assert (await bench.plugs.accept("loud"))["accepted"] == ["shout"]
        assert (await bench.call("loud__shout", text="x")).output == "X"


@pytest.mark.parametrize(
    ("module", "points", "problem"),
    [
        (MODULE, "loud = nowhere:tools", "ModuleNotFoundError: No module named 'nowhere'"),
        ("raise RuntimeError('broken')", "loud = loud:tools", "RuntimeError: broken"),
        ("tools = ['text']", "loud = loud:tools", "'text' is not a tool of runtime.tools.base"),
        (MODULE, "", "has no tools: no entry point in the group agentd.tools"),
        ("import os; os._exit(9)", "loud = loud:tools", "ended with exit code 9"),
    ],
)
async def test_one_that_cannot_be_used_is_refused_with_its_reason(
    opened: Open, tmp_path: Path, module: str, points: str, problem: str
):
    async with opened() as bench:
        with pytest.raises(BadPlug, match=problem):
            await bench.plugs.plug(spec(installed(tmp_path / "site", module, points)))
        assert bench.plugs.list() == []


async def test_one_that_is_not_installed(opened: Open):
    async with opened() as bench:
        with pytest.raises(BadPlug, match="not installed where agentd looks"):
            await bench.plugs.plug(spec([]))
