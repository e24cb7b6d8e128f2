"""The user's real home is looked at during a run: a throw-away one stands for it here."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness import cli
from harness.live import realhome
from harness.live.attempt import Attempt
from harness.live.containment import MountLine
from harness.live.stage import Stage
from sandboxes.base import ProcessSpec
from tests.conformance.room import eventually, host_pid

CASE = """\
case: small
title: It does nothing
subject: {command: [sh, -c, "touch ~/here; mkdir -p /tmp/x"]}
expect: [{exit: 0}]
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch) -> Path:
    home = tmp_path / "home"
    (home / "Documents" / "deep").mkdir(parents=True)
    (home / "Documents" / "letter").write_text("Dear reader\n")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("SHAKEOUT_STATE", str(tmp_path / "state"))
    return home


@pytest.fixture
def meanwhile(monkeypatch) -> Callable[[Callable[[Stage], object]], None]:
    """Have something happen in the middle of a trial."""
    prepare = Attempt._prepare

    def set_up(action: Callable[[Stage], object]) -> None:
        def disturbed(self: Attempt, stage: Stage) -> None:
            prepare(self, stage)
            action(stage)

        monkeypatch.setattr(Attempt, "_prepare", disturbed)

    return set_up


def run(tmp_path: Path) -> tuple[int, dict[str, Any], str, dict[str, Any]]:
    """Run the case here; its exit code, verdict, word on containment, and the run's on the home."""
    (tmp_path / "case.yaml").write_text(CASE)
    code = cli.main(["run", str(tmp_path / "case.yaml"), "--out", str(tmp_path / "out")])
    (folder,) = (tmp_path / "out" / "trials").iterdir()
    log = [json.loads(line) for line in (tmp_path / "out" / "log.jsonl").read_text().splitlines()]
    (said,) = [event for event in log if event["event"] == "home"]
    verdict = json.loads((folder / "verdict.json").read_text())
    (containment,) = [each for each in verdict["expect"] if each["id"] == "containment"]
    return code, verdict, containment["seen"], said


@pytest.mark.skipif(os.geteuid() != 0, reason="the kernel tells who changed something to root only")
def test_a_sandbox_that_writes_to_the_real_home_is_broken_containment(home, tmp_path, meanwhile):
    """The writer is in the sandbox's pid namespace and sees the machine's own mounts."""

    def write(stage: Stage) -> None:
        mark = os.urandom(8).hex()
        with open(os.devnull, "wb") as null:  # noqa: PTH123
            argv = ["sh", "-c", "while sleep 60; do :; done", mark]
            stage.sandbox.start(ProcessSpec(argv, stage.env, null.fileno(), null.fileno()))
        inside = eventually(lambda: host_pid(mark))
        script = f"echo x > {home}/Documents/letter"
        argv = ["nsenter", f"--pid=/proc/{inside}/ns/pid", "sh", "-c", script]
        subprocess.run(argv, check=True)

    meanwhile(write)
    code, verdict, seen, said = run(tmp_path)

    assert (code, verdict["verdict"], verdict["reasons"]) == (1, "failed", ["broke:containment"])
    assert f"{home}/Documents/letter was changed from inside" in seen
    assert f"{home}/Documents/letter" in said["changed"]


def test_a_change_by_somebody_else_is_reported_and_never_judged(home, tmp_path, meanwhile):
    meanwhile(lambda _: (home / "Documents" / "letter").write_text("other\n"))
    code, verdict, seen, said = run(tmp_path)

    assert (code, verdict["verdict"]) == (0, "passed")
    assert (said["observed"], said["how"]) == (True, "all 3 paths were compared")
    assert said["changed"] == [f"{home}/Documents/letter"]
    assert seen.startswith("neither; changes in the real home ")
    assert ("told by the kernel" in seen) is (os.geteuid() == 0)


def test_a_quiet_home_has_no_change(home, tmp_path):
    code, _, _, said = run(tmp_path)

    assert (code, said["changed"]) == (0, [])


def test_where_the_run_itself_writes_is_left_out(home):
    compared = realhome.Compared(home, home / "checkout" / "out")
    (home / "checkout" / "out").mkdir(parents=True)
    (home / "Documents" / "deep").rmdir()

    assert compared.changed() == [f"{home}/Documents", f"{home}/Documents/deep"]


def test_what_is_looked_at_is_bounded_and_said(home, tmp_path, monkeypatch):
    monkeypatch.setattr(realhome, "ENTRIES", 2)
    assert realhome.Compared(home, tmp_path / "out").account == "the first 2 paths were compared"
    monkeypatch.setattr(realhome, "SECONDS", -1)
    assert realhome.Compared(home, tmp_path / "out").account == "the first 0 paths were compared"


def test_a_home_that_cannot_be_looked_at_is_said_to_be_not_observed(home, tmp_path, monkeypatch):
    assert realhome.unobservable(home) == ""
    assert realhome.unobservable(Path("/")) == "the home is /"
    assert "is no folder" in realhome.unobservable(home / "none")
    far = MountLine("0:1", "/", str(home), writable=True, kind="fuse.sshfs")
    monkeypatch.setattr(realhome, "place_of", lambda *_: far)
    code, _, seen, said = run(tmp_path)
    assert (code, said["observed"]) == (0, False)
    assert said["how"] == "the home is on a network file system (fuse.sshfs)"
    assert seen == "neither; changes in the real home not observed"
