"""A run in which every text that somebody else can choose is one and the same."""

from __future__ import annotations

import json
from typing import Any

from tests.unit.report.folders import Document, expectation, journal, request, run, trial

NASTY = (
    "</script><script>window.canary=1</script><img src=x onerror=canary()>"
    "'\"><svg/onload=canary()>{{7*7}}{% raw %}&lt;&#60;]]><!--"
    "\x1b[31m\x00\u202e\u2066\ud800 javascript:canary() </style><style>*{display:none}"
)


def hostile_run(text: str) -> tuple[Document, dict[str, Any]]:
    """A run in which every text that somebody else can choose is this one."""
    known = {
        "mark": "known",
        "entries": [dict.fromkeys(("subject", "version", "because", "since"), text)],
    }
    one = trial(
        "a",
        case=text,
        message=text,
        verdict="failed",
        weighs=None,
        reasons=[f"broke:{text}"],
        subject={"name": text, "version": text, "digest": text},
        known=known,
        quarantine={"owner": text, "reason": text, "until": "2031-05-01"},
        broke=[{"id": text, "expected": text, "seen": text}],
    )
    other = {**one, "id": text, "dir": "", "weighs": "failed"}
    change = {"root": "home", "path": text, "change": "added", "before": None, "by": "other"}
    state = {"type": "link", "mode": "0644", "size": 1, "target": text}
    fault = {"id": text, "fault": text, "armed": True, "landed": True, "count": 1, "proof": text}
    live = {"pid": 2, "ppid": 1, "state": "S", "argv": [text]}
    entry = expectation("file", verdict="failed", expected=text, seen=text, evidence=text, id=text)
    armed = {"t": 0.2, "event": "armed", "fault": text, "injector": text}
    trouble = {"t": 0.3, "event": "trouble", "reason": "x", "message": text}
    asked = request(1, 0.2, service=text, path=text, method=text, fault=text, ended=text)
    files = {
        "case_yaml": json.dumps({"title": text, "proves": text, "task": text}).encode(),
        "journal_jsonl": [*journal(text), armed, trouble],
        "requests_jsonl": [asked],
        "files_json": [{**change, "after": state}],
        "processes_json": {"after": [{"seconds": 0.0, "live": [live]}]},
        "network_json": {"names": {text: 1}, "packets": 2, "destinations": {text: 1}},
        "evidence_json": {"contents": [{"root": "home", "path": text, "file": f"subject/{text}"}]},
        "verdict_json": {
            "faults": [fault],
            "stimulus": [entry],
            "expect": [{**entry, "params": {"path": text, "equals": text}}, expectation(text)],
        },
        "stdout": text.encode("utf-8", "surrogatepass"),
        "stderr": b"\xff\xfe" + text.encode("utf-8", "surrogatepass"),
    }
    return run(one, other, argv=[text]), files
