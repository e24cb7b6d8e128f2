"""Chosen calls of a watched program are answered by rule, from outside, and nothing else changes."""

from __future__ import annotations

import errno
import os
import signal
from dataclasses import replace

import pytest

from sandboxes import clock
from sandboxes.base import Depth, Kind, Planted, Root, Watch
from sandboxes.errors import AddressInUse, CommandNotFound, SandboxError
from sandboxes.rules import (
    DATA_VERBS,
    After,
    Fail,
    Full,
    Room,
    Slow,
    Swap,
    Taken,
    Tear,
    Then,
    Verb,
    needs,
)
from tests.conformance.room import eventually

FILE = "/workspace/box/file"
TREE = (
    Planted("box/file", content=b"one\n"),
    Planted("other", content=b"two\n"),
    Planted("way", Kind.LINK, target="box"),
)
answers = pytest.mark.needs("files.answers")
holds = pytest.mark.needs("files.answers", "files.holds")
OPEN = "f = os.open('box/file', os.O_RDWR)\n"
FAILED = """
def failed(action, *arguments):
    try:
        action(*arguments)
    except OSError as error:
        return error.errno
"""


@pytest.fixture
def ruled(make):
    """A room in which a rule is in force; gives the room and the rule's number."""

    def make_ruled(rule, *also):
        room = make(workspace=TREE, watch=[*needs(rule), *also])
        return room, room.sandbox.intercept(rule)

    return make_ruled


def start(room, script: str):
    return room.start("/usr/bin/python3", "-Sc", f"import os\n{FAILED}{script}", watched=True)


def python(room, script: str):
    outcome = start(room, script).finish()
    assert (outcome.code, outcome.err) == (0, b""), outcome
    return outcome.text


# -- Fail


@answers
@pytest.mark.parametrize(
    ("script", "verb"),
    [
        (OPEN + "print(failed(os.read, f, 1))", Verb.READ),
        (OPEN + "print(failed(os.pread, f, 1, 0))", Verb.READ),
        (OPEN + "print(failed(os.readv, f, [bytearray(1)]))", Verb.READ),
        (OPEN + "print(failed(os.preadv, f, [bytearray(1)], 0))", Verb.READ),
        (OPEN + "print(failed(os.write, f, b'x'))", Verb.WRITE),
        (OPEN + "print(failed(os.pwrite, f, b'x', 0))", Verb.WRITE),
        (OPEN + "print(failed(os.writev, f, [b'x']))", Verb.WRITE),
        (OPEN + "print(failed(os.pwritev, f, [b'x'], 0))", Verb.WRITE),
        (OPEN + "print(failed(os.fsync, f))", Verb.FSYNC),
        (OPEN + "print(failed(os.fdatasync, f))", Verb.FSYNC),
        (OPEN + "print(failed(os.ftruncate, f, 0))", Verb.TRUNCATE),
        (OPEN + "print(failed(os.posix_fallocate, f, 0, 9))", Verb.TRUNCATE),
        ("print(failed(os.truncate, 'box/file', 0))", Verb.TRUNCATE),
        (OPEN + "import mmap\nprint(failed(mmap.mmap, f, 4))", Verb.MAP),
        (OPEN + "o = os.open('o', 66)\nprint(failed(os.sendfile, o, f, 0, 4))", Verb.READ),
        (OPEN + "o = os.open('o', 66)\nprint(failed(os.copy_file_range, o, f, 4))", Verb.WRITE),
        (OPEN + "r, w = os.pipe()\nprint(failed(os.splice, f, w, 4))", Verb.READ),
        ("print(failed(os.open, 'way/file', os.O_RDONLY))", Verb.OPEN),
        ("print(failed(os.stat, 'way/file'))", Verb.LOOK),
        ("print(failed(os.rename, 'box/file', 'x'))", Verb.RENAME),
        ("print(failed(os.rename, 'other', 'box/file'))", Verb.RENAME),
        ("print(failed(os.unlink, 'box/file'))", Verb.UNLINK),
        ("print(failed(os.chmod, 'box/file', 0o600))", Verb.CHANGE),
        (OPEN + "print(failed(os.fchmod, f, 0o600))", Verb.CHANGE),
        ("print(failed(os.execv, 'box/file', ['x']))", Verb.RUN),
    ],
)
def test_each_call_can_be_failed_and_nothing_of_it_is_done(ruled, script, verb):
    room, rule = ruled(Fail(FILE, (verb,), errno.EDQUOT), Watch.NAMES)

    assert python(room, script) == str(errno.EDQUOT)
    assert room.sandbox.met(rule) == {verb: 1}
    assert room.ok("cat box/file") == "one"


