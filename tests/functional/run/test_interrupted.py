"""Whenever and however a run is ended, what it has is readable and nothing of it runs on."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest

LONG = """\
subject: {command: [sh, -c, "echo begun; (setsid sleep 300 &) ; trap '' TERM; sleep 300"]}
home: {precious/a.txt: dear}
expect: [{home: untouched}]
"""


def processes_of(mark: str) -> set[int]:
    """Processes whose command line or environment carries a mark of this test."""
    found = set()
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            text = (entry / "cmdline").read_bytes() + (entry / "environ").read_bytes()
        except OSError:
            continue
        if mark.encode() in text:
            found.add(int(entry.name))
    return found


def cgroups_of(run: str) -> list[Path]:
    return [p for p in Path("/sys/fs/cgroup").glob(f"**/*{run}*") if p.is_dir()]


def left_of(run: str, mark: str) -> tuple[set[int], list[Path]]:
    return processes_of(mark), cgroups_of(run)


def until_gone(run: str, mark: str) -> tuple[set[int], list[Path]]:
    deadline = time.monotonic() + 30
    while (left := left_of(run, mark)) != (set(), []) and time.monotonic() < deadline:
        time.sleep(0.05)
    return left


def run_id(folder: Path) -> str:
    line = json.loads((folder / "log.jsonl").read_text().splitlines()[0])
    return str(line["run"])


def journals_readable(folder: Path) -> int:
    """Read every line of every journal; a last line may be torn."""
    events = 0
    for journal in folder.glob("trials/*/journal.jsonl"):
        for line in journal.read_text().split("\n")[:-1]:
            assert "event" in json.loads(line)
            events += 1
    return events


def wait_for(path: Path, text: str, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and process.poll() is None:
        if path.exists() and text in path.read_text():
            return
        time.sleep(0.02)
    raise AssertionError(f"{text!r} never came to be in {path}")


def seconds_of_a_run(shakeout, folder: Path) -> float:
    begun = time.monotonic()
    shakeout("run", "quick.yaml", "--out", folder, "--repeat", "4")
    return time.monotonic() - begun


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_run_with_130_and_its_evidence_is_kept(shakeout, tmp_path, signum):
    mark = f"MARK_{random.getrandbits(64):x}"
    case = shakeout.case("long", LONG + f"env: {{{mark}: x}}\n")
    process = shakeout.start("run", case, "--out", "run")
    wait_for(tmp_path / "run/trials/long.command.bubblewrap/journal.jsonl", "started", process)

    process.send_signal(signum)
    _, err = process.communicate(timeout=60)

    assert process.returncode == 130, err
    document = json.loads((tmp_path / "run" / "run.json").read_text())
    assert document["exit"] == 130
    (trial,) = document["trials"]
    assert (trial["verdict"], trial["reasons"]) == ("error", ["interrupted"])
    assert (tmp_path / "run" / trial["dir"] / "verdict.json").is_file()
    assert journals_readable(tmp_path / "run") > 3
    assert until_gone(document["run"], mark) == (set(), [])


def test_trials_that_had_not_begun_are_reported_as_interrupted(shakeout, tmp_path):
    case = shakeout.case("long", LONG)
    process = shakeout.start("run", case, "--out", "run", "--repeat", "5", "-n", "1")
    wait_for(tmp_path / "run/trials/long.command.bubblewrap.r1/journal.jsonl", "started", process)

    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)

    document = json.loads((tmp_path / "run" / "run.json").read_text())
    assert [t["verdict"] for t in document["trials"]] == ["error"] * 5
    assert len(list((tmp_path / "run" / "trials").iterdir())) == 1


@pytest.mark.timeout(400)  # it takes as long as the machine needs for that many runs
@pytest.mark.parametrize("kills", [6, pytest.param(20, marks=pytest.mark.long)])
def test_a_killed_harness_leaves_nothing_once_the_next_verb_has_run(shakeout, tmp_path, kills):
    """Kills at moments of chance, from the first import to the last trial."""
    chance = random.Random(20)
    precious = tmp_path / "home" / "precious"
    precious.parent.mkdir(exist_ok=True)
    precious.write_text("dear")
    mark = f"MARK_{chance.getrandbits(64):x}"
    shakeout.case(
        "quick", f'subject: {{command: ["true"]}}\nexpect: [{{exit: 0}}]\nenv: {{{mark}: x}}\n'
    )
    shakeout.case("long", LONG + f"env: {{{mark}: x}}\n")
    whole = min(seconds_of_a_run(shakeout, tmp_path / name) for name in ("first", "second"))
    runs = []
    for number in range(kills):
        folder = tmp_path / f"run{number}"
        process = shakeout.start(
            "run", "quick.yaml", "long.yaml", "--out", folder, "--repeat", "4", "-n", "3"
        )
        time.sleep(chance.uniform(0.1, 1.5) * whole)
        process.kill()
        process.communicate(timeout=60)
        if (folder / "log.jsonl").exists() and (folder / "log.jsonl").read_text():
            runs.append(run_id(folder))
            journals_readable(folder)

    after = shakeout("clean")

    assert after.code == 0
    assert runs, "no kill came late enough to hit a run"
    for run in runs:
        assert until_gone(run, mark) == (set(), [])
    assert precious.read_text() == "dear"
