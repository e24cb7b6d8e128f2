"""Commands run in the workspace; those in the background end with whoever keeps them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import anyio
import psutil
import pytest

from runtime.tools import background
from runtime.tools.background import Background
from runtime.tools.base import Context
from tests.unit.runtime.tools.calls import Call, caller

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def kept(context: Context) -> AsyncIterator[Call]:
    async with Background() as keeper:
        yield caller(replace(context, background=keeper))


async def test_a_command_runs_in_its_folder(call: Call, workspace: Path):
    result = await call("run", command="pwd; echo e >&2; exit 3", folder="a")

    assert (result.output, result.error, result.exit_code) == (f"{workspace}/a\n", "e\n", 3)


@pytest.mark.parametrize("name", ["run", "run_bg"])
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"command": "true", "folder": "dir-out"}, "outside of the workspace"),
        ({"command": "true", "folder": "missing"}, "missing: No such file or directory"),
        ({"command": "true", "folder": "a/file"}, "Not a directory"),
        ({"command": "a\0b"}, "embedded null byte"),
        ({"command": "\ud800"}, "surrogates not allowed"),
    ],
)
async def test_what_cannot_start_says_why(
    context: Context, name: str, arguments: dict[str, str], said: str
):
    async with kept(context) as call:
        result = await call(name, **arguments)

    assert result.exit_code == 1
    assert said in result.error


async def test_a_process_goes_on_is_waited_for_and_signalled(context: Context):
    async with kept(context) as call:
        command = "trap 'echo got; exit 5' USR1; echo begun; while :; do sleep 0.05; done"
        name = (await call("run_bg", command=command)).output.strip()
        with anyio.fail_after(20):
            while "begun" not in (early := await call("wait", id=name, seconds=0.05)).output:
                pass
        sent = await call("signal", id=name, signal="USR1")
        late = await call("wait", id=name, seconds=20)
        gone = await call("signal", id=name)

    assert (early.exit_code, early.note) == (124, "bg-1 still runs")
    assert sent.ok
    assert (late.output, late.exit_code) == ("begun\ngot\n", 5)
    assert "No such process" in gone.error


async def test_what_runs_ends_with_its_keeper_and_errors_pass_unchanged(
    context: Context, workspace: Path
):
    async def broken() -> None:
        async with kept(context) as call:
            await call(
                "run_bg", command="(setsid sleep 300 & echo $! > child); echo $$ > pid; wait"
            )
            with anyio.fail_after(20):
                while not (workspace / "pid").exists() or not (workspace / "pid").read_text():
                    await anyio.sleep(0.01)
            raise KeyError

    with pytest.raises(KeyError):
        await broken()

    for name in ("pid", "child"):
        pid = int((workspace / name).read_text())
        assert not psutil.pid_exists(pid) or psutil.Process(pid).status() == "zombie"


async def test_a_keeper_that_is_cancelled_ends_what_runs(context: Context, workspace: Path):
    with anyio.move_on_after(0.5):
        async with kept(context) as call:
            await call("run_bg", command="echo $$ > pid; exec sleep 300")
            await anyio.sleep_forever()

    assert not psutil.pid_exists(int((workspace / "pid").read_text()))


async def test_there_is_a_most(context: Context, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(background, "MOST", 1)
    async with kept(context) as call:
        assert (await call("run_bg", command="sleep 300")).ok
        refused = await call("run_bg", command="true")
        await call("signal", id="bg-1", signal="KILL")
        ended = await call("wait", id="bg-1", seconds=20)
        assert (await call("run_bg", command="true")).ok

    assert "1 processes run in the background" in refused.error
    assert ended.exit_code == 137


async def test_no_other_process_can_be_named(context: Context, call: Call):
    async with kept(context) as bound:
        assert "no such process" in (await bound("wait", id="bg-7")).error
        assert "no such process" in (await bound("signal", id="bg-7")).error
        assert (await bound("signal", id="1")).exit_code == 2
    assert "nothing can be left running" in (await call("run_bg", command="true")).error


async def test_variables_and_programs_are_found_or_not(call: Call, context: Context):
    assert (await call("env_get", name="PATH")).output == f"{context.environment['PATH']}\n"
    assert (await call("env_get", name="OTHER")).error == "env_get: OTHER: not set\n"
    assert (await call("which", program="sh")).output.endswith("/sh\n")
    missing = await call("which", program="no-such")
    assert (missing.error, missing.data["program"]) == ("no-such: command not found\n", "no-such")
