"""What is known of a program from outside: how it began, and whether it waits for a pipe."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

import pytest

from sandboxes.base import AGENT, AGENT_UID, ROOT, ProcessSpec, Watch
from tests.conformance.room import ENV, PATIENCE, eventually

#: Each waits for its standard input in another way, and for nothing else.
WAITS = {
    "read": "import os; os.read(0, 1)",
    "readv": "import os; os.readv(0, [bytearray(1)])",
    "select": "import select; select.select([0], [], [])",
    "poll": "import select; p = select.poll(); p.register(0, select.POLLIN); p.poll()",
    "epoll": "import select; p = select.epoll(); p.register(0, select.EPOLLIN); p.poll()",
    "splice": "import os; os.splice(0, 1, 1)",
    "a thread": "import os, threading, time; "
    "threading.Thread(target=os.read, args=(0, 1)).start(); time.sleep(60)",
    "a child": "import subprocess; subprocess.run(['cat'])",
    "another number": "import os; os.dup2(0, 9); os.close(0); os.read(9, 1)",
}
WAITS_FOR_ELSE = {
    "nothing": "import time; time.sleep(60)",
    "an exit": "import subprocess; subprocess.run(['sleep', '60'])",
    "room to write": "import os; os.set_blocking(1, True); os.write(1, bytes(1 << 20))",
    "another pipe": "import os; os.read(os.pipe()[0], 1)",
    "an array at no address": "import ctypes; ctypes.CDLL(None).poll(ctypes.c_void_p(-1), 0, -1)",
    "poll for an error": "import select; p = select.poll(); p.register(0, 0); p.poll()",
}


@contextlib.contextmanager
def pipe() -> Iterator[tuple[int, int]]:
    """A pipe that stays open: what is handed in, and its inode."""
    reading, writing = os.pipe()
    try:
        yield reading, os.fstat(reading).st_ino
    finally:
        os.close(reading)
        os.close(writing)


def begin(room, *argv: str, env=ENV, user: str = AGENT, stdin: int | None = None, **more):
    """Start a program whose output nobody reads; its number."""
    null = os.open("/dev/null", os.O_WRONLY)
    try:
        spec = ProcessSpec(argv, env, null, null, user=user, stdin=stdin, inspected=True, **more)
        return room.sandbox.start(spec)
    finally:
        os.close(null)


@pytest.mark.needs("processes.inspected")
def test_a_beginning_tells_the_environment_the_user_and_the_input(room):
    env = ENV | {"ODD": "a=b\nc", "EMPTY": ""}
    began = room.sandbox.beginning(begin(room, "sleep", "60", env=env))

    assert dict(began.env) == env
    assert began.uid == AGENT_UID
    assert (began.stdin, began.terminal) == ("/dev/null", False)


@pytest.mark.needs("processes.inspected")
def test_a_given_input_is_told_by_what_it_is(room):
    with pipe() as (reading, inode):
        began = room.sandbox.beginning(begin(room, "true", stdin=reading))

    assert began.stdin == f"pipe:[{inode}]"


@pytest.mark.needs("processes.inspected")
@pytest.mark.needs("user.root")
def test_another_user_is_told(room):
    assert room.sandbox.beginning(begin(room, "true", user=ROOT)).uid == 0


@pytest.mark.needs("processes.inspected")
def test_a_beginning_is_told_however_soon_the_end_comes(room):
    for _ in range(30):
        number = begin(room, "true", env={"PATH": "/usr/bin:/bin"})
        assert room.sandbox.beginning(number).env == {"PATH": "/usr/bin:/bin"}
        assert room.sandbox.wait(PATIENCE).exit_code == 0


@pytest.mark.needs("processes.inspected")
def test_what_is_not_inspected_has_no_beginning(room):
    assert room.sandbox.beginning(room.start("true").number) is None


@pytest.mark.needs("processes.inspected")
def test_an_inspected_program_runs_as_any_other(make):
    room = make(watch=[Watch.NAMES])
    room.sandbox.watch("/etc/hostname")
    script = "grep TracerPid /proc/self/status; cat /etc/hostname; kill -STOP $$; exit 7"
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as output:
        spec = ProcessSpec(
            ["sh", "-c", script], ENV, writing, writing, inspected=True, watched=True
        )
        number = room.sandbox.start(spec)
        os.close(writing)
        eventually(
            lambda: any(p.main == number and p.state == "T" for p in room.sandbox.processes())
        )
        room.sandbox.signal(number, 18)
        assert room.sandbox.wait(PATIENCE).exit_code == 7
        assert output.read() == b"TracerPid:\t0\nsandbox\n"
    assert room.sandbox.attempts("/etc/hostname").count() == 1


@pytest.mark.needs("processes.inspected")
def test_a_script_and_a_program_that_replaces_itself_begin_once(room):
    number = begin(room, "sh", "-c", "export MORE=1; exec env", env=ENV)

    assert dict(room.sandbox.beginning(number).env) == ENV
    assert room.sandbox.wait(PATIENCE).exit_code == 0


@pytest.mark.needs("processes.inspected")
@pytest.mark.parametrize("code", WAITS.values(), ids=WAITS)
def test_who_waits_for_a_pipe_is_seen_and_is_not_disturbed(room, code):
    with pipe() as (reading, inode):
        number = begin(room, "python3", "-c", code, stdin=reading)
        eventually(lambda: room.sandbox.waiting(inode) == 1)
        assert [p.main for p in room.sandbox.processes()].count(number) == 1


@pytest.mark.needs("processes.inspected")
@pytest.mark.parametrize("code", WAITS_FOR_ELSE.values(), ids=WAITS_FOR_ELSE)
def test_who_waits_for_something_else_is_not_taken_for_it(room, code):
    with pipe() as (reading, inode):
        ready = "import sys, os; print(1, flush=True); "
        running = room.start("python3", "-c", ready + code, stdin=reading)
        assert running.line() == "1"
        eventually(lambda: all(p.state in "ST" for p in room.sandbox.processes()))
        assert room.sandbox.waiting(inode) == 0


def test_the_agent_without_a_name_is_the_same_user_in_everything_else(room):
    before = room.ok("cat /etc/passwd; stat -c %a:%u:%g /etc/passwd")
    number = room.ok("id -u")
    room.sandbox.name_agent(named=False)

    assert room.shell("id -un").code == 1
    assert room.shell("python3 -c 'import pwd, os; pwd.getpwuid(os.getuid())'").code == 1
    assert room.ok("id -u; touch ~/mine; test -O ~/mine; test -O ~") == number
    assert room.ok("grep -c root: /etc/passwd") == "1"
    assert room.sandbox.listing().home["mine"].uid == AGENT_UID

    room.sandbox.name_agent(named=True)
    assert room.ok("cat /etc/passwd; stat -c %a:%u:%g /etc/passwd") == before
    assert room.ok("id -un") == AGENT
    assert room.sandbox.listing().system == []


@pytest.mark.needs("processes.inspected")
def test_a_name_is_taken_and_given_as_often_as_one_likes(room):
    for named in (True, False, False, True, True, False, True):
        room.sandbox.name_agent(named=named)
        assert (room.shell("id -un").code == 0) is named


@pytest.mark.needs("processes.inspected")
@pytest.mark.needs("user.root")
def test_a_password_file_that_was_changed_inside_is_left_and_a_link_is_not_followed(room):
    room.sandbox.name_agent(named=False)
    room.ok("echo more:x:7:7::/:/bin/sh >> /etc/passwd", user=ROOT)
    room.sandbox.name_agent(named=True)
    assert room.ok("tail -n 1 /etc/passwd") == "more:x:7:7::/:/bin/sh"

    room.ok("ln -sf /tmp/other /etc/passwd; echo x > /tmp/other", user=ROOT)
    with pytest.raises(Exception, match="no plain file /etc/passwd"):
        room.sandbox.name_agent(named=False)
    assert room.ok("cat /tmp/other") == "x"
