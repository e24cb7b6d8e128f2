"""Whoever dies, and whenever: it is told in bounded time, and nothing is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from sandboxes import clock
from sandboxes.base import Limits, Listen, ProcessSpec, Root, SandboxSpec
from sandboxes.errors import SandboxError, SandboxLost
from tests.conformance import containers
from tests.conformance.conftest import KINDS, WAYS
from tests.conformance.room import Room, alive, children, command, descendants, eventually

ROOT = Path(__file__).parents[2]
#: Whose death is tried: the short names of its processes for one sandbox.
PARTS = {kind: ["shakeout-keeper", "init"] for kind in KINDS} | {
    kind: ["shakeout-relay", "container"] for kind in WAYS
}
#: In how many seconds an engine has removed what ended by itself.
SECONDS = dict.fromkeys(KINDS, 2) | dict.fromkeys(WAYS, 10)
HARNESS = """
import sys
from sandboxes.base import *
from tests.conformance.conftest import KINDS
name, run, count = sys.argv[1:]
with open("/dev/null", "r+b") as file, KINDS[name].site(run) as site:
    kept = []
    for number in range(int(count)):
        kept.append(sandbox := site.create(SandboxSpec(f"s{number}", listens=[Listen("127.0.0.1", 80)])))
        null = file.fileno()
        argv = ["sh", "-c", "trap '' TERM; setsid sleep 1000 & sleep 1000"]
        sandbox.start(ProcessSpec(argv, {"PATH": "/usr/bin:/bin"}, null, null))
    print("up", flush=True)
    sys.stdin.read()
"""


def traces(run: str) -> list[str]:
    """What carries a run's label on this machine: control groups, mounts and containers."""
    groups = [
        f"{folder}/{name}"
        for folder, names, _ in os.walk("/sys/fs/cgroup")
        for name in names
        if run in name
    ]
    groups += containers.of_run(run)
    return groups + [
        line for line in Path("/proc/self/mountinfo").read_text().splitlines() if run in line
    ]


@pytest.fixture
def alone(backend):
    """A site with one sandbox, and the processes that hold it."""
    before = set(children(os.getpid()))
    run = f"alone-{os.getpid()}-{clock.monotonic():.6f}"
    with backend.site(run) as site:
        room = Room(site.create(SandboxSpec("only", Limits(memory=256 << 20))))
        (helper,) = set(children(os.getpid())) - before
        parts = {command(pid): pid for pid in descendants(helper)}
        for pid in containers.first_processes(run):
            parts["container"] = pid
        yield room, parts
        room.leave()


@pytest.fixture(params=[0, 1])
def victim(request, kind, alone):
    """One of the processes that a sandbox consists of."""
    room, parts = alone
    return room, parts[PARTS[kind][request.param]]


def test_a_sandbox_that_died_is_lost_in_bounded_time_whatever_is_asked(victim):
    room, pid = victim
    running = room.start("sleep", "1000")
    os.kill(pid, signal.SIGKILL)
    before = clock.monotonic()

    with pytest.raises(SandboxLost):
        room.sandbox.wait(60)
    for call in (
        room.sandbox.processes,
        room.sandbox.listing,
        room.sandbox.freeze,
        room.sandbox.usage,
        room.sandbox.kill,
        lambda: room.sandbox.open(Root.HOME, "x"),
        lambda: room.sandbox.signal(running.number, 15),
        lambda: room.start("true"),
    ):
        with pytest.raises(SandboxLost):
            call()
    assert clock.monotonic() - before < 5


def test_a_sandbox_that_died_while_frozen_is_lost_too(victim):
    room, pid = victim
    room.start("sh", "-c", "while :; do :; done")
    room.sandbox.freeze()
    os.kill(pid, signal.SIGKILL)

    with pytest.raises(SandboxLost):
        room.sandbox.wait(10)


def test_a_wait_that_is_going_on_learns_that_the_sandbox_died(victim):
    room, pid = victim
    room.start("sleep", "1000")
    threading.Timer(0.2, os.kill, (pid, signal.SIGKILL)).start()
    before = clock.monotonic()

    with pytest.raises(SandboxLost):
        room.sandbox.wait(60)
    assert clock.monotonic() - before < 5


