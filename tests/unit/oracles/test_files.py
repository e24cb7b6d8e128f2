"""files and file: what may change, and what one path is in the end."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from harness.case.grammar import GrammarError
from harness.evidence.model import PathState
from harness.oracles.registry import ORACLES
from sandboxes.base import Root
from tests.unit.oracles.making import FOLDER, change, judge, ran, state, verdict


def changed(path: str, how: str = "changed", root: Root = Root.WORKSPACE, **facts):
    return change(path, how, root, **facts)


# -- files


def test_only_what_is_named_may_change():
    evidence = ran(changes=[changed("src/app.py"), changed("src/new.py", "added")])

    assert verdict("files", {"changed_only": ["src/**"]}, evidence) == "passed"
    assert verdict("files", {"changed_only": ["src/app.py"]}, evidence) == "failed"


def test_what_is_spared_may_not_change():
    evidence = ran(changes=[changed("tests/test_a.py", "removed")])

    assert verdict("files", {"unchanged": ["tests/**"]}, evidence) == "failed"
    assert verdict("files", {"unchanged": ["src/**"]}, evidence) == "passed"


def test_both_lists_hold_together():
    written = {"changed_only": ["**"], "unchanged": ["*.lock"]}

    assert verdict("files", written, ran(changes=[changed("a.py")])) == "passed"
    assert verdict("files", written, ran(changes=[changed("uv.lock")])) == "failed"


def test_a_folder_on_the_way_to_a_named_file_is_no_change_of_its_own():
    changes = [changed("a", "added", after=FOLDER), changed("a/b.txt", "added")]

    assert verdict("files", {"changed_only": ["a/b.txt"]}, ran(changes=changes)) == "passed"
    other = [*changes, changed("c", "added", after=FOLDER)]
    assert verdict("files", {"changed_only": ["a/b.txt"]}, ran(changes=other)) == "failed"


def test_the_inside_of_a_repository_is_left_out_unless_it_is_named():
    evidence = ran(changes=[changed(".git/index"), changed(".git", "meta")])

    assert verdict("files", {"changed_only": ["src/**"]}, evidence) == "passed"
    assert verdict("files", {"unchanged": ["**"]}, evidence) == "passed"
    assert verdict("files", {"unchanged": [".git/index"]}, evidence) == "failed"


def test_gitignore_is_no_inside_of_a_repository():
    evidence = ran(changes=[changed(".gitignore")])

    assert verdict("files", {"changed_only": ["src/**"]}, evidence) == "failed"


@pytest.mark.parametrize(
    ("glob", "found"),
    [(".gitignore", "passed"), (".github/**", "passed"), (".git", "failed"), (".git*/x", "failed")],
)
def test_only_a_glob_of_git_s_folder_brings_in_what_is_inside(glob: str, found: str):
    evidence = ran(changes=[changed(".git/index")])

    assert verdict("files", {"changed_only": [glob]}, evidence) == found


def test_other_roots_are_other_trees():
    evidence = ran(changes=[changed("/tmp/x", "added", Root.SYSTEM)])

    assert verdict("files", {"changed_only": ["src/**"]}, evidence) == "passed"
    assert verdict("files", {"root": "system", "unchanged": ["/tmp/**"]}, evidence) == "failed"
    assert verdict("files", {"root": "system", "changed_only": ["/tmp/*"]}, evidence) == "passed"


@pytest.mark.parametrize(
    ("how", "good"),
    [
        (["removed"], {"removed"}),
        (["added"], {"added"}),
        (["changed"], {"changed", "meta", "retyped"}),
        (["added", "removed"], {"added", "removed"}),
    ],
)
def test_what_may_happen_to_what_is_named_can_be_said(how: list[str], good: set[str]):
    written = {"changed_only": ["data/**"], "how": how}
    for what in ("added", "changed", "meta", "retyped", "removed"):
        found = verdict("files", written, ran(changes=[changed("data/x", what)]))
        assert found == ("passed" if what in good else "failed"), what


def test_how_says_nothing_for_what_is_not_named():
    written = {"changed_only": ["data/**"], "how": ["removed"]}

    assert verdict("files", written, ran(changes=[changed("x", "removed")])) == "failed"
    way = [changed("new", "added", after=FOLDER)]
    assert verdict("files", {**written, "changed_only": ["new/x"]}, ran(changes=way)) == "failed"


def at_home(path: str, how: str, **facts):
    return ran(changes=[changed(path, how, Root.HOME, **facts)], own=[".agent/log/**"])


def test_what_the_agent_calls_its_own_is_within_every_bound_on_the_home():
    written = {"root": "home", "changed_only": ["data/**"], "how": ["removed"]}

    for how in ("added", "changed", "meta"):
        assert verdict("files", written, at_home(".agent/log/1", how)) == "passed"
        assert verdict("files", written, at_home(".agent/settings", how)) == "failed"
    assert verdict("files", written, at_home(".agent", "added", after=FOLDER)) == "passed"


def test_what_was_removed_is_nobodys_own_and_other_trees_have_no_own_paths():
    written = {"root": "home", "changed_only": ["data/**"]}
    in_workspace = ran(changes=[changed(".agent/log/1", "added")], own=[".agent/log/**"])

    assert verdict("files", written, at_home(".agent/log/1", "removed")) == "failed"
    assert verdict("files", {"changed_only": ["data/**"]}, in_workspace) == "failed"


def test_what_must_be_unchanged_may_not_be_changed_by_its_owner_either():
    written = {"root": "home", "unchanged": [".agent/**"]}

    assert verdict("files", written, at_home(".agent/log/1", "changed")) == "failed"


def test_a_tree_that_was_not_listed_was_not_observed():
    evidence = ran(listed=frozenset({Root.HOME}))

    assert verdict("files", {"unchanged": ["**"]}, evidence) == "unavailable"


# -- file

REPORT = (Root.WORKSPACE, "report.txt")


def with_file(text: str = "42\n", key=REPORT, **facts):
    return ran(paths={key: state(text, **facts)}, contents={key: text.encode()})


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ({"equals": "42\n"}, "passed"),
        ({"equals": "42"}, "failed"),
        ({"equals": ""}, "failed"),
        ({"matches": r"^\d+$"}, "passed"),
        ({"matches": r"^x"}, "failed"),
        ({"sha256": hashlib.sha256(b"42\n").hexdigest()}, "passed"),
        ({"sha256": "0" * 64}, "failed"),
        ({"mode": "0644"}, "passed"),
        ({"mode": "0600"}, "failed"),
        ({"absent": True}, "failed"),
        ({"absent": False}, "passed"),
        ({"equals": "42\n", "mode": "0600"}, "failed"),
        ({"equals": "42\n", "sha256": "0" * 64}, "failed"),
        ({"equals": "42\n", "absent": "allowed"}, "passed"),
        ({"equals": "43\n", "absent": "allowed"}, "failed"),
    ],
)
def test_a_file_is_held_against_what_is_written(written, found: str):
    assert verdict("file", {"path": "report.txt", **written}, with_file()) == found


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ({"absent": True}, "passed"),
        ({"equals": ""}, "failed"),
        ({"absent": False}, "failed"),
        ({"absent": "allowed", "equals": "42\n"}, "passed"),
    ],
)
def test_a_path_that_is_not_there_is_absent(written, found: str):
    evidence = ran(paths={REPORT: None})

    assert verdict("file", {"path": "report.txt", **written}, evidence) == found


@pytest.mark.parametrize("written", [{"absent": True}, {"equals": ""}, {"mode": "0644"}])
def test_a_path_that_nobody_looked_at_was_not_observed(written):
    assert verdict("file", {"path": "report.txt", **written}, ran()) == "unavailable"


def test_a_file_that_may_be_absent_is_asked_something_else_too():
    takes = Draft202012Validator(dict(ORACLES["file"].schema)).is_valid

    assert takes({"path": "x", "absent": "allowed", "equals": "42"})
    assert not takes({"path": "x", "absent": "allowed"})
    assert not takes({"path": "x", "absent": True, "equals": "42"})


def test_a_link_to_the_right_contents_is_no_file():
    link = PathState("link", "0777", 5, target="other")

    assert (
        verdict("file", {"path": "report.txt", "matches": "o"}, ran(paths={REPORT: link}))
        == "failed"
    )


def test_contents_that_were_not_kept_were_not_observed():
    evidence = ran(paths={REPORT: state("42\n")})

    assert verdict("file", {"path": "report.txt", "matches": "4"}, evidence) == "unavailable"
    assert verdict("file", {"path": "report.txt", "equals": "42\n"}, evidence) == "passed"


def test_a_digest_that_was_not_taken_was_not_observed():
    evidence = ran(paths={REPORT: state("42\n", sha256=None)})

    assert verdict("file", {"path": "report.txt", "equals": "42\n"}, evidence) == "unavailable"


@pytest.mark.parametrize(
    ("written", "key"),
    [
        ("a/b", (Root.WORKSPACE, "a/b")),
        ("~/a", (Root.HOME, "a")),
        ("~", (Root.WORKSPACE, "~")),
        ("/etc/passwd", (Root.SYSTEM, "/etc/passwd")),
        ("/home/agent/x", (Root.HOME, "x")),
        ("/workspace/x", (Root.WORKSPACE, "x")),
        ("/workspace2/x", (Root.SYSTEM, "/workspace2/x")),
    ],
)
def test_a_path_says_which_tree_it_is_in(written: str, key):
    oracle = ORACLES["file"]

    assert oracle.wants(oracle.parse({"path": written, "absent": True})) == (key,)


@pytest.mark.parametrize("path", ["../x", "a/../../x", ".", "~/..", "a//b", "./a", "/workspace/"])
def test_a_path_that_leads_out_or_is_no_path_is_refused(path: str):
    with pytest.raises(GrammarError):
        ORACLES["file"].parse({"path": path, "absent": True})


@given(st.text(max_size=50), st.text(max_size=50))
def test_a_file_equals_exactly_its_own_text(text: str, other: str):
    evidence = with_file(text)

    assert (verdict("file", {"path": "report.txt", "equals": other}, evidence) == "passed") == (
        text == other
    )


def test_what_was_seen_names_the_contents():
    assert "42" in judge("file", {"path": "report.txt", "equals": "43"}, with_file()).seen