@answers
def test_what_a_rule_is_not_about_goes_on(ruled):
    room, rule = ruled(Fail(FILE, DATA_VERBS, errno.EIO))

    python(
        room,
        OPEN
        + "os.lseek(f, 0, 0); os.fstat(f); os.dup(f); os.close(f); os.stat('box/file')\n"
        + "g = os.open('other', os.O_RDWR); os.write(g, os.read(g, 4)); os.listdir('box')\n"
        + "h = os.open('box/file', os.O_RDWR); os.unlink('box/file'); os.write(h, b'x')\n"
        + "r, w = os.pipe(); os.write(w, b'x'); os.read(r, 1)",
    )

    assert room.sandbox.met(rule) == {}


@answers
def test_a_descriptor_that_was_opened_before_the_rule_is_reached(make):
    room = make(workspace=TREE, watch=[Watch.DATA])
    reading, writing = os.pipe()
    script = OPEN + "print('up', flush=True)\nos.read(0, 1)\nprint(failed(os.read, f, 1))"
    running = room.start(
        "/usr/bin/python3", "-Sc", f"import os\n{FAILED}{script}", stdin=reading, watched=True
    )
    assert running.line() == "up"
    rule = room.sandbox.intercept(Fail("/workspace/box", (Verb.READ,), errno.EIO))
    for fd in (writing, reading):
        os.close(fd)

    assert running.finish().text == str(errno.EIO)
    assert room.sandbox.met(rule) == {"read": 1}


@answers
def test_threads_and_children_are_reached(ruled):
    room, rule = ruled(Fail("/workspace/box", (Verb.READ,), errno.EIO))

    said = python(
        room,
        OPEN
        + "import threading\n"
        + "def read(): print(failed(os.read, f, 1), flush=True)\n"
        + "t = threading.Thread(target=read); t.start(); t.join()\n"
        + "if os.fork() == 0: read(); os._exit(0)\n"
        + "os.wait(); os.dup2(f, 0); os.execv('/bin/cat', ['cat', '/dev/null'])",
    )

    assert said.split() == [str(errno.EIO)] * 2
    assert room.sandbox.met(rule) == {"read": 2}


@answers
def test_a_released_rule_is_over_and_what_is_not_watched_was_never_under_it(ruled):
    room, rule = ruled(Fail(FILE, (Verb.READ,), errno.EIO))
    assert room.ok("cat box/file") == "one"
    assert python(room, OPEN + "print(failed(os.read, f, 9))") == str(errno.EIO)

    assert room.sandbox.release(rule) == {"read": 1}
    assert python(room, OPEN + "print(os.read(f, 3).decode())") == "one"
    with pytest.raises(SandboxError, match="no rule"):
        room.sandbox.met(rule)


@answers
def test_asynchronous_calls_are_no_way_round(ruled):
    room, _ = ruled(Fail(FILE, (Verb.READ,), errno.EIO))
    script = (
        "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"
        "print(libc.syscall(425, 8, ctypes.create_string_buffer(200)), ctypes.get_errno())"
    )

    assert python(room, script) == f"-1 {errno.ENOSYS}"


