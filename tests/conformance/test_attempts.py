"""What a watched program attempts on a path is counted from outside, and it notices nothing."""

from __future__ import annotations

import signal

import pytest

from sandboxes.base import Act, Attempts, Depth, Kind, Planted, Root, Watch
from sandboxes.errors import SandboxError
from tests.conformance.room import eventually

pytestmark = pytest.mark.needs("files.attempts")

SECRET = "/workspace/box/secret"
TREE = (
    Planted("box/secret", content=b"one\n"),
    Planted("other", content=b"two\n"),
    Planted("way", Kind.LINK, target="box"),
    Planted("lost", Kind.LINK, target="box/absent"),
)


@pytest.fixture
def watched(make):
    room = make(workspace=TREE, watch=[Watch.NAMES])
    room.sandbox.watch(SECRET)
    return room


def shell(room, script: str):
    return room.start("sh", "-c", script, watched=True).finish()


def python(room, script: str):
    return room.start("/usr/bin/python3", "-Sc", f"import os\n{script}", watched=True).finish()


@pytest.mark.parametrize(
    "script",
    [
        "cat /workspace/box/secret",
        "cat box/secret",
        "cd box && cat secret",
        "cat /tmp/../workspace/./box//secret",
        "cat way/secret",
        "ln -s /workspace/box/secret /tmp/l; cat /tmp/l",
        "ln -s /workspace /tmp/w; cat /tmp/w/box/secret",
        "stat box/secret",
        "test -e box/secret",
        "test -r box/secret",
        "cd box && (cd /; true) && (exec env -i cat secret)",
        "setsid cat box/secret",
        "sh -c 'sh -c \"cat box/secret\"'",
        "box/secret; true",
    ],
)
def test_a_look_is_counted_whichever_way_leads_there(watched, script):
    assert shell(watched, script).code == 0

    counted = watched.sandbox.attempts(SECRET)

    assert counted.count() > 0
    assert counted.count([WRITE, NAME]) == 0


@pytest.mark.parametrize(
    "script",
    [
        "echo x > box/secret",
        "echo x >> way/secret",
        "rm box/secret",
        "mv box/secret away",
        "mv other box/secret",
        "ln -f other box/secret",
        "ln -sf other box/secret",
        "chmod 600 box/secret",
        "touch box/secret",
        "truncate -s 0 box/secret",
        "test -w box/secret",
        "rm box/secret; mkdir box/secret",
        "rm box/secret; mkfifo box/secret",
    ],
)
def test_a_change_is_counted_as_a_write(watched, script):
    assert shell(watched, script).code == 0

    assert watched.sandbox.attempts(SECRET).count([WRITE, NAME]) > 0


ON = Depth.ON
LOOK, READ, RUN, WRITE, NAME = Act.LOOK, Act.READ, Act.RUN, Act.WRITE, Act.NAME
LINK = Act.LINK
EXCHANGE = "import ctypes; ctypes.CDLL(None).renameat2(-100, b'crate', -100, b'box', 2); "
OPEN = "f = os.open('box/secret', os.O_RDONLY); "


