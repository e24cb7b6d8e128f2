"""Survivors are seen, everything can be stopped at once, and dead is dead."""

from __future__ import annotations

import signal

import pytest

from sandboxes import clock
from sandboxes.base import Root
from tests.conformance.room import PATIENCE, eventually

DAEMON = """
import os, sys, time
if os.fork(): os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
os.chdir("/")
fd = os.open("/dev/null", os.O_RDWR)
for n in (0, 1, 2): os.dup2(fd, n)
time.sleep(1000)
"""
DEAF = "trap '' TERM INT HUP; while :; do sleep 0.01; done"
BOMB = "import os\nwhile True:\n  try: os.fork()\n  except OSError: pass"
ZOMBIE = (
    "import os, time\nif os.fork() == 0: os._exit(0)\nprint('up', flush=True)\ntime.sleep(1000)"
)


def names(room) -> list[str]:
    return [argv[0] for argv in room.argvs()]


def test_an_empty_sandbox_has_no_process(room):
    assert room.sandbox.processes() == []
    room.ok("true")
    assert room.sandbox.processes() == []


def test_a_setsid_child_is_seen_and_then_dead(room):
    room.ok("setsid sleep 1000 >/dev/null 2>&1 &")
    assert eventually(lambda: ["sleep", "1000"] in room.argvs())

    room.sandbox.kill()

    assert room.sandbox.processes() == []


def test_a_double_forked_daemon_is_seen_and_then_dead(room):
    room.run("python3", "-c", DAEMON)
    assert eventually(lambda: names(room) == ["python3"])
    assert room.sandbox.processes()[0].main is None

    room.sandbox.kill()

    assert room.sandbox.processes() == []


def test_what_ignores_signals_is_dead_after_kill(room):
    running = room.start("sh", "-c", DEAF)
    eventually(lambda: "sleep" in names(room))
    room.sandbox.signal(running.number, signal.SIGTERM)
    assert room.sandbox.wait(0.2) is None

    room.sandbox.kill()

    assert room.sandbox.processes() == []
    assert room.sandbox.wait(PATIENCE).signal == signal.SIGKILL


def test_a_fork_bomb_is_dead_after_kill(room):
    room.start("python3", "-c", BOMB)
    eventually(lambda: len(room.sandbox.processes()) > 30)

    room.sandbox.kill()

    assert room.sandbox.processes() == []
    assert room.ok("echo usable") == "usable"


def test_a_zombie_is_shown_as_one(room):
    running = room.start("python3", "-c", ZOMBIE)
    running.line()

    shown = eventually(lambda: [p for p in room.sandbox.processes() if p.state == "Z"])

    parent = next(p for p in room.sandbox.processes() if p.main == running.number)
    assert shown[0].ppid == parent.pid


def test_a_process_is_described_as_the_sandbox_sees_it(room):
    running = room.start("sh", "-c", "echo $$; id -u; exec sleep 1000")
    pid, uid = int(running.line()), int(running.line())

    process = eventually(
        lambda: next((p for p in room.sandbox.processes() if p.argv[0] == "sleep"), None)
    )

    assert (process.pid, process.uid, process.main) == (pid, uid, running.number)
    assert process.state in "SRD"


def test_an_orphan_is_reaped(room):
    room.ok("(sleep 0.05 &) ; true")

    eventually(lambda: room.sandbox.processes() == [])


@pytest.mark.needs("freeze")
def test_a_frozen_sandbox_writes_nothing_and_goes_on_when_thawed(room):
    running = room.start("sh", "-c", "while :; do echo x; echo y >> f; done")
    for _ in range(3):
        running.line()

    room.sandbox.freeze()
    assert running.silent(0.2)
    size = room.sandbox.listing().workspace["f"].size
    clock.sleep(0.1)
    assert room.sandbox.listing().workspace["f"].size == size

    room.sandbox.thaw()
    running.line()
    eventually(lambda: room.sandbox.listing().workspace["f"].size > size)


@pytest.mark.needs("freeze")
def test_freezing_stops_children_that_left_the_session_and_every_thread(room):
    running = room.start(
        "python3",
        "-c",
        "import os, threading\n"
        "def spin():\n"
        "    while True: os.write(1, b'x\\n')\n"
        "threading.Thread(target=spin).start()\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    spin()\n"
        "spin()\n",
    )
    running.line()

    room.sandbox.freeze()

    assert running.silent(0.2)


@pytest.mark.needs("freeze")
def test_a_frozen_sandbox_can_be_killed(room):
    room.start("sh", "-c", "while :; do :; done")
    room.sandbox.freeze()

    room.sandbox.kill()

    assert room.sandbox.processes() == []


@pytest.mark.needs("freeze")
def test_thawing_does_not_continue_what_the_subject_itself_had_stopped(room):
    running = room.start("sh", "-c", "sleep 1000 & kill -STOP $!; echo $!; wait")
    pid = int(running.line())
    states = lambda: {p.pid: p.state for p in room.sandbox.processes()}  # noqa: E731
    eventually(lambda: states()[pid] == "T")

    room.sandbox.freeze()
    room.sandbox.thaw()
    clock.sleep(0.05)

    assert states()[pid] == "T"


def test_files_written_until_the_kill_are_kept(room):
    running = room.start("sh", "-c", "echo kept > f; echo up; sleep 1000")
    running.line()
    room.sandbox.kill()

    assert room.sandbox.exists(Root.WORKSPACE, "f")


def test_programs_can_be_started_after_a_kill(room):
    room.start("sleep", "1000")
    room.sandbox.kill()

    assert room.ok("echo again") == "again"


def test_nothing_inside_can_reach_a_process_of_the_machine(room):
    import os

    assert room.shell(f"kill -0 {os.getpid()} 2>/dev/null && test {os.getpid()} -gt 300").code != 0
    assert len(room.ok("ls /proc | grep -c '^[0-9]'")) < 3
