"""Limits are hard, and what they refused is known from counters, not from exit codes."""

from __future__ import annotations

import pytest

from sandboxes.base import Limits
from sandboxes.errors import SandboxError
from tests.conformance.room import eventually

MEGABYTE = 1 << 20
SMALL = Limits(memory=64 * MEGABYTE, pids=32, disk=8 * MEGABYTE)
HOG = "python3 -c 'x = bytearray(200 << 20)'"


@pytest.fixture
def small(make):
    return make(limits=SMALL)


@pytest.mark.needs("limits.memory", "oom")
def test_a_program_that_takes_too_much_memory_is_killed_and_counted(small):
    outcome = small.run("python3", "-c", "x = bytearray(200 << 20)")

    assert outcome.signal == 9
    assert small.sandbox.usage().oom_kills == 1


@pytest.mark.needs("limits.memory", "oom")
def test_an_out_of_memory_kill_that_the_parent_swallows_is_counted(small):
    assert small.shell(f"{HOG} 2>/dev/null; exit 0").code == 0

    assert small.sandbox.usage().oom_kills == 1


@pytest.mark.needs("limits.memory", "oom")
def test_memory_within_the_limit_is_no_kill(small):
    small.ok("python3 -c 'x = bytearray(20 << 20)'")

    usage = small.sandbox.usage()
    assert usage.oom_kills == 0
    assert 20 * MEGABYTE < usage.memory_peak <= SMALL.memory


@pytest.mark.needs("limits.memory")
def test_the_memory_limit_can_be_lowered_and_raised_while_it_runs(small):
    small.sandbox.limit(memory=256 * MEGABYTE)
    small.ok(HOG)
    small.sandbox.limit(memory=48 * MEGABYTE)
    assert small.run("python3", "-c", "x = bytearray(60 << 20)").signal == 9


def test_without_a_memory_group_nothing_pretends_to_limit_it(place, small):
    if "limits.memory" not in place.gaps:
        pytest.skip("there is one")
    with pytest.raises(SandboxError, match="memory"):
        small.sandbox.limit(memory=MEGABYTE)
    assert small.sandbox.usage().oom_kills is None


def spawn(count: int) -> str:
    return f"i=0; while [ $i -lt {count} ]; do sleep 1000 >/dev/null 2>&1 & i=$((i+1)); done; wait"


@pytest.mark.needs("limits.pids")
def test_there_can_be_no_more_processes_than_the_limit(small):
    small.start("sh", "-c", spawn(100))
    eventually(lambda: len(small.sandbox.processes()) >= SMALL.pids // 2)
    eventually(lambda: small.sandbox.wait(0.1) is not None)

    assert len(small.sandbox.processes()) <= SMALL.pids


@pytest.mark.needs("limits.pids")
def test_the_process_limit_can_be_lowered_while_it_runs_and_given_back(small):
    small.sandbox.limit(pids=3)
    assert small.shell(spawn(6)).code != 0
    small.sandbox.kill()

    small.sandbox.limit(pids=SMALL.pids)
    small.ok("for i in 1 2 3 4 5 6; do sleep 0.01 & done; wait")


@pytest.mark.needs("limits.disk")
def test_a_full_disk_is_full_in_every_place_that_can_be_written(small):
    for folder in ("~", "/workspace", "/tmp", "/dev/shm", "/var/tmp"):
        outcome = small.shell(f"cd {folder} && dd if=/dev/zero of=big bs=64k count=1000; rm -f big")
        assert b"No space left" in outcome.err, folder
    usage = small.sandbox.usage()
    assert usage.disk_total == SMALL.disk
    assert 0 < usage.disk_free <= SMALL.disk


@pytest.mark.needs("disk.resize")
def test_the_free_space_can_be_taken_and_given_back(small):
    small.ok("head -c 1000000 /dev/zero > kept")

    small.sandbox.resize(0)
    assert b"No space left" in small.shell("printf x | cat > y").err
    assert small.sandbox.usage().disk_free == 0
    small.sandbox.resize(65536)
    small.ok("head -c 60000 /dev/zero > z")
    assert b"No space left" in small.shell("head -c 20000 /dev/zero > zz").err
    small.sandbox.resize(None)

    small.ok("head -c 2000000 /dev/zero > y")
    assert small.sandbox.usage().disk_total == SMALL.disk
    assert small.sandbox.listing().workspace["kept"].size == 1000000
