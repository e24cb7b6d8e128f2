"""The difference of two listings."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.evidence.changes import diff, path_state
from sandboxes.base import Entry, Kind, Listing, Root, SystemChange

AGENT = 61234
Tree = dict[str, Entry]


def file(data: str = "x", **facts) -> Entry:
    made = {"mode": 0o644, "uid": AGENT, "gid": AGENT, "size": len(data), "sha256": data * 4}
    return Entry(Kind.FILE, **{**made, **facts})


def folder(**facts) -> Entry:
    return Entry(Kind.DIR, **{"mode": 0o755, "uid": AGENT, "gid": AGENT, "size": 0, **facts})


def link(target: str) -> Entry:
    return Entry(Kind.LINK, 0o777, AGENT, AGENT, len(target), target=target)


def listing(home=None, workspace=None, system=()) -> Listing:
    return Listing({".": folder(), **(home or {})}, {".": folder(), **(workspace or {})}, system)


def changed(before: Tree, after: Tree, own=()) -> list[tuple[str, str, str]]:
    found = diff(listing(before), listing(after), own)
    return [(change.path, change.change, change.by) for change in found]


@pytest.mark.parametrize(
    ("before", "after", "how"),
    [
        (None, file(), "added"),
        (file(), None, "removed"),
        (file("x"), file("y"), "changed"),
        (file("x"), file(""), "changed"),
        (link("a"), link("b"), "changed"),
        (file(), folder(), "retyped"),
        (folder(), link("a"), "retyped"),
        (file(), file(mode=0o600), "meta"),
        (file(), file(mode=0o4644), "meta"),
        (file(), file(uid=0), "meta"),
        (folder(), folder(mode=0o700), "meta"),
        (file("x"), file("y", mode=0o600), "changed"),
    ],
)
def test_a_path_that_differs_is_a_change(before: Entry | None, after: Entry | None, how: str):
    states = [{"p": entry} if entry else {} for entry in (before, after)]

    assert changed(*states) == [("p", how, "planted" if before else "other")]


@pytest.mark.parametrize(
    "after",
    [file("x"), file("x", mtime_ns=5), file("x", gid=0)],
)
def test_an_equal_copy_is_no_change(after: Entry):
    assert changed({"p": file("x")}, {"p": after}) == []


def test_the_size_of_a_folder_is_no_change():
    assert changed({"p": folder()}, {"p": folder(size=4096)}) == []


def test_what_was_there_is_planted_and_what_came_is_own_or_other():
    before = {".claude": folder(), ".claude/a": file("x")}
    after = {".claude": folder(), ".claude/a": file("y"), ".claude/b": file(), "c": file()}

    assert changed(before, after, [".claude/**"]) == [
        (".claude/a", "changed", "planted"),
        (".claude/b", "added", "own"),
        ("c", "added", "other"),
    ]


def test_the_agents_own_are_paths_of_the_home_alone():
    found = diff(listing(), listing(workspace={".claude": file()}), [".claude"])

    assert [(change.root, change.by) for change in found] == [(Root.WORKSPACE, "other")]


def test_the_owner_is_told_by_role_not_by_the_hosts_number():
    (made,) = diff(listing(), listing({"p": file(uid=0)}))
    (mine,) = diff(listing(), listing({"p": file()}))
    (other,) = diff(listing(), listing({"p": file(uid=77)}))

    assert [c.after and c.after.owner for c in (made, mine, other)] == ["root", "agent", "77"]


def test_a_system_change_is_against_the_start_not_against_the_image():
    def system(before: Entry | None, after: Entry | None) -> SystemChange:
        return SystemChange("/tmp/x", before, after)

    kept = system(None, file("made by us"))
    found = diff(listing(system=[kept]), listing(system=[kept]))
    assert found == ()
    (gone,) = diff(listing(system=[kept]), listing())
    assert (gone.path, gone.change, gone.by) == ("/tmp/x", "removed", "other")
    (more,) = diff(listing(), listing(system=[system(file("a"), file("b"))]))
    assert more.change == "changed"
    (again,) = diff(listing(system=[kept]), listing(system=[system(None, file("other"))]))
    assert again.change == "changed"


def test_a_path_that_is_no_text_is_written_as_text():
    assert changed({}, {"caf\udce9": file()}) == [("caf\\xe9", "added", "other")]


def test_the_root_of_the_home_is_looked_at_too():
    home = {"a": file()}
    before = listing(home)
    after = replace(before, home={**before.home, ".": folder(mode=0o000)})

    assert [(c.path, c.change) for c in diff(before, after)] == [(".", "meta")]


ENTRIES = st.sampled_from(
    [file("x"), file("y"), file("x", mode=0o600), folder(), link("a"), link("b")]
)
TREES = st.dictionaries(st.sampled_from(["a", "a/b", "c", ".d"]), ENTRIES)


@given(TREES, TREES)
def test_there_is_one_change_for_each_path_that_is_not_as_it_was(before: Tree, after: Tree):
    found = {change.path: change for change in diff(listing(before), listing(after))}
    different = {
        path for path in before.keys() | after.keys() if before.get(path) != after.get(path)
    }

    assert found.keys() == different
    for path, change in found.items():
        assert change.before == (path_state(before[path], AGENT) if path in before else None)
        assert change.after == (path_state(after[path], AGENT) if path in after else None)


@given(TREES)
def test_nothing_changed_is_no_change(tree: Tree):
    assert diff(listing(tree), listing(tree)) == ()
