"""A program of the system can be taken away, or made to leave children behind, and nothing shows."""

from __future__ import annotations

import pytest

from sandboxes import wall
from sandboxes.base import Planted, Root, Watch
from sandboxes.errors import CommandNotFound, SandboxError
from tests.conformance.room import eventually

PATH = "/usr/local/bin:/usr/bin:/bin"


@pytest.fixture(scope="module", autouse=True)
def lingerer() -> None:
    wall.build()


def changes(room):
    return room.sandbox.listing().system


def test_a_program_is_found_wherever_it_is_and_once(make):
    room = make(workspace=[Planted("bin/tail", content=b"#!/bin/sh\n", mode=0o755)])

    assert room.sandbox.programs("tail", PATH) == ["/usr/bin/tail"]
    assert room.sandbox.programs("tail", f"bin:/nowhere:{PATH}:/usr/bin") == [
        "/workspace/bin/tail",
        "/usr/bin/tail",
    ]
    assert room.sandbox.programs("/bin/tail", "") == ["/usr/bin/tail"]
    assert room.sandbox.programs("no-such-program", PATH) == []


@pytest.mark.needs("files.system")
@pytest.mark.parametrize("program", ["/usr/bin/tail", "/usr/bin/awk", "/usr/bin/python3"])
def test_a_program_is_gone_and_comes_back_as_it_was(room, program):
    shown = room.ok(f"ls -lLi {program} | cut -d' ' -f2-; ls -l {program}; sha256sum {program}")
    number = room.sandbox.hide(program)
    assert room.shell(f"{program} --version").code == 127
    with pytest.raises(CommandNotFound):
        room.run(program)
    room.sandbox.undo(number)

    again = room.ok(f"ls -lLi {program} | cut -d' ' -f2-; ls -l {program}; sha256sum {program}")
    assert again.split() == shown.split()
    assert changes(room) == []


def test_a_program_of_the_subject_is_gone_and_comes_back(make):
    room = make(workspace=[Planted("bin/mine", content=b"#!/bin/sh\necho mine\n", mode=0o755)])
    number = room.sandbox.hide("/workspace/bin/mine")
    assert room.shell("bin/mine").code == 127
    room.sandbox.undo(number)

    assert room.ok("bin/mine") == "mine"


@pytest.mark.needs("files.system")
@pytest.mark.needs("user.root")
def test_what_was_installed_in_its_place_stays(room):
    number = room.sandbox.hide("/usr/bin/tail")
    room.ok("printf '#!/bin/sh\necho new\n' > /usr/bin/tail; chmod 755 /usr/bin/tail", user="root")
    room.sandbox.undo(number)

    assert room.ok("tail") == "new"
    assert [change.path for change in changes(room)] == ["/usr/bin/tail"]


def test_where_there_is_no_overlay_it_says_so(room, place):
    if "files.system" not in place.gaps:
        pytest.skip("there is one")
    for ask in (room.sandbox.hide, lambda path: room.sandbox.burden(path, None)):
        with pytest.raises(SandboxError, match="user grade"):
            ask("/usr/bin/tail")


@pytest.mark.needs("files.system")
@pytest.mark.parametrize(
    "path", ["/usr/bin/no-such-program", "/proc/self/exe", "/dev/null", "/etc"]
)
def test_what_cannot_be_taken_away_is_left_alone(room, path):
    before = changes(room)
    if path != "/etc":
        with pytest.raises(SandboxError):
            room.sandbox.burden(path, None)
    with pytest.raises(SandboxError):
        room.sandbox.undo(room.sandbox.hide(path) if path != "/etc" else 99)

    assert changes(room) == before


@pytest.mark.needs("files.attempts")
@pytest.mark.needs("files.system")
@pytest.mark.parametrize("program", ["true", "awk"])
def test_each_start_leaves_a_child_behind_that_nothing_gentle_ends(make, program):
    room = make(watch=[Watch.NAMES])
    number = room.sandbox.burden(f"/usr/bin/{program}", None)
    argv = ["true"] if program == "true" else ["awk", "BEGIN { exit 0 }"]
    running = room.start(*argv, watched=True)
    ended = room.sandbox.wait(10)
    assert ended is not None
    assert (ended.process, ended.exit_code) == (running.number, 0)
    [pid] = eventually(room.sandbox.lingering)
    [child] = [p for p in room.sandbox.processes() if p.planted]
    assert (child.pid, child.main) == (pid, None)
    assert list(child.argv) == argv
    assert running.silent(0.1), "it let go of the output"
    room.ok(f"kill -TERM {pid}; kill -HUP {pid}")
    assert room.ok(f"ps -o sid= -p {pid}").split() == [str(pid)]
    assert room.sandbox.lingering() == [pid]
    room.sandbox.undo(number)
    eventually(lambda: not room.sandbox.processes())

    assert changes(room) == []
    assert room.start(*argv).finish().code == 0