@pytest.mark.parametrize(
    ("script", "acts"),
    [
        ("os.open('box/secret', os.O_RDONLY)", [READ]),
        ("os.open('box/secret', os.O_RDONLY | os.O_CREAT)", [READ]),
        ("os.open('box/secret', os.O_PATH)", [LOOK]),
        ("os.open('box/secret', os.O_RDWR)", [WRITE, READ]),
        ("os.open('box/secret', os.O_RDWR | os.O_TRUNC)", [WRITE]),
        ("os.open('box/secret', os.O_WRONLY | os.O_APPEND)", [WRITE]),
        ("os.open('box/secret', os.O_RDONLY | os.O_TRUNC)", [WRITE]),
        ("os.unlink('box/secret'); os.open('box/secret', os.O_CREAT)", [NAME, NAME]),
        ("d = os.open('box', os.O_RDONLY); os.open('secret', os.O_RDONLY, dir_fd=d)", [READ]),
        ("d = os.open('box', os.O_RDONLY); os.unlink('secret', dir_fd=d)", [NAME]),
        ("d = os.open('box', os.O_RDONLY); os.mkdir('/tmp/x', dir_fd=d)", []),
        ("os.rename('box/secret', 'box/secret2')", [NAME]),
        ("os.rename('other', 'box/secret')", [NAME]),
        ("os.rename('box', 'crate'); open('crate/secret')", [LINK]),
        ("os.rename('box', 'crate'); os.rename('crate', 'box'); open('box/secret')", [LINK, READ]),
        ("os.mkdir('crate'); " + EXCHANGE + "open('crate/secret')", [LINK]),
        ("os.unlink('box/secret'); os.rename('box', 'crate')", [NAME]),
        ("os.rename('way', 'path')", []),
        ("os.fchmod(os.open('box/secret', os.O_RDONLY), 0o600)", [READ, WRITE]),
        ("os.fchown(os.open('box/secret', os.O_RDONLY), -1, -1)", [READ, WRITE]),
        ("os.utime(os.open('box/secret', os.O_RDONLY))", [READ, WRITE]),
        ("os.utime('box/secret')", [WRITE]),
        ("os.chmod('box/secret', 0o600)", [WRITE]),
        ("os.fstat(os.open('box/secret', os.O_RDONLY))", [READ]),
        ("os.stat('box/secret'); os.lstat('box/secret')", [LOOK, LOOK]),
        ("os.readlink('way')", []),
        (
            "os.symlink('/workspace/box/secret', '/tmp/l'); os.lstat('/tmp/l'); os.stat('/tmp/l')",
            [LOOK],
        ),
        ("os.symlink('box/secret', 'l'); os.unlink('l')", []),
        ("os.link('box/secret', '/workspace/l')", [LINK]),
        ("os.stat('/proc/self/cwd/box/secret')", [LOOK]),
        ("open('/proc/self/cwd/box/secret')", [READ]),
        ("open('/proc/self/root/workspace/box/secret')", [READ]),
        ("open(f'/proc/{os.getpid()}/cwd/box/secret')", [READ]),
        ("open('/proc/thread-self/cwd/box/secret')", [READ]),
        ("open(f'/dev/fd/{os.open(\"box\", os.O_PATH)}/secret')", [READ]),
        ("open(f'/proc/self/fd/{os.open(\"box/secret\", os.O_PATH)}')", [LOOK, READ]),
        ("os.symlink('/proc/self/cwd', '/tmp/here'); open('/tmp/here/box/secret')", [READ]),
        ("os.readlink('/proc/self/cwd'); os.lstat('/proc/self/cwd')", []),
        ("os.unlink('box/secret'); os.link('other', 'box/secret')", [NAME, NAME]),
        ("os.unlink('box/secret'); os.symlink('x', 'box/secret')", [NAME, NAME]),
        (
            "os.unlink('box/secret'); os.mkdir('box/secret'); os.chdir('box/secret')",
            [NAME, NAME, RUN],
        ),
        ("os.chdir('box'); os.access('secret', os.R_OK)", [READ]),
        (
            "os.access('box/secret', os.W_OK | os.R_OK); os.access('box/secret', os.X_OK)",
            [WRITE, RUN],
        ),
        ("os.access('box/secret', os.F_OK)", [LOOK]),
        ("os.truncate('box/secret', 0)", [WRITE]),
        ("os.open('/proc/version', os.O_RDONLY)", []),
    ],
)
def test_each_call_counts_once_as_what_it_is(watched, script, acts):
    outcome = python(watched, script)

    assert (outcome.code, outcome.err) == (0, b"")
    assert watched.sandbox.attempts(SECRET) == Attempts(
        {(ON, act): acts.count(act) for act in acts}
    )


@pytest.mark.parametrize(
    "call",
    [
        "os.mkdir('box/secret')",
        "os.mkfifo('box/secret')",
        "os.link('other', 'box/secret')",
        "os.symlink('x', 'box/secret')",
        "os.open('box/secret', os.O_CREAT | os.O_EXCL)",
    ],
)
def test_making_what_is_there_is_no_more_than_a_look(watched, call):
    python(watched, call)

    assert watched.sandbox.attempts(SECRET) == Attempts({(ON, LOOK): 1})


