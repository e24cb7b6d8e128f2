"""MCP servers of the SDK's own: at a URL, and as a program."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

from runtime.tools.hotplug.specs import BadPlug
from tests.unit.runtime.hotplug.conftest import Bench, Open
from tests.unit.runtime.hotplug.servers import Served, decent

pytestmark = pytest.mark.anyio

PROGRAM = """
import sys
sys.path.insert(0, {root!r})
from tests.unit.runtime.hotplug.servers import decent
decent().run("stdio")
"""


async def test_a_server_at_a_url(opened: Open):
    served = Served(decent)
    async with opened() as bench:
        with served.up():
            await bench.plugs.plug({"kind": "mcp", "name": "far", "url": served.url})

            assert (await bench.call("far__add", a=2, b=3)).output == "5"
            hidden, honest = await bench.call("far__secretive"), await bench.call("far__honest")
            assert (hidden.exit_code, hidden.error) == (1, "Error executing tool secretive")
            assert (honest.exit_code, honest.error) == (
                1,
                "Error executing tool honest: no such city",
            )
            await grows(bench, "far")


async def grows(bench: Bench, name: str) -> None:
    """The server is asked to get another tool, which is then there, and can be called."""
    last = (await bench.events.since())[-1]
    assert (await bench.call(f"{name}__grow")).ok
    listed = await bench.event("plug.listed", last.id)
    assert f"{name}__fresh" in listed.data["plug"]["tools"]
    assert (await bench.call(f"{name}__fresh")).output == "fresh"


async def test_a_server_at_a_url_that_goes_away_in_a_call_and_comes_back(opened: Open):
    served = Served(decent)
    async with opened(seconds=30) as bench:
        up = served.up()
        up.__enter__()
        await bench.plugs.plug({"kind": "mcp", "name": "far", "url": served.url})
        ended: list[Any] = []

        async def waits() -> None:
            ended.append(await bench.call("far__wait"))

        with anyio.fail_after(20):
            async with anyio.create_task_group() as group:
                group.start_soon(waits)
                while not bench.plugs._plugs["far"].running:
                    await anyio.sleep(0.01)
                await anyio.to_thread.run_sync(up.__exit__, None, None, None)
        assert ended[0].exit_code in (1, 69)  # with a 500, or a connection that is gone
        assert ended[0].error

        assert not (await bench.call("far__add", a=2, b=3)).ok
        down = await bench.event("plug.down")
        with served.up():
            await bench.event("plug.listed", down.id)
            assert (await bench.call("far__add", a=2, b=3)).output == "5"


async def test_a_program_of_the_sdk(opened: Open, tmp_path: Path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.format(root=str(Path(__file__).parents[4])))
    async with opened() as bench:
        command = [sys.executable, str(program)]
        await bench.plugs.plug({"kind": "mcp", "name": "near", "command": command})

        assert (await bench.call("near__add", a=2, b=3)).output == "5"
        bad = await bench.call("near__add", a="two")
        assert bad.data["bad_arguments"] == [
            "$: 'b' is a required property",
            "a: 'two' is not of type 'integer'",
        ]
        await grows(bench, "near")


async def test_without_the_extra_it_is_said_what_to_install(
    opened: Open, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(sys.modules, "mcp", None)
    async with opened() as bench:
        with pytest.raises(BadPlug, match=r"pip install 'shakeout\[mcp\]'"):
            await bench.plugs.plug({"kind": "mcp", "name": "far", "url": "http://127.0.0.1:9/mcp"})


async def test_nobody_at_the_url(opened: Open):
    async with opened() as bench:
        with anyio.fail_after(20), pytest.raises(BadPlug, match="ConnectError"):
            await bench.plugs.plug({"kind": "mcp", "name": "far", "url": "http://127.0.0.1:9/mcp"})
