"""Standard streams that are closed, full or broken: they change no verdict."""

from __future__ import annotations

import json
import subprocess

import pytest

CASE = "title: t\nsubject: {command: [sh, -c, 'echo hi']}\nexpect: [{output: {matches: hi}}]\n"

#: What the shell does to the streams, and the exit code.
STREAMS = {
    "no stderr": ("2>&-", 0),
    "no stdin and no stderr": ("<&- 2>&-", 0),
    "no stream": ("<&- >&- 2>&-", 0),
    "full stderr": ("2>/dev/full", 0),
    "full stdout": (">/dev/full", 4),
    "full stdout and stderr": (">/dev/full 2>/dev/full", 4),
}


@pytest.mark.parametrize("streams", STREAMS)
def test_the_exit_code_is_that_of_the_verdict_wherever_it_is_shown(shakeout, streams):
    how, expected = STREAMS[streams]
    argv = shakeout.argv("run", shakeout.case("hi", CASE), "--out", "out", "--json")

    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {how}', "sh", *argv],
        cwd=shakeout.folder,
        env=shakeout.env(),
        timeout=60,
        check=False,
        capture_output=True,
    )

    assert done.returncode == expected
    assert json.loads((shakeout.folder / "out" / "run.json").read_text())["exit"] == 0
    for file in (shakeout.folder / "out").rglob("*"):
        assert file.is_dir() or b"[1/1] passed" not in file.read_bytes()
