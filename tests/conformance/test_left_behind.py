"""What an earlier crash leaves can be made from outside, and taken back where nobody touched it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sandboxes.base import Kind, Lock, Planted, Root
from sandboxes.errors import SandboxError

HERE = Root.WORKSPACE
TREE = (
    Planted("journal", content=b"one\ntwo\nthree\n", mode=0o640),
    Planted("deep/er/file", content=b"x\n", mode=0o600),
    Planted("deep/link", Kind.LINK, target="er/file"),
    Planted("way", Kind.LINK, target="deep"),
)


@pytest.fixture
def room(make):
    return make(workspace=TREE, home=[Planted("journal", content=b"at home\n")])


def held(room, path="."):
    return {p: replace(e, mtime_ns=0) for p, e in room.sandbox.tree(HERE, path).items()}


def test_a_tree_is_a_path_and_what_is_below_it_as_a_listing_shows_them(room):
    listed = room.sandbox.listing().workspace

    assert room.sandbox.tree(HERE, ".") == listed
    assert room.sandbox.tree(HERE, "journal") == {".": listed["journal"]}
    assert room.sandbox.tree(HERE, "deep/er")["file"] == listed["deep/er/file"]
    assert room.sandbox.tree(HERE, "way") == {".": listed["way"]}
    assert room.sandbox.tree(HERE, "absent/way") == {}


def test_a_file_is_cut_in_its_place_and_given_back(room):
    before = held(room)
    running = room.start("sh", "-c", "exec 3>> journal; echo up; sleep 30")
    running.line()
    number = room.sandbox.cut(HERE, "journal", 10)
    assert room.ok("cat journal; stat -c %a journal") == "one\ntwo\nth640"
    room.sandbox.undo(number)

    assert held(room) == before


def test_a_cut_file_that_moved_is_given_back_where_it_is(room):
    number = room.sandbox.cut(HERE, "journal", 10)
    room.ok("mv journal moved; echo new > journal")
    room.sandbox.undo(number)

    assert room.ok("cat moved; cat journal") == "one\ntwo\nthree\nnew"


def test_a_file_that_is_too_long_to_keep_is_not_cut(room):
    room.ok("truncate -s 1T journal")
    with pytest.raises(SandboxError, match="no more than 67108864 can be put back"):
        room.sandbox.cut(HERE, "journal", 10)

    assert room.ok("stat -c %s journal") == str(1 << 40)


@pytest.mark.parametrize("touch", ["echo x >> journal", "printf 'One\ntwo\nth' > journal"])
def test_a_cut_file_that_was_touched_stays_as_it_is(room, touch):
    number = room.sandbox.cut(HERE, "journal", 10)
    room.ok(touch)
    before = held(room)
    room.sandbox.undo(number)

    assert held(room) == before


@pytest.mark.parametrize(
    ("path", "size"),
    [("journal", 14), ("journal", -1), ("way/er/file", 0), ("absent", 0), ("deep", 0)],
)
def test_what_cannot_be_cut_says_so_and_is_left_alone(room, path, size):
    before = held(room)
    with pytest.raises(SandboxError):
        room.sandbox.cut(HERE, path, size)

    assert held(room) == before


def test_a_path_is_left_where_nothing_was_and_taken_away_again(room):
    before = held(room)
    number = room.sandbox.leave(HERE, Planted("deep/lock", content=b"12\n", mode=0o600))
    assert room.ok("cat deep/lock; stat -c %a:%U deep/lock") == "12\n600:agent"
    room.sandbox.undo(number)

    assert held(room) == before


@pytest.mark.parametrize("touch", ["echo 13 > lock", "chmod 644 lock", "rm lock", "mv lock other"])
def test_what_was_left_and_touched_is_the_subjects(room, touch):
    number = room.sandbox.leave(HERE, Planted("lock", content=b"12\n", mode=0o600))
    room.ok(touch)
    before = held(room)
    room.sandbox.undo(number)

    assert held(room) == before


@pytest.mark.parametrize("path", ["journal", "way", "absent/lock", "way/lock", "../lock"])
def test_nothing_is_left_where_something_is_or_where_it_cannot_be(room, path):
    before = held(room)
    with pytest.raises(SandboxError):
        room.sandbox.leave(HERE, Planted(path, content=b"x"))

    assert held(room) == before


@pytest.mark.parametrize("path", ["journal", "deep"])
def test_a_path_goes_back_to_what_it_was_and_forward_again(room, path):
    then = held(room)
    room.sandbox.save(HERE, path, "then")
    room.ok("echo four >> journal; rm deep/er/file; mkdir deep/new; echo y > deep/new/file")
    now = held(room)
    number = room.sandbox.revert(HERE, path, "then")
    assert held(room, path) == {
        p.removeprefix(f"{path}/") if p != path else ".": entry
        for p, entry in then.items()
        if p == path or p.startswith(f"{path}/")
    }
    room.sandbox.undo(number)

    assert held(room) == now


def test_what_was_not_there_goes_back_to_that_and_what_is_gone_comes_back(room):
    room.sandbox.save(HERE, "later", "then")
    room.sandbox.save(HERE, "journal", "other")
    room.ok("echo x > later; rm journal")
    first = room.sandbox.revert(HERE, "later", "then")
    second = room.sandbox.revert(HERE, "journal", "other")
    assert room.ok("test -e later || cat journal") == "one\ntwo\nthree"
    room.sandbox.undo(second)
    room.sandbox.undo(first)

    assert room.ok("cat later; test -e journal || echo gone") == "x\ngone"


def test_each_path_goes_back_to_its_own_copy_of_one_moment(room):
    then = held(room)
    for path in ("journal", "deep", "journal"):
        room.sandbox.save(HERE, path, "then")
    room.ok("echo four >> journal; echo y > deep/er/file")
    now = held(room)
    numbers = [room.sandbox.revert(HERE, path, "then") for path in ("journal", "deep", "journal")]

    assert held(room) == then
    for number in reversed(numbers):
        room.sandbox.undo(number)
    assert held(room) == now


def test_what_cannot_be_copied_is_not_taken_away_for_its_copy(room):
    room.ok("mkfifo pipe")
    with pytest.raises(SandboxError, match="no file, link or folder"):
        room.sandbox.save(HERE, "pipe", "then")
    room.ok("rm pipe; echo x > pipe")
    with pytest.raises(SandboxError, match="was not saved"):
        room.sandbox.revert(HERE, "pipe", "then")

    assert room.ok("cat pipe") == "x"


def test_what_was_reverted_and_touched_is_the_subjects(room):
    room.sandbox.save(HERE, "deep", "then")
    room.ok("echo y > deep/er/file")
    number = room.sandbox.revert(HERE, "deep", "then")
    room.ok("echo z > deep/mine")
    before = held(room)
    room.sandbox.undo(number)

    assert held(room) == before
    assert room.ok("cat deep/er/file deep/link") == "x\nx"


def test_nothing_is_seen_of_what_waits_and_nothing_is_done_twice(room):
    room.sandbox.save(HERE, "journal", "then")
    number = room.sandbox.cut(HERE, "journal", 3)
    room.sandbox.undo(number)

    with pytest.raises(SandboxError, match="nothing was left under the number"):
        room.sandbox.undo(number)
    with pytest.raises(SandboxError, match="was not saved"):
        room.sandbox.revert(HERE, "journal", "never")
    assert room.ok("find / -xdev -name 'saved-*' -o -name 'aside-*' 2>/dev/null || true") == ""
    assert room.sandbox.tree(Root.HOME, "journal")["."].size == 8


def test_it_can_be_taken_back_in_a_frozen_sandbox(room):
    before = held(room)
    room.sandbox.save(HERE, "deep", "then")
    room.ok("rm -r deep")
    reverted = room.sandbox.revert(HERE, "deep", "then")
    cut = room.sandbox.cut(HERE, "journal", 1)
    left = room.sandbox.leave(HERE, Planted("lock", content=b"x"))
    running = room.start("sleep", "30")
    room.sandbox.freeze()
    for number in (left, cut, reverted):
        room.sandbox.undo(number)

    assert held(room).keys() == {p for p in before if not p.startswith("deep")}
    room.sandbox.kill()
    running.finish()


def test_a_path_is_left_in_the_place_of_another_which_comes_back(room):
    before = held(room)
    number = room.sandbox.leave(HERE, Planted("journal", content=b"12\n"), instead=True)
    assert room.ok("cat journal") == "12"
    room.sandbox.undo(number)
    assert held(room) == before
    number = room.sandbox.leave(HERE, Planted("new", content=b"12\n"), instead=True)
    room.sandbox.undo(number)

    assert held(room) == before


TRIES = """
import fcntl
for lock in (fcntl.flock, lambda f, how: fcntl.lockf(f, how, 5, 3)):
    with open("journal", "r+") as file:
        try:
            lock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            print("free")
        except BlockingIOError:
            print("held")