@pytest.mark.parametrize(
    "call",
    [
        "os.unlink('box/secret')",
        "os.rmdir('box/secret')",
        "os.rename('box/secret', 'x')",
        "os.chmod('box/secret', 0o600)",
        "os.truncate('box/secret', 0)",
        "os.open('box/secret', os.O_WRONLY)",
        "os.open('box/secret', os.O_RDONLY)",
        "os.access('box/secret', os.W_OK)",
        "os.execv('box/secret', ['x'])",
        "os.rename('nowhere', 'box/secret')",
        "os.link('nowhere', 'box/secret')",
    ],
)
def test_changing_what_is_not_there_is_no_more_than_a_look(watched, call):
    watched.sandbox.take(Root.WORKSPACE, "box/secret")
    assert python(watched, call).code in (0, 1)

    assert watched.sandbox.attempts(SECRET) == Attempts({(ON, LOOK): 1})


@pytest.mark.parametrize(
    "script",
    [
        "cat other",
        "ls . box way /",
        "cat box/secret2 box/secre box/secret.away /tmp/secret /secret",
        "cd box && cat ../other",
        "echo /workspace/box/secret",
        "mkdir /tmp/box && cd /tmp/box && cat secret",
    ],
)
def test_what_lies_beside_it_is_not_counted(watched, script):
    shell(watched, script)

    assert watched.sandbox.attempts(SECRET) == Attempts()


def test_what_lies_below_a_folder_counts_for_it_also_where_nothing_is_there(make):
    room = make(workspace=TREE, watch=[Watch.NAMES])
    room.sandbox.watch("/workspace/box")
    room.sandbox.watch("/workspace/gone")
    room.sandbox.watch("/workspace/box/absent")

    python(room, "os.path.exists('box/a/b'); os.path.exists('gone/a/../b'); os.path.exists('lost')")

    expected = {(Depth.BELOW, LOOK): 1, (Depth.IN, LOOK): 1}
    assert room.sandbox.attempts("/workspace/box") == Attempts(expected)
    assert room.sandbox.attempts("/workspace/gone") == Attempts({(Depth.IN, LOOK): 1})
    assert room.sandbox.attempts("/workspace/box/absent") == Attempts({(ON, LOOK): 1})


def test_a_count_since_an_earlier_one_leaves_that_out(watched):
    shell(watched, "cat box/secret")
    before = watched.sandbox.attempts(SECRET)
    shell(watched, "cat box/secret; rm box/secret")

    since = watched.sandbox.attempts(SECRET).since(before)

    assert since.counts[ON, READ] == 1
    assert since.count([NAME]) == 1
    assert before.since(before) == Attempts()


def test_an_attempt_that_fails_counts_like_one_that_does_not(watched):
    watched.sandbox.take(Root.WORKSPACE, "box/secret")

    assert shell(watched, "cat box/secret").code == 1
    assert watched.sandbox.attempts(SECRET) == Attempts({(ON, LOOK): 1})


def test_what_was_attempted_before_the_watch_is_not_counted(make):
    room = make(workspace=TREE, watch=[Watch.NAMES])
    shell(room, "cat box/secret")
    room.sandbox.watch(SECRET)

    assert room.sandbox.attempts(SECRET) == Attempts()


def test_a_program_that_is_not_watched_is_not_counted(watched):
    watched.ok("cat box/secret; rm box/secret")

    assert watched.sandbox.attempts(SECRET) == Attempts()


def test_its_own_start_is_not_counted_and_what_it_starts_is(make):
    script = Planted("run", content=b"#!/bin/sh\n[ $# = 0 ] || exec ./run\n", mode=0o755)
    room = make(workspace=[script], watch=[Watch.NAMES])
    room.sandbox.watch("/workspace/run")

    room.start("./run", watched=True).finish()
    alone = room.sandbox.attempts("/workspace/run").count()  # its interpreter opens it
    room.start("./run", "again", watched=True).finish()

    assert alone == 1
    assert room.sandbox.attempts("/workspace/run").count() - alone == 3


