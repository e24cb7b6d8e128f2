"""The wall clock moves for dynamic programs, waits keep their length, the zone is separate."""

from __future__ import annotations

import os

import pytest

from sandboxes import clock
from sandboxes.errors import SandboxError
from tests.conformance.room import eventually

pytestmark = pytest.mark.usefixtures("shim")
HOUR = 3600
YEARS = 5 * 365 * 24 * HOUR
SECOND_NS = 10**9

READERS = {
    "date": ["date", "+%s"],
    "python": ["python3", "-c", "import time; print(int(time.time()))"],
    "perl": ["perl", "-e", "print time"],
    "bash": ["bash", "-c", "printf '%(%s)T\n' -1"],
    "an emptied environment": ["env", "-i", "/bin/date", "+%s"],
    "a child of a child": ["sh", "-c", "sh -c 'date +%s'"],
}
WAITS = {
    "sleep": "time.sleep(0.2)",
    "event": "threading.Event().wait(0.2)",
    "queue": "try: queue.Queue().get(timeout=0.2)\n except queue.Empty: pass",
    "lock": "l = threading.Lock(); l.acquire(); l.acquire(timeout=0.2)",
    "condition": "c = threading.Condition(); c.acquire(); c.wait(0.2)",
    "subprocess": "try: subprocess.run(['sleep', '9'], timeout=0.2)\n except subprocess.TimeoutExpired: pass",
    "select": "select.select([], [], [], 0.2)",
    "asyncio": "asyncio.run(asyncio.sleep(0.2))",
}


@pytest.fixture
def timed(make):
    return make(wall_clock=True)


@pytest.mark.needs("clock.wall")
@pytest.mark.parametrize("offset", [YEARS, -YEARS])
@pytest.mark.parametrize("argv", READERS.values(), ids=READERS)
def test_programs_read_the_time_that_was_set(timed, argv, offset):
    timed.sandbox.set_wall_clock(offset * SECOND_NS)

    read = int(timed.run(*argv).text)

    assert abs(read - clock.wall() - offset) < 5


@pytest.mark.needs("clock.wall")
@pytest.mark.parametrize("wait", WAITS.values(), ids=WAITS)
def test_a_wait_keeps_its_length_whatever_the_clock_says(timed, wait):
    timed.sandbox.set_wall_clock(YEARS * SECOND_NS)
    code = (
        "import asyncio, queue, select, subprocess, threading, time\nt = time.monotonic()\n"
        f"if True:\n {wait}\nprint(time.monotonic() - t)"
    )

    assert 0.15 < float(timed.run("python3", "-c", code).text) < 2


@pytest.mark.needs("clock.wall")
def test_the_clock_can_jump_while_a_program_runs_and_only_the_wall_clock_does(timed):
    code = "import sys, time\nfor _ in sys.stdin: print(time.time(), time.monotonic(), flush=True)"
    reading, writing = os.pipe()
    running = timed.start("python3", "-c", code, stdin=reading)
    os.close(reading)

    def now() -> tuple[float, float]:
        os.write(writing, b"\n")
        wall, steady = running.line().split()
        return float(wall), float(steady)

    before = now()
    timed.sandbox.set_wall_clock(-2 * HOUR * SECOND_NS)
    after = now()
    timed.sandbox.set_wall_clock(0)
    back = now()
    os.close(writing)

    assert abs(after[0] - before[0] + 2 * HOUR) < 5
    assert 0 <= after[1] - before[1] < 5
    assert abs(back[0] - clock.wall()) < 5


@pytest.mark.needs("clock.wall")
def test_readings_are_counted_by_program(timed):
    assert timed.sandbox.wall_clock_reads() == {}

    timed.ok("date >/dev/null")
    once = timed.sandbox.wall_clock_reads()["date"]
    timed.ok("date >/dev/null")

    assert once >= 1
    assert timed.sandbox.wall_clock_reads()["date"] == 2 * once


@pytest.mark.needs("clock.wall")
def test_the_subject_cannot_move_the_clock(timed):
    timed.sandbox.set_wall_clock(YEARS * SECOND_NS)

    timed.shell("echo 0 > /run/shakeout/offset; rm -f /run/shakeout/offset /etc/ld.so.preload")

    assert abs(int(timed.ok("date +%s")) - clock.wall() - YEARS) < 5


def test_without_the_shim_the_clock_cannot_be_set_and_is_the_hosts(room):
    with pytest.raises(SandboxError, match="wall_clock"):
        room.sandbox.set_wall_clock(1)
    assert room.sandbox.wall_clock_reads() == {}
    assert abs(int(room.ok("date +%s")) - clock.wall()) < 5
    assert room.shell("date -s '2031-01-01'").code != 0


@pytest.mark.needs("clock.zone")
@pytest.mark.parametrize(("zone", "shown"), [("Asia/Kathmandu", "+0545"), ("UTC", "+0000")])
def test_the_zone_is_the_one_that_was_asked_for(make, zone, shown):
    room = make(zone=zone)

    assert room.ok("date +%z") == shown
    assert room.run("python3", "-c", "import time; print(time.strftime('%z'))").text == shown
    assert room.ok("readlink /etc/localtime").endswith(zone)


def test_the_clock_of_the_host_is_not_touched(timed):
    before = clock.wall() - clock.monotonic()
    timed.sandbox.set_wall_clock(YEARS * SECOND_NS)
    timed.ok("date")

    eventually(lambda: abs(clock.wall() - clock.monotonic() - before) < 1)


@pytest.mark.needs("clock.wall")
def test_reads_from_a_mark_on_are_told_apart(timed):
    def late() -> int:
        return int(timed.sandbox.wall_clock_reads(late=True).get("date", 0))

    timed.run("date")
    once = timed.sandbox.wall_clock_reads()["date"]
    assert late() == 0
    mark = round(clock.wall() * SECOND_NS)
    timed.sandbox.set_wall_clock(-HOUR * SECOND_NS, mark)
    timed.run("date")
    assert late() == 0
    timed.sandbox.set_wall_clock(0, mark)
    timed.run("date")
    assert late() == once
    timed.sandbox.set_wall_clock(0)
    timed.run("date")

    assert (late(), timed.sandbox.wall_clock_reads()["date"]) == (once, 4 * once)