def test_a_sandbox_that_died_leaves_no_process(victim, alone, kind):
    room, pid = victim
    room.start("sh", "-c", "setsid sleep 1000 & sleep 1000")
    eventually(lambda: len(room.sandbox.processes()) == 3)
    root = alone[1]["container"] if kind in WAYS else os.getpid()
    inside = [p for p in descendants(root) if command(p) in {"sleep", "sh"}]
    os.kill(pid, signal.SIGKILL)

    assert len(inside) >= 3 or kind == "docker/runsc", "there they are processes of its own kernel"
    eventually(lambda: not any(map(alive, [*inside, root] if kind in WAYS else inside)))


def test_destroying_twice_or_after_a_loss_is_no_error(alone, kind):
    room, parts = alone
    os.kill(parts[PARTS[kind][0]], signal.SIGKILL)
    eventually(lambda: not alive(parts[PARTS[kind][1]]))

    assert room.sandbox.destroy() == []
    assert room.sandbox.destroy() == []
    with pytest.raises(SandboxLost):
        room.sandbox.processes()


def test_a_destroyed_sandbox_leaves_nothing(backend, kind):
    run = f"gone-{os.getpid()}"
    with backend.site(run) as site:
        before = set(descendants(os.getpid()))
        room = Room(site.create(SandboxSpec("one")))
        room.start("sh", "-c", "trap '' TERM; setsid sleep 1000 & sleep 1000")
        # The next sandbox stands by already; bubblewrap waits in it, and is gone from this one.
        ahead = {"shakeout-spare", "bwrap"}
        made = [p for p in descendants(os.getpid()) if command(p) not in ahead]
        made = [p for p in made if p not in before or command(p) == "shakeout-keeper"]
        made += containers.processes(run)
        assert len(made) >= (2 if kind == "docker/runsc" else 4)
        assert room.leave() == []
        eventually(lambda: not any(map(alive, made)), 2)
    assert traces(run) == []


def test_a_sandbox_that_was_forgotten_goes_with_its_site(backend, kind):
    run = f"forgotten-{os.getpid()}"
    with backend.site(run) as site:
        room = Room(site.create(SandboxSpec("one")))
        room.start("sh", "-c", "setsid sleep 1000 & sleep 1000")
        made = [
            p
            for p in descendants(os.getpid())
            if command(p) in {"sleep", "shakeout-keeper", "shakeout-relay", "init"}
        ]
        made += containers.processes(run)
    eventually(lambda: not any(map(alive, made)), SECONDS[kind])
    assert traces(run) == []
    with pytest.raises(SandboxLost):
        room.sandbox.processes()
    room.leave()


def test_a_site_that_is_closed_makes_nothing_more(backend):
    with backend.site(f"closed-{os.getpid()}") as site:
        pass
    with pytest.raises(SandboxLost):
        site.create(SandboxSpec("late"))