@answers
def test_the_first_of_two_rules_decides(ruled):
    room, first = ruled(Fail(FILE, (Verb.READ,), errno.EIO))
    second = room.sandbox.intercept(Fail("/workspace", (Verb.READ,), errno.EROFS))

    assert python(room, OPEN + "print(failed(os.read, f, 9))") == str(errno.EIO)
    assert (room.sandbox.met(first), room.sandbox.met(second)) == ({"read": 1}, {})


@answers
def test_attempts_are_counted_beside_a_rule(ruled):
    room, _ = ruled(Fail(FILE, (Verb.OPEN, Verb.READ), errno.EIO))
    room.sandbox.watch(FILE)

    python(room, "failed(os.open, 'box/file', os.O_RDONLY)")

    assert room.sandbox.attempts(FILE).count(depths=[Depth.ON]) == 1


@pytest.mark.needs("files.answers")
def test_a_rule_that_could_meet_nothing_is_refused(make):
    room = make(watch=[Watch.NAMES])
    for rule, lacking in (
        (Fail(FILE, (Verb.READ,), errno.EIO), "data"),
        (Slow(FILE, (Verb.OPEN,), 1.0), "hold"),
        (Tear(FILE, 1, Then.KILL), "data"),
        (Full(9), "descriptors"),
        (Taken("127.0.0.1", 5555), "binds"),
    ):
        with pytest.raises(SandboxError, match=f"without watching {lacking}"):
            room.sandbox.intercept(rule)


@answers
def test_a_program_that_cannot_be_started_says_so_also_where_everything_is_watched(make):
    room = make(watch=tuple(Watch))
    for _ in range(3):
        with pytest.raises(CommandNotFound, match="nope"):
            room.start("nope", watched=True)
    assert room.start("echo", "on", watched=True).finish().text == "on"


# -- Tear


@answers
@pytest.mark.parametrize(
    ("write", "left", "offset"),
    [
        ("os.write(f, b'ABCDEFG')", "ABCD", 4),
        ("os.lseek(f, 2, 0); os.write(f, b'ABCDEFG')", "onABCD", 6),
        ("os.pwrite(f, b'ABCDEFG', 1)", "oABCD", 0),
        ("os.writev(f, [b'AB', b'', b'CDE', b'FG'])", "ABCD", 4),
        ("os.pwritev(f, [b'ABC', b'DEFG'], 3)", "oneABCD", 0),
        (
            "f = os.open('way/file', os.O_WRONLY | os.O_APPEND); os.write(f, b'ABCDEFG')",
            "one\nABCD",
            8,
        ),
    ],
)
def test_only_the_first_bytes_of_a_write_reach_the_file(ruled, write, left, offset):
    room, rule = ruled(Tear("/workspace/box", 4, Then.ERROR))
    *before, last = write.split("; ")

    said = python(
        room,
        OPEN + "".join(f"{line}\n" for line in before) + f"print(failed(lambda: {last}), end=' ')\n"
        "print(os.lseek(f, 0, os.SEEK_CUR)); os.lseek(f, 0, 2)\nos.write(f, b'')",
    )

    assert said == f"{errno.EIO} {offset}"
    assert room.ok("cat box/file") == left
    assert room.sandbox.met(rule) == {"bytes": 4, "of": 7}


@answers
def test_one_write_is_torn_and_no_smaller_one(ruled):
    room, rule = ruled(Tear(FILE, 2, Then.SHORT))

    said = python(room, OPEN + "print([os.write(f, b'123'[:n]) for n in (1, 2, 3, 3)])")

    assert said == "[1, 2, 2, 3]"
    assert room.ok("cat box/file") == "11212123"
    assert room.sandbox.met(rule) == {"bytes": 2, "of": 3}


