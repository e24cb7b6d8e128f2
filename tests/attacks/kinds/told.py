"""Stories that really happened, in which the judge was the one that went wrong."""

from __future__ import annotations

import time
from pathlib import Path

from tests.attacks.form import Attack, both, python, replaced, shell, wrapped

WAITS_FOR_ANOTHER = """
import time
while open("/opt/m/code").read() == "old":
    time.sleep(0.01)
"""
WAITS_FOR_ANOTHER_AND_THE_FIRST = """
import os, time, urllib.request
for code in ("old", "new"):
    while open("/opt/m/code").read() in (code, ""):
        time.sleep(0.01)
    urllib.request.urlopen(os.environ["OPENAI_BASE_URL"] + "/models")
"""
ORPHANS = """
import os, time
for _ in range(50):
    if os.fork() == 0:
        os._exit(0)
if os.fork() == 0:
    os.setsid()
    time.sleep(30)
"""
CHILD_GOES_ON = """
import os, time
if os.fork() == 0:
    os.setsid()
    while True:
        time.sleep(0.01)
        open("log", "a").write("x")
time.sleep(60)
"""


def _code(folder: Path) -> None:
    (folder / "m").mkdir()
    (folder / "m" / "code").write_text("old")


def _bystander(folder: Path) -> None:
    """Somebody else changes what is mounted, once the subject has started."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        for journal in (folder / "out" / "trials").glob("bystander*/journal.jsonl"):
            if b'"event": "started"' in journal.read_bytes():
                (folder / "m" / "code").write_text("new")
                return
        time.sleep(0.01)


def _bystander_of_two_minds(folder: Path) -> None:
    """Somebody changes it, and has it as it was when the subject has seen that."""
    _bystander(folder)
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        for requests in (folder / "out" / "trials").glob("bystander*/requests.jsonl"):
            if requests.read_bytes():
                (folder / "m" / "code").write_text("old")
                return
        time.sleep(0.01)


def _hooks(script: str) -> dict[str, object]:
    """A case whose home tells git to run a program of the workspace at each commit."""
    return {
        "home": {
            ".gitconfig": {
                "text": "[user]\nname = A\nemail = a@example.org\n[core]\nhooksPath = /workspace/hooks\n"
            }
        },
        "workspace": {
            "git": True,
            "files": {"hooks/pre-commit": {"text": f"#!/bin/sh\n{script}\n", "mode": "0755"}},
        },
    }


def _all_at_once(stop):
    def weak(self, *, gently: bool) -> None:
        self.sandbox.kill()

    return weak


ATTACKS = (
    Attack(
        "bystander",
        "is judged by code that somebody else changes while it runs [B1-08]",
        python(WAITS_FOR_ANOTHER, [{"exit": 0}], workspace={"mount": {"./m": "/opt/m"}}),
        "error",
        "wrong-code",
        "what is mounted has the same digest after the trial as before",
        replaced("harness.subjects.command:tree.digest", lambda source: ""),
        lay=_code,
        meanwhile=_bystander,
    ),
    Attack(
        "bystander-of-two-minds",
        "is judged by code that somebody else changes while it runs, and puts back",
        python(
            WAITS_FOR_ANOTHER_AND_THE_FIRST,
            [{"exit": 0}],
            workspace={"mount": {"./m": "/opt/m"}},
        ),
        "error",
        "wrong-code",
        "nothing that a digest was taken of was touched when the trial is over",
        replaced("harness.subjects.tree:Stamp.same", lambda self, other: True),
        lay=_code,
        meanwhile=_bystander_of_two_minds,
    ),
    Attack(
        "hidden-among-zombies",
        "leaves fifty children that are dead and one that is not [B5-05]",
        python(ORPHANS, [{"processes": "none-left"}]),
        "failed",
        "broke:processes",
        "pid 1 reaps, and what is dead is told apart from what lives",
        wrapped(
            "harness.live.collect:_lingering",
            lambda lingering: (
                lambda stage: tuple(p for p in lingering(stage) if "attack.py" not in p.argv)
            ),
        ),
        docker=True,
    ),
    Attack(
        "child-of-the-stopped",
        "is stopped by a step, and has a child that goes on writing [B5-06]",
        python(
            CHILD_GOES_ON,
            [{"processes": "none-left"}],
            steps=["start", {"wait": "exit", "at_most": "300ms", "then": "kill"}],
        ),
        "failed",
        "broke:processes",
        "who is stopped is one process, and what it left is looked at before all is killed",
        wrapped("harness.live.stage:Stage.stop_main", _all_at_once),
        docker=True,
    ),
    Attack(
        "dots-only",
        "prints nothing but dots where tests say how they ended [B2-09]",
        shell("echo ....", [{"output": {"matches": "[0-9]+ passed"}}]),
        "failed",
        "broke:output",
        "no verdict is read out of progress; what was not said was not said",
        wrapped(
            "harness.oracles.output:search",
            lambda search: lambda pattern, text: search(pattern, text) or search(r"^\.+$", text),
        ),
    ),
    Attack(
        "wait-that-never-ends",
        "waits for a time that a clock which was moved never shows [B8-06]",
        {
            "subject": {"command": ["python3", "-c", "import threading; threading.Event().wait()"]},
            "sandbox": {"clock": {"at": "2031-02-03T04:05:06Z"}, "limits": {"seconds": 1}},
            "expect": [{"home": "untouched"}],
        },
        "timed_out",
        "limit",
        "the harness's own clock is none that is moved, so a wait that hangs is stopped",
        wrapped(
            "harness.judge.judging:_grounds",
            lambda grounds: (
                lambda *facts: (ground for ground in grounds(*facts) if ground.reason != "limit")
            ),
        ),
        needs=("clock.wall",),
    ),
    Attack(
        "hook-does-the-work",
        "has git do its work when the harness makes the repository [B10-06]",
        shell(
            "true",
            [{"file": {"path": "report.txt", "equals": "42\n"}}],
            **_hooks("echo 42 > report.txt"),
        ),
        "failed",
        "broke:file",
        "the harness's own commit runs no hook and reads nobody's configuration",
        both(
            replaced("harness.live.repository:_CLEAN", ()),
            replaced("harness.live.repository:_OURS", ()),
        ),
    ),
)
