"""Nothing that a process starts outlives it, and nothing that it writes is without bound."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import anyio
import psutil
import pytest

from runtime import processes
from runtime.processes import Ended, ProgramMissing, run

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def sh(
    folder: Path, command: str, seconds: float = 20, most: int = 4096, stdin: bytes | None = None
) -> Ended:
    return await run(
        ["sh", "-c", command],
        folder=folder,
        environment={"PATH": os.environ["PATH"]},
        seconds=seconds,
        most=most,
        stdin=stdin,
    )


def alive(pid: str) -> bool:
    try:
        return bool(psutil.Process(int(pid)).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


async def test_both_streams_and_the_exit_code_come_as_they_are(tmp_path: Path):
    ended = await sh(tmp_path, "printf 'a\\377'; echo b >&2; exit 3")

    assert ended == Ended(3, b"a\xff", b"b\n")


async def test_a_signal_s_code_is_a_shell_s(tmp_path: Path):
    assert (await sh(tmp_path, "kill -TERM $$")).exit_code == 143


async def test_what_is_sent_is_read(tmp_path: Path):
    assert (await sh(tmp_path, "cat", stdin=b"x" * 100_000, most=1 << 20)).output == b"x" * 100_000
    assert (await sh(tmp_path, "true", stdin=b"x" * 1_000_000)).exit_code == 0
    assert (await sh(tmp_path, "cat")).output == b""


@pytest.mark.parametrize(
    "start",
    [
        "sleep 300 & echo $!",
        "setsid sh -c 'echo $$; exec sleep 300' & sleep 0.2",
        "(setsid sh -c 'echo $$; exec sleep 300' &)",
        "trap '' TERM HUP; sleep 300 & echo $!",
    ],
)
async def test_what_it_leaves_behind_ends_with_it(tmp_path: Path, start: str):
    ended = await sh(tmp_path, f"({start}) > pid; sleep 0.2; exit 0")

    assert ended.exit_code == 0
    assert not alive((tmp_path / "pid").read_text().split()[0])


async def test_a_deadline_ends_all_of_it(tmp_path: Path):
    ended = await sh(tmp_path, "echo begun; (setsid sleep 300 & echo $! > pid); sleep 300", 1)

    assert (ended.timed_out, ended.exit_code, ended.output) == (True, 124, b"begun\n")
    assert not alive((tmp_path / "pid").read_text())


async def test_who_holds_the_output_open_does_not_hold_up_the_end(tmp_path: Path):
    ended = await sh(tmp_path, "echo done; setsid sleep 300 &", seconds=10)

    assert (ended.timed_out, ended.output) == (False, b"done\n")


async def test_too_much_output_is_cut_in_the_middle(tmp_path: Path):
    ended = await sh(tmp_path, "echo first; yes | head -c 5000000; echo last", most=1000)

    assert ended.truncated
    assert len(ended.output) < 1100
    assert ended.output.startswith(b"first\n")
    assert ended.output.endswith(b"last\n")
    assert b"bytes left out" in ended.output


async def test_a_program_that_is_not_there_is_named(tmp_path: Path):
    with pytest.raises(ProgramMissing, match="no-such: command not found"):
        await run(["no-such"], folder=tmp_path, environment={}, seconds=5, most=100)


async def test_nothing_of_ours_is_in_its_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("OURS", "1")

    ended = await run(
        [sys.executable, "-c", "import os; print(sorted(os.environ))"],
        folder=tmp_path,
        environment={"LANG": "C"},
        seconds=20,
        most=1000,
    )

    assert "OURS" not in ended.output.decode()
    assert processes.MARK in ended.output.decode()


async def test_what_lasts_ends_with_all_that_came_of_it_when_its_starter_is_killed(tmp_path: Path):
    """The starter is a process of its own here, and gets no chance to clean up."""
    starter = tmp_path / "starter.py"
    starter.write_text(
        "import anyio, os, pathlib, sys\n"
        "from runtime import processes\n"
        "from runtime.tools.hotplug import warden\n"
        "async def main():\n"
        "    warden_ = [sys.executable, '-I', '-S', warden.__file__]\n"
        "    script = 'setsid tail -f /dev/null & echo $! $$; exec tail -f /dev/null'\n"
        "    async with processes.lasting(\n"
        "        warden_, ['/bin/sh', '-c', script], folder=pathlib.Path('/'),\n"
        "        environment={'PATH': os.environ['PATH']}, parting=0,\n"
        "    ) as process:\n"
        "        print((await process.stdout.receive()).decode(), flush=True)\n"
        "        await anyio.sleep_forever()\n"
        "anyio.run(main)\n"
    )
    async with await anyio.open_process([sys.executable, str(starter)]) as process:
        assert process.stdout is not None
        pids = (await process.stdout.receive()).decode().split()
        assert all(alive(pid) for pid in pids)
        process.kill()

    with anyio.fail_after(10):
        while any(alive(pid) for pid in pids):
            await anyio.sleep(0.05)
