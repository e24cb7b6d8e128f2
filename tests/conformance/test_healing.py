"""What a fault did to a sandbox can be undone while it runs, and also when it is frozen."""

from __future__ import annotations

import signal
from dataclasses import replace

import pytest

from sandboxes.base import Limits, Planted, Root
from sandboxes.errors import SandboxError
from tests.conformance.room import eventually

FORKS = "n=0; for i in 1 2 3 4 5 6; do sleep 0.1 & n=$((n+1)); done; wait; echo $n"
EATS = "x = b'x' * (64 << 20); print(len(x))"


def tree(room):
    return {p: replace(e, mtime_ns=0) for p, e in room.sandbox.listing().workspace.items()}


@pytest.mark.needs("limits.pids")
def test_a_lowered_limit_on_processes_is_given_back(make):
    room = make(limits=Limits(memory=512 << 20, pids=64, disk=64 << 20))
    room.sandbox.limit(pids=3)
    assert room.shell(FORKS).code != 0
    room.sandbox.kill()
    room.sandbox.reset_limit("pids")

    assert room.shell(FORKS).text == "6"


@pytest.mark.needs("limits.memory")
def test_a_lowered_limit_on_memory_is_given_back(make):
    room = make(limits=Limits(memory=256 << 20, pids=64, disk=64 << 20))
    room.sandbox.limit(memory=32 << 20)
    assert room.run("/usr/bin/python3", "-Sc", EATS).signal == signal.SIGKILL
    room.sandbox.reset_limit("memory")

    assert room.run("/usr/bin/python3", "-Sc", EATS).code == 0


def test_a_stopped_program_that_is_continued_while_all_is_frozen_goes_on_afterwards(room):
    running = room.start("sh", "-c", "while :; do echo x; sleep 0.01; done")
    running.line()
    room.sandbox.signal(running.number, signal.SIGSTOP)
    eventually(lambda: [p.state for p in room.sandbox.processes() if p.main == 1] == ["T"])
    room.sandbox.freeze()
    room.sandbox.signal(running.number, signal.SIGCONT)
    assert running.silent(0.15), "it ran although everything was frozen"
    room.sandbox.thaw()

    assert running.line() == "x"


def test_a_stopped_program_that_nobody_continued_stays_stopped(room):
    running = room.start("sh", "-c", "while :; do echo x; sleep 0.01; done")
    running.line()
    room.sandbox.signal(running.number, signal.SIGSTOP)
    eventually(lambda: [p.state for p in room.sandbox.processes() if p.main == 1] == ["T"])
    room.sandbox.freeze()
    room.sandbox.thaw()

    assert running.silent(0.15)


def test_a_program_that_has_ended_takes_no_signal_even_before_its_end_was_heard(room):
    for number in range(1, 20):
        running = room.start("true")
        eventually(lambda: not room.sandbox.processes())
        assert not room.sandbox.signal(number, signal.SIGTERM)
        assert running.finish().code == 0


@pytest.mark.needs("remount")
def test_paths_are_put_back_and_restored_in_a_frozen_sandbox(make):
    room = make(workspace=[Planted("a", content=b"x"), Planted("b", content=b"x", mode=0o600)])
    before = tree(room)
    room.sandbox.take(Root.WORKSPACE, "a")
    room.sandbox.change(Root.WORKSPACE, "b", 0, "agent")
    room.sandbox.remount("/workspace", read_only=True)
    running = room.start("sleep", "30")
    room.sandbox.freeze()
    room.sandbox.remount("/workspace", read_only=False)
    room.sandbox.put_back(Root.WORKSPACE, "a")
    room.sandbox.restore(Root.WORKSPACE, "b")

    assert tree(room) == before
    room.sandbox.kill()
    assert running.finish().signal == signal.SIGKILL


@pytest.mark.needs("remount")
def test_a_mount_that_is_in_use_says_so(room):
    running = room.start("sh", "-c", "exec 3> f; echo up; sleep 30")
    running.line()

    with pytest.raises(SandboxError, match="busy"):
        room.sandbox.remount("/workspace", read_only=True)
