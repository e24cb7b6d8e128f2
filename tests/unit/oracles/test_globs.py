"""Sets of globs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.case.grammar import GrammarError
from harness.globs import GlobSet, of_requests, within
from sandboxes.base import Root
from tests.unit.oracles.making import FOLDER, change


@pytest.mark.parametrize(
    ("globs", "path", "matches"),
    [
        ([".claude/**"], ".claude", True),
        ([".claude/**"], ".claude/a/b", True),
        ([".claude/**"], ".claude.json", False),
        (["*.txt"], "a.txt", True),
        (["*.txt"], "a/b.txt", False),
        (["**/*.txt"], "a/b.txt", True),
        (["**/*.txt"], "b.txt", True),
        (["/tmp/*"], "/tmp/x", True),
        (["/tmp/*"], "tmp/x", True),
        (["**"], ".", True),
        ([], "a", False),
    ],
)
def test_a_set_matches_where_one_of_it_does(globs: list[str], path: str, matches: bool):
    assert GlobSet(globs).matches(path) is matches


@pytest.mark.parametrize(
    ("glob", "folder", "leads"),
    [
        (".local/share/x/**", ".local", True),
        (".local/share/x/**", ".local/share", True),
        (".local/share/x/**", ".local/state", False),
        ("**/x", "a", False),
        ("a/**/x", "a", True),
        ("a/**/x", "a/b", False),
        ("*/x", "a", True),
        ("x", "x", False),
    ],
)
def test_folders_lead_to_what_a_glob_names(glob: str, folder: str, leads: bool):
    assert GlobSet([glob]).leads(folder) is leads


def test_a_glob_that_is_none_is_refused():
    with pytest.raises(GrammarError):
        GlobSet([""])


def test_a_folder_made_for_a_named_file_is_not_beyond():
    deep = [change(p, "added", after=FOLDER) for p in ("a", "a/b")]
    file = change("a/b/c.txt", "added")

    assert GlobSet(["**/*.txt"]).beyond([*deep, file]) == []
    assert GlobSet(["**/*.txt"]).beyond(deep) == deep


@pytest.mark.parametrize("how", ["removed", "meta", "changed", "retyped"])
def test_only_an_added_folder_is_a_way(how: str):
    gone = change("a", how, Root.HOME, before=FOLDER, after=FOLDER)

    assert GlobSet(["a/b"]).beyond([gone]) == [gone]


PATHS = st.from_regex(r"[a-c.]{1,3}(/[a-c.]{1,3}){0,2}", fullmatch=True)


@given(st.lists(PATHS, unique=True, max_size=6), st.lists(PATHS, max_size=3))
def test_files_beyond_a_set_are_those_it_does_not_match(paths: list[str], globs: list[str]):
    named = GlobSet(globs)
    changes = [change(path, "added") for path in paths]

    assert named.beyond(changes) == [c for c in changes if not named.matches(c.path)]


@pytest.mark.parametrize(
    ("glob", "path"),
    [
        ("/bot*/sendMessage", "/bot1:abc/sendMessage"),
        ("**sendMessage", "/bot1:abc/sendMessage"),
        ("*/sendMessage", "/bot1:abc/sendMessage"),
        ("/v1/", "/v1/"),
    ],
)
def test_a_glob_that_a_request_can_fit_is_taken(glob: str, path: str):
    assert of_requests(glob).matches(path)


@pytest.mark.parametrize(
    ("root", "glob", "path"),
    [
        (Root.WORKSPACE, "~/**", "~/x"),
        (Root.WORKSPACE, "home/agent/x", "home/agent/x"),
        (Root.HOME, "**/.x", ".x"),
        (Root.SYSTEM, "/etc/*", "/etc/x"),
        (Root.SYSTEM, "etc/*", "/etc/x"),
        (Root.SYSTEM, "/workspaces/*", "/workspaces/x"),
    ],
)
def test_a_glob_that_a_path_can_fit_is_taken(root: Root, glob: str, path: str):
    assert within(root, [glob]).matches(path)