@answers
def test_a_write_that_the_kernel_refuses_is_not_torn(ruled):
    room, rule = ruled(Tear(FILE, 2, Then.KILL))
    script = (
        OPEN + "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"
        "def says(*call): return libc.syscall(*call), ctypes.get_errno()\n"
        "word = ctypes.create_string_buffer(b'12345')\nlong = ctypes.c_long\n"
        "pwrite, writev, write = {'x86_64': (18, 20, 1), 'aarch64': (68, 66, 64)}[os.uname().machine]\n"
        "print(says(pwrite, f, word, long(5), long(-5)), says(writev, f, word, long(2000)),\n"
        "      says(write, f, None, long(9)), says(write, 77, word, long(5)))"
    )

    refused = [errno.EINVAL, errno.EINVAL, errno.EFAULT, errno.EBADF]
    assert python(room, script) == " ".join(f"(-1, {number})" for number in refused)
    assert room.sandbox.met(rule) == {}


@answers
def test_who_tears_is_killed_and_so_is_the_main_program_of_a_child(ruled):
    room, rule = ruled(Tear(FILE, 2, Then.KILL))

    outcome = start(room, OPEN + "os.write(f, b'12345')\nprint('on')").finish()
    assert (outcome.signal, outcome.out) == (signal.SIGKILL, b"")
    assert room.sandbox.release(rule) == {"bytes": 2, "of": 5, "killed": 1}

    rule = room.sandbox.intercept(Tear(FILE, 2, Then.KILL))
    script = (
        "if os.fork(): os.read(os.pipe()[0], 1)\n" + OPEN + "print(failed(os.write, f, b'123'))"
    )
    outcome = start(room, script).finish()
    assert (outcome.signal, outcome.text) == (signal.SIGKILL, str(errno.EIO))
    assert room.sandbox.met(rule)["killed"] == 1


@answers
def test_a_pipe_that_nobody_reads_does_not_hold_the_keeper(ruled):
    room, rule = ruled(Tear("/workspace", 2, Then.SHORT))
    room.ok("mkfifo pipe")

    running = start(
        room,
        "f = os.open('pipe', os.O_RDWR)\nprint('up', flush=True)\nwhile True: os.write(f, bytes(4096))",
    )
    assert running.line() == "up"
    assert room.sandbox.met(rule) == {}
    assert room.sandbox.signal(running.number, signal.SIGKILL)


# -- Slow


@holds
def test_a_call_takes_so_much_longer_and_then_is_done(ruled):
    room, rule = ruled(Slow(FILE, (Verb.READ,), 0.3))
    began = clock.monotonic()

    assert python(room, OPEN + "print(os.read(f, 3).decode())") == "one"
    assert clock.monotonic() - began >= 0.3
    assert room.sandbox.met(rule) == {"read": 1, "whole": 1}


HELD = "print('up', flush=True)\n" + OPEN + "os.read(f, 9)\nprint('done')"


@holds
def test_what_is_held_can_be_frozen_thawed_stopped_continued_and_listed(ruled):
    room, rule = ruled(Slow(FILE, (Verb.READ,), 1.0))
    began = clock.monotonic()
    running = start(room, HELD)
    eventually(lambda: room.sandbox.met(rule))
    for _ in range(3):
        room.sandbox.freeze()
        assert room.sandbox.listing().workspace["box/file"].size == 4
        room.sandbox.thaw()
        assert room.ok("echo on") == "on"
        for signum in (signal.SIGSTOP, signal.SIGCONT):
            assert room.sandbox.signal(running.number, signum)

    assert running.finish().text == "up\ndone"
    assert 1.0 <= clock.monotonic() - began < 10
    assert room.sandbox.met(rule) == {"read": 1, "whole": 1}


@holds
def test_what_is_held_can_be_killed_also_while_it_is_frozen(ruled):
    for frozen in (False, True):
        room, rule = ruled(Slow(FILE, (Verb.READ,), 3600.0))
        running = start(room, HELD)
        eventually(lambda room=room, rule=rule: room.sandbox.met(rule))
        if frozen:
            room.sandbox.freeze()
        room.sandbox.kill()
        assert room.sandbox.processes() == []
        assert running.finish().signal == signal.SIGKILL
        assert room.sandbox.met(rule) == {"read": 1}


