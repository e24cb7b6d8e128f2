"""What a fault leaves for good counts as there from the start; an earlier moment comes first."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.evidence.changes import diff, with_planted
from harness.faults.state_torn_journal import half_of_last
from sandboxes.base import AGENT_UID, Entry, Kind, Listing, Root
from sandboxes.errors import SandboxError
from tests.unit.faults.fakes import FakeStateFault, Stand, file, output, request

FOLDER = Entry(Kind.DIR, 0o755, AGENT_UID, AGENT_UID, 0)


def entry(sha256: str, mtime_ns: int = 0) -> Entry:
    return Entry(Kind.FILE, 0o644, AGENT_UID, AGENT_UID, 4, sha256, mtime_ns=mtime_ns)


OLD, TORN, MINE = entry("a"), entry("b"), entry("c")


def listing(**workspace: Entry) -> Listing:
    return Listing({".": FOLDER}, {".": FOLDER, **workspace})


@pytest.fixture
def stand(tmp_path: Path) -> Iterator[Stand]:
    stand = Stand(tmp_path)
    yield stand
    stand.inbox.close()


def state(stand: Stand, name: str, when, **more) -> None:
    until = more.pop("until", None)
    stand.add(FakeStateFault(stand.log, name, **more), name, when, until)


def test_what_lasts_is_not_healed_at_the_end_and_is_told(stand):
    left = {(Root.WORKSPACE, "log"): (OLD, TORN)}
    state(stand, "a", None, left=left)
    stand.arming.start(live=False)
    stand.arming.settle()
    stand.arming.heal()

    assert stand.log == ["remember a", "inject a", "prove a"]
    assert stand.arming.planted() == left


def test_what_lasts_is_healed_by_its_until(stand):
    state(stand, "a", None, until=output("up"), left={(Root.HOME, "x"): (None, TORN)})
    stand.arming.start(live=False)
    stand.arming.heard("stdout", b"up\n")
    stand.arming.tick()
    stand.arming.heal()

    assert stand.log == ["remember a", "inject a", "prove a", "heal a"]
    assert stand.arming.planted() == {}


def test_of_two_that_last_on_one_path_the_first_state_and_the_last_count(stand):
    where = (Root.WORKSPACE, "log")
    state(stand, "a", None, left={where: (OLD, TORN)})
    state(stand, "b", None, left={where: (TORN, None)})
    stand.arming.start(live=False)
    stand.arming.heal()

    assert stand.arming.planted() == {where: (OLD, None)}


@pytest.mark.parametrize("moment", [output("up"), file("now"), request(1)])
def test_an_earlier_moment_is_kept_when_it_comes_and_once(stand, moment):
    state(stand, "a", request(2), of=moment)
    stand.sandbox.files.add("workspace:now")
    stand.arming.clock_starts()
    for _ in range(2):
        stand.arming.heard("stdout", b"up\n")
        stand.arming.gate("model", 1)
        stand.arming.tick()
    assert stand.log == ["remember a"]
    stand.arming.gate("model", 2)
    stand.arming.tick()

    assert stand.log == ["remember a", "inject a"]


def test_a_moment_that_could_not_be_kept_is_on_record(stand):
    def fail() -> None:
        raise SandboxError("no room")

    state(stand, "a", request(1), remembering=fail)
    stand.arming.start(live=False)

    assert stand.events() == ["came", "not-remembered"]


@pytest.mark.parametrize(
    ("before", "planted", "after", "seen"),
    [
        ({"log": OLD}, (OLD, TORN), {"log": TORN}, []),
        ({"log": OLD}, (entry("a", 7), TORN), {"log": entry("b", 9)}, []),
        ({"log": OLD}, (OLD, TORN), {"log": MINE}, ["changed"]),
        ({"log": OLD}, (OLD, TORN), {"log": OLD}, ["changed"]),
        ({"log": OLD}, (OLD, TORN), {}, ["removed"]),
        ({"log": OLD}, (OLD, None), {}, []),
        ({"log": OLD}, (OLD, None), {"log": MINE}, ["added"]),
        ({}, (None, TORN), {"log": TORN}, []),
        ({}, (None, TORN), {}, ["removed"]),
        ({"log": OLD}, (MINE, TORN), {"log": TORN}, ["changed"]),
        ({}, (MINE, TORN), {"log": TORN}, ["added"]),
    ],
)
def test_only_what_the_subject_made_of_it_is_a_change(before, planted, after, seen):
    first = with_planted(listing(**before), {(Root.WORKSPACE, "log"): planted})

    assert [change.change for change in diff(first, listing(**after))] == seen


@pytest.mark.parametrize(
    ("content", "left"),
    [
        (b"one\ntwo\n", b"one\nt"),
        (b"one\nlast record", b"one\nlast "),
        (b"one\nx\n", b"one\nx"),
        (b"whole\n", b"wh"),
        (b"no line", b"no "),
        (b"one\n\n\n", b"o"),
    ],
)
def test_the_last_line_is_torn_in_its_middle(content, left):
    assert content[: len(content) - half_of_last(content)] == left
