"""The end state of paths: what was not looked at is never called absent."""

from __future__ import annotations

import pytest

from harness.evidence.states import end_states
from sandboxes.base import Entry, Kind, Listing, Root, SystemChange
from tests.unit.evidence.test_changes import AGENT, file, folder, link

LISTING = Listing(
    home={".": folder(), "a": file(), "out": link("/opt"), "caf\udce9": file()},
    workspace={".": folder(), "dir": folder(), "dir/b": file(uid=0)},
    system=[
        SystemChange("/etc/hosts", file(), None),
        SystemChange("/var/new", None, file()),
        SystemChange("/var/way", None, link("/etc")),
    ],
)


def look(root: Root, path: str) -> str:
    found = end_states(LISTING, [(root, path)])
    if (root, path) not in found:
        return "not looked at"
    state = found[root, path]
    return "absent" if state is None else f"{state.type} of {state.owner}"


@pytest.mark.parametrize(
    ("root", "path", "seen"),
    [
        (Root.HOME, "a", "file of agent"),
        (Root.HOME, "b", "absent"),
        (Root.HOME, "a/b", "absent"),
        (Root.HOME, "out", "link of agent"),
        (Root.HOME, "out/x", "not looked at"),
        (Root.HOME, "caf\\xe9", "file of agent"),
        (Root.WORKSPACE, "dir/b", "file of root"),
        (Root.WORKSPACE, "a", "absent"),
        (Root.SYSTEM, "/var/new", "file of agent"),
        (Root.SYSTEM, "/etc/hosts", "absent"),
        (Root.SYSTEM, "/etc/passwd", "not looked at"),
        (Root.SYSTEM, "/var/way/passwd", "not looked at"),
        (Root.SYSTEM, "/tmp/x", "absent"),
        (Root.SYSTEM, "/tmpx", "not looked at"),
    ],
)
def test_a_path_is_told_as_far_as_it_was_listed(root: Root, path: str, seen: str):
    assert look(root, path) == seen


def test_the_agent_is_whom_the_home_belongs_to():
    stranger = Listing({".": folder(uid=0)}, {"x": Entry(Kind.FILE, 0o644, AGENT, AGENT, 0)})
    (state,) = end_states(stranger, [(Root.WORKSPACE, "x")]).values()

    assert state is not None
    assert state.owner == str(AGENT)