"""


@pytest.mark.needs("files.locks")
@pytest.mark.parametrize(
    ("lock", "found"),
    [
        (Lock(flock=True), "held\nfree"),
        (Lock(), "free\nheld"),
        (Lock(start=7, length=1), "free\nheld"),
        (Lock(start=8, length=9), "free\nfree"),
    ],
)
def test_a_lock_is_held_from_outside_until_it_is_undone(room, lock, found):
    before = held(room)
    number = room.sandbox.hold(HERE, "journal", [lock])
    assert room.run("python3", "-Sc", TRIES).text == found
    room.sandbox.listing()  # looks at every file, and must not give the lock up
    assert room.run("python3", "-Sc", TRIES).text == found
    room.sandbox.undo(number)

    assert room.run("python3", "-Sc", TRIES).text == "free\nfree"
    assert held(room) == before


@pytest.mark.needs("files.locks")
def test_what_is_locked_inside_cannot_be_held_and_nothing_is_held_then(room):
    code = "import fcntl, time; f = open('deep/er/file', 'r+'); fcntl.lockf(f, fcntl.LOCK_EX); print('up', flush=True); time.sleep(30)"
    running = room.start("python3", "-Sc", code)
    running.line()
    locks = [Lock("/../../../journal"), Lock()]
    with pytest.raises(SandboxError):
        room.sandbox.hold(HERE, "deep/er/file", locks)
    with pytest.raises(SandboxError, match="somebody inside holds a lock"):
        room.sandbox.hold(HERE, "deep/er/file", [Lock(flock=True), Lock()])
    for path in ("absent", "way/er/file", "deep"):
        with pytest.raises(SandboxError):
            room.sandbox.hold(HERE, path, [Lock()])

    assert room.ok("flock -n deep/er/file echo free") == "free"
    assert room.run("python3", "-Sc", TRIES).text == "free\nfree"