@holds
def test_a_release_lets_everybody_go_on_at_once(ruled):
    room, rule = ruled(Slow("/workspace", (Verb.READ,), 3600.0))
    running = [start(room, HELD), start(room, HELD)]
    eventually(lambda: room.sandbox.met(rule) == {"read": 2})

    assert room.sandbox.release(rule) == {"read": 2}
    assert [(each.line(), each.line()) for each in running] == [("up", "done")] * 2


@holds
def test_others_go_on_while_one_is_held_and_a_destroyed_sandbox_holds_nobody(ruled):
    room, rule = ruled(Slow(FILE, (Verb.OPEN,), 3600.0))
    start(room, HELD)
    eventually(lambda: room.sandbox.met(rule))

    assert python(room, "print(os.read(os.open('other', 0), 3).decode())") == "two"


@holds
def test_an_interrupted_call_comes_again_for_the_rest_of_its_time(ruled):
    room, rule = ruled(Slow(FILE, (Verb.READ,), 0.5))
    script = (
        OPEN + "import signal, time\n"
        "signal.signal(signal.SIGALRM, lambda *_: None); signal.siginterrupt(signal.SIGALRM, False)\n"
        "signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)\nbegan = time.monotonic()\n"
        "os.read(f, 9)\nprint(0.5 <= time.monotonic() - began < 5)"
    )

    assert python(room, script) == "True"
    assert room.sandbox.met(rule) == {"read": 1, "whole": 1}


# -- Swap

swaps = pytest.mark.needs("files.attempts")
SWAP = Swap("workspace", "box/file", "/workspace/other", After.LOOK)


@swaps
@pytest.mark.parametrize(
    ("script", "said", "met"),
    [
        ("os.stat('box/file'); print(open('box/file').read())", "two", {"through": 1}),
        ("os.access('way/file', 4); print(open('way/file').read())", "two", {"through": 1}),
        (
            "os.lstat('box/file'); os.stat('box/file'); print(os.path.islink('box/file'))",
            "False",
            {},
        ),
        ("print(open('box/file').read())", "one", {}),
        ("os.stat('box/file'); print(open('other').read())", "two", {}),
        (
            "os.stat('box/file'); print(failed(os.open, 'box/file', os.O_NOFOLLOW))",
            "40",
            {"itself": 1},
        ),
        (
            "os.stat('box/file'); os.unlink('box/file'); print(os.listdir('box'))",
            "[]",
            {"itself": 1},
        ),
        (
            "os.stat('box/file'); print(failed(os.open, 'box/file', os.O_CREAT | os.O_EXCL))",
            "17",
            {},
        ),
        (
            "os.stat('box/file'); os.chmod('box/file', 0o600); print(oct(os.stat('other').st_mode))",
            "0o100600",
            {"through": 1},
        ),
        (
            "os.stat('box/file')\nif os.fork() == 0: print(open('box/file').read(), flush=True); os._exit(0)\nos.wait()",
            "two",
            {"through": 1},
        ),
    ],
)
def test_a_path_is_a_link_between_a_look_at_it_and_its_use(ruled, script, said, met):
    room, rule = ruled(SWAP)

    assert python(room, script) == said
    assert room.sandbox.met(rule) == met


def entries(room):
    return {
        path: replace(entry, mtime_ns=0) for path, entry in room.sandbox.listing().workspace.items()
    }


@swaps
def test_each_of_two_paths_is_swapped_and_comes_back(ruled):
    room, rule = ruled(SWAP)
    other = room.sandbox.intercept(Swap("workspace", "other", "/workspace/third", After.LOOK))
    before = entries(room)
    python(room, "open('third', 'w')")
    again = room.sandbox.listing().workspace
    python(room, "[(os.stat(p), open(p)) for p in ('other', 'box/file')]")

    assert room.sandbox.met(rule) == room.sandbox.met(other) == {"through": 1}
    room.sandbox.release(other)
    room.sandbox.release(rule)
    assert {p: entries(room)[p] for p in before} == before
    assert again.keys() == room.sandbox.listing().workspace.keys()


