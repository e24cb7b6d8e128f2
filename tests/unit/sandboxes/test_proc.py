"""Children of the harness: bounded in time and memory, alone in their session, surely ended."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from pathlib import Path

import pytest

from sandboxes import clock, proc


def python(code: str, **options) -> proc.Finished:
    return proc.run([sys.executable, "-c", code], **options)


def alive_in_group(group: int) -> list[str]:
    """Members of a process group that go on running; one that was just killed takes a moment."""
    deadline = clock.monotonic() + 10
    while (found := running_in_group(group)) and clock.monotonic() < deadline:
        clock.sleep(0.01)
    return found


def running_in_group(group: int) -> list[str]:
    """Members that run right now; whoever inherits the dead may be slow to reap them."""
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError, IndexError):
            state, _, pgrp = (entry / "stat").read_text().rpartition(")")[2].split()[:3]
            if int(pgrp) == group and state not in "ZX":
                found.append(entry.name)
    return found


def test_output_and_exit_code_are_kept():
    ended = python("import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)")

    assert (ended.exit_code, ended.signal, ended.stdout, ended.stderr) == (
        3,
        None,
        b"out\n",
        b"err\n",
    )
    assert not ended.ok


def test_standard_input_is_fed_whole():
    data = os.urandom(1 << 20)

    assert (
        python("import sys; sys.stdout.buffer.write(sys.stdin.buffer.read())", stdin=data).stdout
        == data
    )


def test_a_child_that_does_not_read_is_no_error():
    assert python("import os; os.close(0)", stdin=b"x" * (1 << 20)).ok


def test_a_death_by_signal_is_no_exit_code():
    ended = python("import os; os.kill(os.getpid(), 9)")

    assert (ended.exit_code, ended.signal, ended.timed_out) == (None, signal.SIGKILL, False)


def test_a_deadline_ends_the_whole_group():
    before = clock.monotonic()
    ended = python(
        "import os, time; print(os.getpid(), flush=True); os.fork(); time.sleep(60)", timeout=0.5
    )

    assert ended.timed_out
    assert ended.exit_code is None
    assert clock.monotonic() - before < 5
    assert alive_in_group(int(ended.stdout)) == []


def test_what_a_child_leaves_in_its_group_is_ended():
    ended = proc.run(["sh", "-c", "sleep 60 >/dev/null 2>&1 & echo $$"])

    clock.sleep(0.05)
    assert alive_in_group(int(ended.stdout)) == []


def test_output_beyond_the_cap_is_counted_and_not_kept():
    ended = python("import sys; sys.stdout.write('x' * 300000)", cap=1000)

    assert (ended.stdout, ended.dropped) == (b"x" * 1000, 299000)


def test_a_child_gets_no_variable_that_was_not_named(monkeypatch):
    monkeypatch.setenv("SECRET_OF_THE_HOST", "canary")

    assert b"canary" not in python("import os; print(dict(os.environ))").stdout


def test_a_missing_program_is_an_error():
    with pytest.raises(FileNotFoundError):
        proc.run(["/no/such/program"])


def test_end_is_patient_with_those_who_listen_and_hard_on_those_who_do_not():
    polite, deaf = ignoring(15), ignoring(2, 15)

    # Whoever runs the tests in the background has SIGINT ignored, so each says what it ignores.
    assert polite.end() == -signal.SIGINT
    assert deaf.end(grace=0.05) == -signal.SIGKILL
    for child in (polite, deaf):
        child.close()


def ignoring(*numbers: int) -> proc.Child:
    """A child that ignores these signals and no other that ends it."""
    code = (
        "import signal, time\n"
        f"for n in (2, 15): signal.signal(n, signal.SIG_IGN if n in {numbers} else signal.SIG_DFL)\n"
        "print('up', flush=True)\ntime.sleep(60)"
    )
    child = proc.start([sys.executable, "-c", code], env={}, stdout=proc.PIPE)
    assert child.stdout is not None
    assert child.stdout.readline() == b"up\n"
    return child


def test_which_finds_what_can_be_run(tmp_path):
    (tmp_path / "tool").write_text("#!/bin/sh\n")
    assert proc.which("tool", str(tmp_path)) is None
    (tmp_path / "tool").chmod(0o755)
    assert proc.which("tool", f"/nowhere:{tmp_path}") == tmp_path / "tool"