def test_it_is_refused_where_nobody_watches(room):
    with pytest.raises(SandboxError, match="made without watch"):
        room.sandbox.watch(SECRET)
    assert room.start("cat", "/etc/hostname", watched=True).finish().code == 0


def test_a_count_of_what_is_not_watched_is_refused(watched):
    with pytest.raises(SandboxError, match="watch it first"):
        watched.sandbox.attempts("/workspace/other")


BUSY = """
import threading
def look():
    while True:
        os.path.exists('box/secret')
for _ in range(3):
    threading.Thread(target=look, daemon=True).start()
for _ in range(3):
    if os.fork() == 0:
        look()
print('up', flush=True)
look()
"""


def test_busy_programs_can_be_frozen_listed_thawed_and_killed(watched):
    busy = watched.start("/usr/bin/python3", "-Sc", f"import os\n{BUSY}", watched=True)
    assert busy.line() == "up"
    for _ in range(5):
        watched.sandbox.freeze()
        before = watched.sandbox.attempts(SECRET)
        assert watched.sandbox.listing().workspace["box/secret"].size == 4
        assert watched.sandbox.attempts(SECRET) == before
        watched.sandbox.thaw()
        assert watched.ok("echo on") == "on"
        assert watched.sandbox.attempts(SECRET).count() > before.count()
    watched.sandbox.freeze()
    watched.sandbox.kill()

    assert watched.sandbox.processes() == []


def test_a_busy_program_can_be_stopped_and_continued_by_signal(watched):
    busy = watched.start("/usr/bin/python3", "-Sc", f"import os\n{BUSY}", watched=True)
    assert busy.line() == "up"
    for signum in (signal.SIGSTOP, signal.SIGCONT, signal.SIGKILL):
        assert watched.sandbox.signal(busy.number, signum)
    ended = watched.sandbox.wait(10)

    assert ended is not None
    assert ended.signal == signal.SIGKILL


def test_signals_that_restart_calls_neither_break_one_nor_count_it_twice(watched):
    script = """
import ctypes, signal
signal.signal(signal.SIGALRM, lambda *_: None)
signal.siginterrupt(signal.SIGALRM, False)
signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
libc = ctypes.CDLL(None, use_errno=True)
broken = 0
for _ in range(2000):
    if libc.access(b'box/secret', 0):
        broken += 1
signal.setitimer(signal.ITIMER_REAL, 0)
print(broken)
"""
    outcome = python(watched, script)

    assert outcome.text == "0"
    assert watched.sandbox.attempts(SECRET) == Attempts({(ON, LOOK): 2000})


def test_paths_of_every_length_and_of_no_sense_are_let_through(watched):
    script = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
def failure(path):
    assert libc.access(path, 0) == -1
    return os.strerror(ctypes.get_errno())
print(failure(b'x' * 255), failure(b'x' * 256), failure(b'x/' * 2047), failure(b'x/' * 9000), sep=';')
print(failure(None), failure(1), failure(b''), failure(b'/'.join([b'..'] * 800) + b'/x'), sep=';')
os.mkdir('gone'); os.chdir('gone'); os.rmdir('../gone'); print(os.path.exists('x'))
"""
    outcome = python(watched, script)

    assert outcome.err == b""
    assert outcome.text.split("\n") == [
        "No such file or directory;File name too long;No such file or directory;File name too long",
        "Bad address;Bad address;No such file or directory;No such file or directory",
        "False",
    ]
    assert shell(watched, "cat box/secret").text == "one"


def test_a_subject_may_not_listen_to_itself_but_may_filter_itself(watched):
    script = """
import ctypes, struct
code = ctypes.create_string_buffer(struct.pack('=HBBI', 6, 0, 0, 0x7FFF0000))
program = ctypes.create_string_buffer(struct.pack('@HP', 1, ctypes.addressof(code)))
print(ctypes.CDLL(None).prctl(22, 2, program, 0, 0))
print(os.path.exists('box/secret'))
"""
    assert python(watched, script).text == "0\nTrue"
    assert watched.sandbox.attempts(SECRET) == Attempts({(ON, LOOK): 1})


def test_an_ended_program_leaves_no_listener_and_the_next_one_is_counted_too(watched):
    for number in range(1, 40):
        shell(watched, "cat box/secret")
        assert watched.sandbox.attempts(SECRET).counts[ON, READ] == number


LOCKING = """
import fcntl, struct
f = open('box/secret', 'r+')
def by_description(command, kind):
    fcntl.fcntl(f, command, struct.pack('hhqqi', kind, 0, 0, 0, 0))