def harness(kind: str, run: str, count: int = 2) -> subprocess.Popen[str]:
    """Another harness process, with live sandboxes."""
    return subprocess.Popen(
        [sys.executable, "-c", HARNESS, kind, run, str(count)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def up(process: subprocess.Popen[str]) -> None:
    """Wait until its sandboxes live."""
    assert process.stdout is not None
    assert process.stdout.readline() == "up\n"


def reap(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout):
        stream.close()  # type: ignore[union-attr]


def test_a_harness_that_is_killed_leaves_nothing_within_two_seconds(backend, kind):
    run = f"killed-{os.getpid()}"
    process = harness(kind, run)
    up(process)
    made = descendants(process.pid) + containers.processes(run)
    assert len(made) >= (6 if kind == "docker/runsc" else 7)

    reap(process)

    eventually(lambda: not any(map(alive, made)), SECONDS[kind])
    eventually(lambda: traces(run) == [], SECONDS[kind])


@pytest.mark.parametrize("delay", [0.05, 0.12, 0.2, 0.3])
def test_a_harness_that_is_killed_in_the_middle_of_making_leaves_nothing(backend, kind, delay):
    run = f"early-{os.getpid()}-{int(delay * 1000)}"
    process = harness(kind, run, count=50)
    clock.sleep(delay)
    made = descendants(process.pid)

    reap(process)

    eventually(lambda: not any(map(alive, made)), 3)
    eventually(lambda: backend.sweep() is not None and traces(run) == [], SECONDS[kind] + 1)


def test_the_sweep_removes_what_a_dead_run_left_and_nothing_of_a_live_one(backend, kind, place):
    run = f"swept-{os.getpid()}"
    process = harness(kind, run)
    up(process)
    live = traces(run)
    assert backend.sweep() is not None
    assert traces(run) == live
    made = descendants(process.pid)
    helper = children(process.pid)[0]

    os.kill(helper, signal.SIGKILL)  # nobody is left to remove the control groups of the run
    reap(process)

    eventually(lambda: not any(map(alive, made)), 2)
    swept = backend.sweep()  # or somebody else's, started meanwhile
    assert traces(run) == []
    assert all(run in words for words in swept)


def test_a_killed_helper_takes_no_sandbox_with_it_and_makes_no_more(backend):
    before = set(children(os.getpid()))
    run = f"headless-{os.getpid()}"
    with backend.site(run) as site:
        (helper,) = set(children(os.getpid())) - before
        room = Room(site.create(SandboxSpec("one")))
        os.kill(helper, signal.SIGKILL)
        eventually(lambda: not alive(helper))

        assert room.ok("echo works") == "works"
        with pytest.raises(SandboxError):
            site.create(SandboxSpec("two"))
        assert room.leave() == []
    assert traces(run) == []


def test_a_sandbox_that_cannot_be_made_leaves_nothing_and_the_next_one_works(backend):
    run = f"unmade-{os.getpid()}"
    taken = Listen("127.0.0.1", 80)
    with backend.site(run) as site:
        for spec in (
            SandboxSpec("twice", listens=[taken, taken]),
            SandboxSpec("zone", zone="../../../etc/shadow"),
        ):
            with pytest.raises(SandboxError):
                site.create(spec)
        first = Room(site.create(SandboxSpec("twice")))
        assert first.ok("echo works") == "works"
        assert first.leave() == []
    assert traces(run) == []


def test_many_sandboxes_leak_no_descriptor(place):
    def cycle(number: int) -> None:
        spec = SandboxSpec(f"fd{number}", listens=[Listen("127.0.0.1", 80)])
        room = Room(place.site.create(spec))
        room.ok("true")
        room.sandbox.listing()
        assert room.leave() == []

    cycle(-1)
    before = len(list(Path("/proc/self/fd").iterdir()))
    for number in range(10 if place.kind in WAYS else 50):
        cycle(number)

    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_sandboxes_are_made_by_several_threads_at_once(place):
    problems: list[BaseException] = []

    def work(thread: int) -> None:
        try:
            for number in range(10):
                room = Room(place.site.create(SandboxSpec(f"par{thread}-{number}")))
                assert room.ok(f"echo {thread} > f; cat f") == str(thread)
                assert room.leave() == []
        except BaseException as problem:  # noqa: BLE001 - told by the test's own thread
            problems.append(problem)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert problems == []


def test_two_sandboxes_of_one_name_cannot_live_at_once(place):
    if "limits.memory" in place.gaps:
        pytest.skip("only control groups have names")
    room = Room(place.site.create(SandboxSpec("same")))
    with pytest.raises(SandboxError):
        place.site.create(SandboxSpec("same"))
    assert room.ok("echo first lives") == "first lives"
    assert room.leave() == []
    again = Room(place.site.create(SandboxSpec("same")))
    assert again.leave() == []


def test_signals_from_the_terminal_do_not_reach_the_sandbox(alone):
    _, parts = alone
    assert {os.getsid(pid) for pid in parts.values()}.isdisjoint({os.getsid(0)})


def test_output_pipes_are_closed_by_the_death_of_a_sandbox(alone, kind):
    room, parts = alone
    running = room.start("sleep", "1000")
    os.kill(parts[PARTS[kind][1]], signal.SIGKILL)
    eventually(lambda: not alive(parts[PARTS[kind][1]]))

    assert os.read(running.out, 1) == b""


def test_a_program_handed_over_is_not_held_open_by_the_harness(place):
    reading, writing = os.pipe()
    room = Room(place.site.create(SandboxSpec("pipes")))
    room.sandbox.start(ProcessSpec(["true"], {"PATH": "/usr/bin"}, writing, writing))
    os.close(writing)
    assert os.read(reading, 1) == b"", "end of file as soon as the program has ended"
    os.close(reading)
    assert room.leave() == []


@pytest.mark.parametrize("label", ["", "..", "a/b", "-x", "new\nline", "x" * 200])
def test_a_name_that_could_not_label_anything_is_refused(backend, place, label):
    with pytest.raises(SandboxError, match="no name"):
        place.site.create(SandboxSpec(label))
    with pytest.raises(SandboxError, match="no name"), backend.site(label):
        pass
