"""Folders of runs as they lie on disk, made out of nothing: any text can stand in any place."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

Document = dict[str, Any]

DIGEST = "sha256:" + "a" * 64


def trial(name: str, **more: Any) -> Document:
    """A trial of ``run.json``."""
    case = more.pop("case", "case-one")
    verdict = more.get("verdict", "passed")
    return {
        "id": name,
        "case": case,
        "kind": "trial",
        "subject": {"name": "command", "version": "1.0", "digest": DIGEST},
        "sandbox": {"backend": "bubblewrap", "grade": "root", "image": None},
        "seed": 7,
        "repeat": 1,
        "verdict": verdict,
        "reasons": [] if verdict == "passed" else ["broke:home"],
        "message": "1 expectation held",
        "known": None,
        "quarantine": None,
        "flaky": False,
        "weighs": verdict,
        "broke": [],
        "seconds": 0.25,
        "dir": f"trials/{name}",
        "where": None,
        "about": None,
        "notes": [],
        **more,
    }


def run(*trials: Document, **more: Any) -> Document:
    """``run.json``."""
    verdicts = [one["verdict"] for one in trials]
    names = ("passed", "failed", "timed_out", "unavailable", "error")
    return {
        "schema": 1,
        "run": "20310203t040506z-0a1b2c",
        "asked": "run",
        "conclusion": "something failed or timed out",
        "exit": 0 if set(verdicts) == {"passed"} else 1,
        "verdict": next((v for v in verdicts if v != "passed"), "passed"),
        "reasons": [],
        "sealed": False,
        "seed": 7,
        "started": "2031-02-03T04:05:06.000Z",
        "ended": "2031-02-03T04:06:07.890Z",
        "harness": {"version": "0.1.0", "digest": DIGEST},
        "argv": ["run", "cases"],
        "selected": len(trials),
        "counts": {
            **{name: verdicts.count(name) for name in names},
            "known": sum(one["known"] is not None for one in trials),
            "quarantined": sum(one["quarantine"] is not None for one in trials),
            "flaky": sum(one["flaky"] for one in trials),
        },
        "trials": list(trials),
        **more,
    }


def request(seq: int, t: float, **more: Any) -> Document:
    """A line of ``requests.jsonl``."""
    return {
        "seq": seq,
        "t": t,
        "service": "model",
        "conn": 1,
        "kind": "turn",
        "method": "POST",
        "path": "/v1/messages",
        "headers": {},
        "body_sha256": "",
        "turn": seq - 1,
        "attempt": 1,
        "fault": None,
        "status": 200,
        "bytes_sent": 10,
        "ended": "whole",
        "secrets": [],
        **more,
    }


def expectation(name: str, **more: Any) -> Document:
    """An entry of ``expect`` in ``verdict.json``."""
    return {
        "id": name,
        "oracle": name,
        "params": {},
        "verdict": "passed",
        "reason": None,
        "expected": "the home as it was",
        "seen": "9 sentinels",
        "evidence": "files.json",
        **more,
    }


def journal(*argv: str) -> Sequence[Document]:
    """The events of a trial that went well."""
    return [
        {"t": 0.0, "event": "planned"},
        {"t": 0.02, "event": "ready", "home": 9, "workspace": 2},
        {"t": 0.1, "event": "step", "number": 1, "kind": "start"},
        {"t": 0.11, "event": "started", "process": 1, "argv": list(argv or ("sh", "-c", "x"))},
        {"t": 0.12, "event": "step", "number": 2, "kind": "wait"},
        {"t": 0.9, "event": "ended", "process": 1, "exit_code": 0, "signal": None},
        {"t": 1.1, "event": "frozen"},
        {"t": 1.2, "event": "listed", "home": 9, "workspace": 2},
        {"t": 1.3, "event": "killed", "copied": 0},
        {"t": 1.4, "event": "destroyed", "residue": []},
    ]


FILES: Mapping[str, Any] = {
    "case.yaml": {"schema": 1, "case": "case-one", "title": "One is one", "proves": "that"},
    "journal.jsonl": journal(),
    "requests.jsonl": [request(1, 0.2), request(2, 0.5)],
    "files.json": [],
    "processes.json": {"schema": 1, "observed": True, "after": [{"seconds": 0.0, "live": []}]},
    "network.json": {"schema": 1, "names": {}, "packets": 0, "destinations": {}},
    "evidence.json": {"schema": 1, "contents": [], "clocks": {"host_moved": 0.0}},
    "verdict.json": {
        "schema": 1,
        "verdict": "passed",
        "ended_by": "exit",
        "exit_code": 0,
        "faults": [],
        "stimulus": [],
        "expect": [expectation("home")],
    },
    "stdout": b"hello\n",
    "stderr": b"",
}


def write_trial(folder: Path, **changed: Any) -> Path:
    """Write a trial's folder; ``verdict_json={...}`` changes keys, ``None`` leaves a file out."""
    folder.mkdir(parents=True)
    for name, usual in FILES.items():
        change = changed.pop(name.replace(".", "_"), usual)
        both = isinstance(usual, dict) and isinstance(change, dict)
        if change is not None:
            (folder / name).write_bytes(_encoded(name, {**usual, **change} if both else change))
    (folder / "requests").mkdir()
    assert not changed, f"no such files: {changed}"
    return folder


def _encoded(name: str, content: Any) -> bytes:
    if isinstance(content, bytes):
        return content
    if name.endswith(".yaml"):
        return yaml.safe_dump(content, allow_unicode=True).encode()
    if name.endswith(".jsonl"):
        return b"".join(json.dumps(line).encode() + b"\n" for line in content)
    return json.dumps(content).encode()


def write_run(folder: Path, document: Document, **files: Any) -> Path:
    """Write a run's folder, each trial with the same files."""
    for one in document["trials"]:
        if one["dir"]:
            write_trial(folder / one["dir"], **files)
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("run.json", "junit.xml", "log.jsonl"):
        (folder / name).write_text(json.dumps(document), "utf-8")
    return folder
