"""A path of a fault that is not there is told with what is, never by an error of the kernel."""

from __future__ import annotations

from typing import Any, cast

import pytest

from harness.faults.base import Place
from harness.faults.paths import folder_present, present
from sandboxes.base import Root
from sandboxes.errors import SandboxError

THERE = {
    Root.WORKSPACE: ["data", "data/config.json", ".git", ".git/index", ".git/data/confg.json"],
    Root.HOME: [".bashrc", *(f"{n}.txt" for n in range(9))],
}


class Sandbox:
    """Has paths."""

    def exists(self, root: Root, path: str) -> bool:
        return path in THERE[root]

    def tree(self, root: Root, path: str) -> dict[str, None]:
        assert path == "."
        return dict.fromkeys([".", *THERE[root]])


PLACE = cast("Place", type("Place", (), {"sandbox": cast("Any", Sandbox())}))


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("data/confg.json", "there is no 'data/confg.json' in the workspace; did you mean data/c"),
        ("zzz", "there is no 'zzz' in the workspace; name one of .git, data, data/config.json"),
        ("~/.bashr", "there is no '~/.bashr' in the home; did you mean ~/.bashrc"),
        ("~/zzzzzz", "there is no '~/zzzzzz' in the home; name a path that is there when"),
    ],
)
def test_a_path_that_is_not_there_is_told_with_what_is(path: str, says: str):
    with pytest.raises(SandboxError, match=says):
        present(PLACE, path)


def test_a_path_that_is_there_is_located():
    assert present(PLACE, "data/config.json") == (Root.WORKSPACE, "data/config.json")
    assert present(PLACE, "~/.bashrc") == (Root.HOME, ".bashrc")


def test_of_a_path_that_is_made_the_folder_must_be_there():
    for path in ("new", "data/new", "~/new"):
        folder_present(PLACE, path)
    with pytest.raises(
        SandboxError, match="there is no 'date' in the workspace; did you mean data"
    ):
        folder_present(PLACE, "date/new")