@swaps
def test_what_was_there_comes_back_as_it_was(ruled):
    room, rule = ruled(SWAP)
    before = entries(room)
    python(room, "os.stat('box/file'); open('box/file').read()")
    assert room.sandbox.listing().workspace["box/file"].target == "/workspace/other"

    room.sandbox.release(rule)

    assert entries(room) == before


@swaps
def test_what_became_of_the_link_since_stays(ruled):
    for act, left in (("unlink('box/file')", None), ("replace('other', 'box/file')", "two")):
        room, rule = ruled(SWAP)
        python(room, f"os.stat('box/file'); os.{act}")
        room.sandbox.release(rule)
        assert room.sandbox.exists(Root.WORKSPACE, "box/file") is (left is not None)
        assert left is None or room.ok("cat box/file") == left


@swaps
def test_a_folder_and_an_open_before_it(ruled):
    room, rule = ruled(Swap("workspace", "box", "/nowhere", After.OPEN))

    said = python(
        room, "os.stat('box/file'); print(open('box/file').read(3), failed(open, 'box/file'))"
    )

    assert said == f"one {errno.ENOENT}"
    assert room.sandbox.release(rule) == {"through": 1}
    assert room.ok("cat box/file") == "one"


@swaps
def test_nothing_cannot_be_swapped(make):
    room = make(watch=[Watch.NAMES])
    with pytest.raises(SandboxError, match="No such file"):
        room.sandbox.intercept(Swap("workspace", "absent", "/", After.LOOK))


# -- Taken

binds = pytest.mark.needs("network.binds")
BIND = """
import socket
def bind(host, kind=socket.SOCK_STREAM, only=0):
    s = socket.socket(socket.AF_INET6 if ':' in host else socket.AF_INET, kind)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if ':' in host:
        s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, only)
    return failed(s.bind, (host, 5555))
"""


@binds
@pytest.mark.parametrize(
    ("held", "asked", "met"),
    [
        ("127.0.0.1", "'127.0.0.1'", 1),
        ("127.0.0.1", "'0.0.0.0'", 1),
        ("127.0.0.1", "'::'", 1),
        ("127.0.0.1", "'::ffff:127.0.0.1'", 1),
        ("127.0.0.1", "'::', only=1", 0),
        ("127.0.0.1", "'127.0.0.2'", 0),
        ("127.0.0.1", "'::1'", 0),
        ("127.0.0.1", "'127.0.0.1', socket.SOCK_DGRAM", 0),
        ("0.0.0.0", "'127.0.0.2'", 1),
        ("::", "'127.0.0.1'", 1),
        ("::", "'::1', only=1", 1),
        ("::1", "'::1'", 1),
    ],
)
def test_a_bind_counts_exactly_where_the_kernel_refuses_it(ruled, held, asked, met):
    room, rule = ruled(Taken(held, 5555))

    said = python(room, BIND + f"print(bind({asked}))")

    assert said == (str(errno.EADDRINUSE) if met else "None")
    assert room.sandbox.release(rule) == ({"binds": 1} if met else {})
    assert python(room, BIND + f"print(bind({asked}))") == "None"


@binds
def test_an_address_that_is_in_use_cannot_be_taken(make):
    room = make(watch=[Watch.BINDS])
    code = "import socket, time\ns = socket.create_server(('127.0.0.1', 5555))\nprint('up', flush=True)\ntime.sleep(99)"
    room.start("python3", "-c", code).line()

    with pytest.raises(AddressInUse, match="5555"):
        room.sandbox.intercept(Taken("127.0.0.1", 5555))


# -- Room


