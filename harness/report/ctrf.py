"""``run.json`` in the Common Test Report Format.

A test is ``failed`` exactly where its trial raises the exit code, since the format has no other
status by which pipelines stop: ``rawStatus`` is the verdict and says whether it was unavailable. A
trial that the exit code leaves out is ``other``: neither green nor red. Nothing is ``skipped``.
"""

from __future__ import annotations

import json
import uuid
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from harness.report.findings import details, left_out, whole
from harness.report.plain import plain, short

Document = Mapping[str, Any]

_SPEC: Final = "0.1.0"
_STATUSES: Final = ("passed", "failed", "skipped", "pending", "other")
_IDS: Final = uuid.uuid5(uuid.NAMESPACE_URL, "shakeout:trial")


def ctrf(run: Document) -> bytes:
    """The report of a run."""
    tests = [_test(trial) for trial in run["trials"]]
    if (reason := whole(run)) is not None:
        tests.append(_whole(*reason))
    report = {
        "reportFormat": "CTRF",
        "specVersion": _SPEC,
        "reportId": str(uuid.uuid5(_IDS, run["run"])),
        "timestamp": run["ended"],
        "generatedBy": "shakeout",
        "results": {
            "tool": {"name": "shakeout", "version": run["harness"]["version"]},
            "summary": _summary(run, tests),
            "tests": tests,
        },
        "extra": {"exit": run["exit"], "verdict": run["verdict"], "seed": run["seed"]},
    }
    return json.dumps(report, indent=1).encode() + b"\n"


def _summary(run: Document, tests: list[Document]) -> Document:
    counts = Counter(test["status"] for test in tests)
    return {
        "tests": len(tests),
        **{status: counts[status] for status in _STATUSES},
        "flaky": sum(test.get("flaky", False) for test in tests),
        "start": _milliseconds(run["started"]),
        "stop": _milliseconds(run["ended"]),
    }


def _milliseconds(stamp: str) -> int:
    return round(datetime.fromisoformat(stamp).timestamp() * 1000)


def _test(trial: Document) -> Document:
    message = plain(trial["message"])
    if trial["weighs"] is None:
        message = f"{left_out(trial)} ({message})"
    made: dict[str, Any] = {
        "id": str(uuid.uuid5(_IDS, trial["id"])),
        "name": trial["id"],
        "status": _status(trial["weighs"]),
        "duration": round((trial["seconds"] or 0) * 1000),
        "suite": [trial["case"]],
        "message": short(message),
        "rawStatus": trial["verdict"],
        "flaky": trial["flaky"],
        "type": trial["kind"],
        "parameters": {"seed": trial["seed"], "repeat": trial["repeat"]},
        "extra": dict(_extra(trial)),
    }
    if trial["broke"]:
        made["trace"] = "\n".join(details(trial))
    if where := trial["about"] or trial["where"]:
        made |= {"filePath": plain(where["file"]), "line": where["line"]}
    return made


def _status(weighs: str | None) -> str:
    return "other" if weighs is None else "passed" if weighs == "passed" else "failed"


def _extra(trial: Document) -> Iterator[tuple[str, object]]:
    yield "evidence", trial["dir"]
    yield "reasons", list(trial["reasons"])
    yield "weighs", trial["weighs"]
    yield "subject", dict(trial["subject"])
    yield "sandbox", dict(trial["sandbox"])


def _whole(reason: str, message: str) -> Document:
    return {
        "id": str(uuid.uuid5(_IDS, "run")),
        "name": "run",
        "status": "failed",
        "duration": 0,
        "suite": ["shakeout"],
        "message": message,
        "rawStatus": reason,
    }