@pytest.mark.needs("files.attempts")
@pytest.mark.needs("files.system")
def test_the_program_gets_what_it_was_given_and_is_what_it_was(room):
    number = room.sandbox.burden("/usr/bin/python3", 0.2)
    script = "import sys, os; print(sys.argv, sys.prefix, os.environ['HOME'], sys.stdin.read())"

    assert (
        room.ok(f"echo in | python3 -c \"{script}\" a 'b c'")
        == "['-c', 'a', 'b c'] /usr /home/agent in"
    )
    room.sandbox.undo(number)


@pytest.mark.needs("files.attempts")
@pytest.mark.needs("files.system")
def test_a_child_that_has_its_time_ends_by_itself(make):
    room = make(watch=[Watch.NAMES])
    room.sandbox.burden("/usr/bin/true", 0.3)
    assert room.start("true", watched=True).finish().code == 0

    eventually(lambda: room.sandbox.lingering() == room.sandbox.processes() == [])


@pytest.mark.needs("files.attempts")
@pytest.mark.needs("files.system")
def test_children_of_unwatched_programs_are_planted_and_not_counted(make):
    room = make(watch=[Watch.NAMES])
    number = room.sandbox.burden("/usr/bin/true", None)
    room.start("true")
    eventually(lambda: [p.planted for p in room.sandbox.processes()] == [True])

    assert room.sandbox.lingering() == []
    room.sandbox.undo(number)


@pytest.mark.needs("files.system")
def test_a_process_of_the_subject_is_never_taken_for_one(make):
    room = make(watch=[Watch.NAMES])
    room.sandbox.burden("/usr/bin/true", None)
    room.start("bash", "-c", "setsid bash -c 'exec -a true sleep 30' & true", watched=True)
    planted = eventually(
        lambda: [p.planted for p in room.sandbox.processes() if p.argv[0] == "true"]
    )

    assert planted == [False]


@pytest.mark.needs("files.attempts")
@pytest.mark.needs("files.system")
def test_a_program_that_starts_in_a_session_of_its_own_is_not_the_child_that_it_leaves(make):
    room = make(watch=[Watch.NAMES])
    room.sandbox.burden("/usr/bin/true", None)
    starts = "for n in $(seq 40); do setsid /usr/bin/true; done; echo all"
    running = room.start("bash", "-c", starts, watched=True)
    seen: set[int] = set()
    while room.sandbox.wait(0.0) is None:
        seen.update(room.sandbox.lingering())

    left = room.sandbox.lingering()
    assert len(left) == 40
    assert seen <= set(left)
    assert running.line() == "all"


@pytest.mark.needs("files.attempts")
@pytest.mark.needs("files.system")
def test_nobody_but_the_outside_can_read_what_stands_in(room):
    room.sandbox.burden("/usr/bin/true", None)

    assert room.shell("cat /usr/bin/true").code == 1
    assert room.ok("ls -d /usr/bin/true") == "/usr/bin/true"


@pytest.mark.needs("files.attempts")
@pytest.mark.needs("files.system")
def test_it_can_be_undone_in_a_frozen_sandbox(make):
    room = make(watch=[Watch.NAMES])
    numbers = [room.sandbox.burden("/usr/bin/true", None), room.sandbox.hide("/usr/bin/tail")]
    room.start("sh", "-c", "/usr/bin/true; sleep 30", watched=True)
    eventually(room.sandbox.lingering)
    room.sandbox.freeze()
    for number in numbers:
        room.sandbox.undo(number)

    assert changes(room) == []
    room.sandbox.kill()
    assert room.sandbox.processes() == []


@pytest.mark.needs("files.attempts")
@pytest.mark.needs("files.system")
def test_a_stand_in_is_nothing_in_the_trees_of_the_subject(room):
    before = room.sandbox.listing()
    number = room.sandbox.burden("/usr/bin/true", None)
    room.sandbox.undo(number)

    assert room.sandbox.listing() == before
    assert room.sandbox.tree(Root.HOME, ".") == before.home