"""


@pytest.mark.needs("files.locks")
@pytest.mark.parametrize(
    ("script", "count"),
    [
        ("fcntl.lockf(f, fcntl.LOCK_EX)", 1),
        ("fcntl.lockf(f, fcntl.LOCK_EX | fcntl.LOCK_NB, 8, 100)", 1),
        ("fcntl.lockf(open('way/secret'), fcntl.LOCK_SH)", 1),
        ("fcntl.flock(f, fcntl.LOCK_EX); fcntl.flock(f, fcntl.LOCK_SH | fcntl.LOCK_NB)", 2),
        ("fcntl.flock(os.open('box', os.O_RDONLY), fcntl.LOCK_EX)", 0),
        ("by_description(37, fcntl.F_WRLCK); by_description(38, fcntl.F_WRLCK)", 2),
        ("os.rename('box', 'crate'); fcntl.flock(f, fcntl.LOCK_EX); os.rename('crate', 'box')", 0),
        ("os.unlink('box/secret'); fcntl.flock(f, fcntl.LOCK_EX)", 0),
        ("fcntl.lockf(f, fcntl.LOCK_UN); fcntl.flock(f, fcntl.LOCK_UN)", 0),
        ("by_description(37, fcntl.F_UNLCK); by_description(5, fcntl.F_WRLCK)", 0),
        ("fcntl.fcntl(f, fcntl.F_GETFL); fcntl.flock(open('other'), fcntl.LOCK_EX)", 0),
        ("os.dup2(f.fileno(), 40); fcntl.flock(40, fcntl.LOCK_EX)", 1),
        (
            "if os.fork() == 0: fcntl.flock(f, fcntl.LOCK_EX); os._exit(0)\nos.wait()",
            1,
        ),
    ],
)
def test_each_attempt_to_lock_counts_once_and_giving_up_does_not(make, script, count):
    room = make(workspace=TREE, watch=[Watch.NAMES, Watch.LOCKS])
    room.sandbox.watch(SECRET)

    outcome = python(room, LOCKING + script)

    assert (outcome.code, outcome.err) == (0, b"")
    assert room.sandbox.attempts(SECRET).count([Act.LOCK]) == count


@pytest.mark.needs("files.locks")
def test_a_lock_that_is_waited_for_is_counted_while_it_waits_and_can_be_killed(make):
    room = make(workspace=TREE, watch=[Watch.LOCKS])
    room.sandbox.watch(SECRET)
    holder = room.start("flock", "box/secret", "sh", "-c", "echo held; exec sleep 60")
    assert holder.line() == "held"

    waiter = room.start("flock", "box/secret", "true", watched=True)
    eventually(lambda: room.sandbox.attempts(SECRET) == Attempts({(ON, Act.LOCK): 1}))
    room.sandbox.freeze()
    room.sandbox.thaw()
    assert room.sandbox.signal(waiter.number, signal.SIGKILL)
    assert waiter.finish().signal == signal.SIGKILL


def test_locks_are_not_counted_where_they_are_not_watched(watched):
    assert shell(watched, "flock box/secret true").code == 0

    assert watched.sandbox.attempts(SECRET).count([Act.LOCK]) == 0


def test_the_root_folder_can_be_watched(make):
    room = make(watch=[Watch.NAMES])
    room.sandbox.watch("/")
    room.start("sh", "-c", "mkdir /new; cat /etc/hostname; ls /", watched=True).finish()

    counted = room.sandbox.attempts("/")
    assert counted.count([Act.NAME], [Depth.IN]) == 1
    assert counted.count([Act.READ], [Depth.ON]) == 1
    assert counted.count([Act.READ], [Depth.BELOW]) >= 1
