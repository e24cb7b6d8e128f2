"""A capability that is missing is told at the place of the case that asks for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.case.load import load_case
from harness.plan import Selection, plan
from sandboxes.base import Capability, Probe

NONE = Capability("network.none", available=True, detail="")
BARE = Probe("bare", available=True, grade="user", capabilities={"network.none": NONE})
ATTEMPTS = "expect: [{exit: 0}, {attempts: {program: curl, at_most: 0}}]"
FAULT = "faults: [{fault: filesystem.missing-path, with: {path: a}}]"


@pytest.mark.parametrize(
    ("more", "name", "place"),
    [
        (ATTEMPTS, "files.attempts", "4:22"),
        (f"stimulus{ATTEMPTS.removeprefix('expect')}", "files.attempts", "4:24"),
        (f"{ATTEMPTS}\n{FAULT}", "files.attempts", "5:11"),
        ("sandbox: {network: none, needs: [freeze, files.system]}", "files.system", "4:42"),
        ("sandbox: {network: services}", "network.services", "4:11"),
        ("sandbox: {network: none, limits: {pids: 9}}", "limits.pids", "4:35"),
        ("sandbox: {clock: {at: 2031-02-03T04:05:06Z}}", "clock.wall", "4:19"),
        ("sandbox: {clock: {zone: Asia/Kathmandu}}", "clock.zone", "4:19"),
        ("steps: [{run: [id], as: root}, start]", "user.root", "4:16"),
    ],
)
def test_what_asks_for_a_capability_that_is_missing_is_pointed_at(
    more: str, name: str, place: str, tmp_path: Path
):
    path = tmp_path / "a.yaml"
    path.write_text(f"case: a\nsubject: {{command: [sh]}}\ntask: x\n{more}\n")

    (trial,) = plan([load_case(path)], {"bare": BARE}, Selection())

    (lack,) = [lack for lack in trial.lacks if f" lacks {name}:" in lack.what]
    assert str(lack.where) == f"{path}:{place}"
