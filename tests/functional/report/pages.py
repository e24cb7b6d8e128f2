"""Runs to be reported: large ones, and one in which every text is an attack on who reads it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.unit.report.folders import (
    Document,
    expectation,
    journal,
    request,
    run,
    trial,
    write_run,
    write_trial,
)
from tests.unit.report.hostile import NASTY, hostile_run

Made = Callable[[Path], Path]

SUBJECTS = (
    {"name": "claude-code", "version": "2.1.332", "digest": None},
    {"name": "codex", "version": "0.171.0", "digest": None},
)
VERDICTS = ("passed", "failed", "passed", "timed_out", "passed", "unavailable", "passed", "error")
BUSY = "trial-case-001.codex.bubblewrap"
WORDS = "A reply that ends in the middle of a call is asked for again, and nothing is run twice"


def document(folder: Path) -> Document:
    """``run.json`` of a folder."""
    read: Document = json.loads((folder / "run.json").read_text())
    return read


def hundred(folder: Path) -> Path:
    """A hundred trials of every kind, each with what a busy agent leaves."""
    trials = [_trial(number) for number in range(50)]
    trials += [_trial(number, kind="control") for number in range(20)]
    trials += [_trial(number, kind="sabotage-careless-agent") for number in range(20)]
    trials += [_trial(49, repeat=repeat) for repeat in range(2, 12)]
    assert len(trials) == 100
    write_run(folder, run(*trials), **_busy())
    return folder


def _trial(number: int, kind: str = "trial", repeat: int = 1) -> Document:
    subject = SUBJECTS[number % 2]
    case = f"case-{number // 2:03d}"
    end = "" if kind == "trial" else f".{kind}"
    end += f".r{repeat}" if repeat > 1 else ""
    caught = kind.startswith("sabotage")
    verdict = "failed" if caught else "passed" if end else VERDICTS[number % len(VERDICTS)]
    known = {"subject": "codex", "version": "==0.171.0", "because": "a defect", "since": "0.171.0"}
    return trial(
        f"{case}.{subject['name']}.bubblewrap{end}",
        case=case,
        subject=subject,
        kind=kind.partition("-")[0],
        verdict=verdict,
        weighs="passed" if caught else None if number == 9 else verdict,
        message=f"file: expected log.txt equals 'one\\n'; saw 8 bytes: 'one\\none\\n' ({number})",
        known={"mark": "known", "entries": [known]} if number == 9 and not end else None,
        flaky=repeat > 1,
    )


def _busy() -> dict[str, Any]:
    """Files of a trial: forty requests in bursts, faults, processes, files, a moved clock."""
    requests = [
        request(n, 0.2 + (n // 8) * 3 + (n % 8) * 0.02, kind="turn" if n % 3 else "probe")
        for n in range(1, 39)
    ]
    requests[4] |= {"fault": "cut", "ended": "cut"}
    requests[20] |= {"status": 500}
    requests += [request(39, 9, service="upstream", path="/report"), request(40, 12, ended="reset")]
    fault = {"armed": True, "count": 1, "proof": "request 5 was cut after 3 events of 12"}
    faults = [
        {"id": "cut", "fault": "model.truncate", "landed": True, **fault},
        {"id": "leap-over-the-day", "fault": "clock.step", "landed": False, **fault},
    ]
    events = [
        *journal("/opt/agent/bin/agent", "-p", "--output-format", "json", "Add one line")[:5],
        {"t": 0.2, "event": "armed", "fault": "cut", "injector": "model.truncate"},
        {"t": 3.2, "event": "armed", "fault": "leap-over-the-day", "injector": "clock.step"},
        {"t": 6.2, "event": "healed", "fault": "leap-over-the-day"},
        {"t": 7.0, "event": "ran", "argv": ["git", "status"], "exit_code": 0},
        {"t": 14.1, "event": "deadline", "seconds": 14},
        {"t": 14.2, "event": "frozen"},
        {"t": 14.3, "event": "destroyed", "residue": []},
    ]
    state = {"type": "file", "mode": "0644", "size": 811, "target": None}
    changes = [
        {"root": "home", "path": f".cache/agent/{n}/state.json", "change": "added", "by": "own"}
        | {"before": None, "after": state}
        for n in range(30)
    ]
    live = {"pid": 7, "ppid": 1, "state": "S", "argv": ["python3", "-m", "http.server", "8000"]}
    broken = {"verdict": "failed", "expected": "log.txt equals 'one\\n'", "seen": "8 bytes"}
    return {
        "case_yaml": {"title": WORDS, "proves": WORDS, "task": "Add one line to log.txt"},
        "journal_jsonl": events,
        "requests_jsonl": requests,
        "files_json": changes,
        "processes_json": {"after": [{"seconds": s, "live": [live]} for s in (0.0, 0.5, 1.0)]},
        "verdict_json": {
            "faults": faults,
            "stimulus": [expectation("asked-at-all")],
            "expect": [
                expectation("home"),
                expectation("added-once", oracle="file", **broken),
                expectation("spend", verdict="unavailable", reason="not-observed"),
                expectation("containment", expected=WORDS, seen=WORDS),
            ],
        },
        "stdout": b"a line of output\n" * 400,
    }


def hostile(folder: Path) -> Path:
    """A run in which every text that somebody else can choose is an attack."""
    made, files = hostile_run(NASTY)
    write_run(folder, made, **files)
    long = "x" * 1_000_000
    extra = trial(
        "long", case="w" * 200, message=long, verdict="failed", subject={"name": "s" * 90} | _NO
    )
    made["trials"].append(extra)
    write_trial(
        folder / "trials/long",
        stdout=b"<!doctype html><script>window.canary=1</script>" + long.encode(),
        verdict_json={
            "expect": [expectation("e" * 300, verdict="failed", seen=long, expected=long)]
        },
        requests_jsonl=[request(n, n, path="/" + "y" * 5000, service="v" * 90) for n in (1, 2)],
        journal_jsonl=[*journal("z" * 100_000)],
    )
    (folder / "run.json").write_text(json.dumps(made))
    return folder


_NO = {"version": None, "digest": None}