@pytest.mark.needs("files.answers", "disk.resize")
def test_a_write_for_which_there_is_no_room_is_counted_and_goes_on(ruled):
    room, rule = ruled(Room())
    room.sandbox.resize(16 << 10)

    said = python(
        room,
        "f = os.open('box/new', os.O_CREAT | os.O_WRONLY)\n"
        "print(os.write(f, b'x' * 4096), os.write(f, b'x' * 65536) < 65536)\n"
        "print(failed(os.write, f, b'x'), os.pwrite(f, b'y' * 4096, 0))\n"
        "os.unlink('box/new')\n"
        "print(os.write(1, b''), os.write(os.open('box/file', os.O_WRONLY), b'x'))",
    )

    assert said.split() == ["4096", "True", str(errno.ENOSPC), "4096", "0", "1"]
    assert room.sandbox.release(rule) == {"calls": 2}


# -- descriptors

descriptors = pytest.mark.needs("process.descriptors")
LIMIT = "import resource\nlimit = lambda: resource.getrlimit(resource.RLIMIT_NOFILE)[0]\n"


@descriptors
def test_a_full_table_fails_what_needs_one_more_and_nothing_else(ruled):
    room, rule = ruled(Full(10))

    said = python(
        room,
        LIMIT + "f = 0\nwhile f < 8: f = os.dup(0)\n"
        "print(failed(os.pipe), failed(os.dup2, 0, 5), failed(os.dup, 0), failed(os.dup, 0))\n"
        "os.close(4); print(failed(os.dup, 0), failed(os.dup, 0), limit())",
    )

    assert said == f"{errno.EMFILE} None None {errno.EMFILE}\nNone {errno.EMFILE} 1024"
    assert room.sandbox.met(rule) == {"calls": 3}


@descriptors
def test_the_limit_of_all_that_lives_is_lowered_and_given_back(make):
    room = make()
    waiting = "print(limit(), flush=True)\nos.read(0, 1)\nprint(limit())"
    reading, writing = os.pipe()
    running = room.start("/usr/bin/python3", "-c", f"import os\n{LIMIT}{waiting}", stdin=reading)
    assert running.line() == "1024"

    room.sandbox.limit(descriptors=9)
    assert room.ok("ulimit -n") == "9"
    os.write(writing, b"x")
    assert running.finish().text == "9"
    room.sandbox.reset_limit("descriptors")
    assert room.ok("ulimit -n") == "1024"
    for fd in (reading, writing):
        os.close(fd)


# -- aliases


def test_a_file_has_a_second_name_until_that_is_dropped(make):
    room = make(workspace=TREE)
    before = room.sandbox.listing().workspace
    room.sandbox.alias(Root.WORKSPACE, "box/file", "FILE")
    room.ok("echo more >> box/FILE")
    assert room.ok("cat box/file") == "one\nmore"
    with pytest.raises(SandboxError):
        room.sandbox.alias(Root.WORKSPACE, "box/file", "FILE")

    room.sandbox.drop_alias(Root.WORKSPACE, "box/file", "FILE")

    assert set(room.sandbox.listing().workspace) == set(before)
    with pytest.raises(SandboxError, match="no second name"):
        room.sandbox.drop_alias(Root.WORKSPACE, "box/file", "FILE")


def test_a_second_name_that_something_else_has_since_stays(make):
    room = make(workspace=TREE)
    room.sandbox.alias(Root.WORKSPACE, "box/file", "FILE")
    room.ok("mv other box/FILE")

    room.sandbox.drop_alias(Root.WORKSPACE, "box/file", "FILE")

    assert room.ok("cat box/file box/FILE") == "one\ntwo"


@pytest.mark.parametrize(
    ("path", "name"), [("box", "BOX"), ("absent", "x"), ("way", "x"), ("other", "a/b")]
)
def test_only_a_file_has_a_second_name_and_only_in_its_folder(make, path, name):
    room = make(workspace=TREE)
    with pytest.raises(SandboxError):
        room.sandbox.alias(Root.WORKSPACE, path, name)
