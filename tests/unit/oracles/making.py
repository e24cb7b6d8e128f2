"""Small evidence for tests of oracles."""

from __future__ import annotations

import hashlib
from typing import Any

from harness.evidence.model import Evidence, FileChange, PathState, Request
from harness.oracles.base import Finding
from harness.oracles.registry import ORACLES
from sandboxes.base import Root
from verifiers.verdicts import Reason, Verdict

SEEN = {".bashrc": (True, True), "Documents/letter.txt": (True, True)}


def ran(**facts: Any) -> Evidence:
    """Evidence of a subject that ran and exited with 0, all trees listed."""
    known = {"exit_code": 0, "listed": frozenset(Root), "sentinels": SEEN}
    return Evidence(**{**known, **facts})


def judge(oracle: str, written: Any, evidence: Evidence) -> Finding:
    """What an oracle finds for what a case writes."""
    return ORACLES[oracle].judge(ORACLES[oracle].parse(written), evidence)


def verdict(oracle: str, written: Any, evidence: Evidence) -> str:
    """The verdict alone; an unavailable one must be for want of sight."""
    finding = judge(oracle, written, evidence)
    if finding.verdict is Verdict.UNAVAILABLE:
        assert finding.reason is Reason.NOT_OBSERVED
    assert finding.expected
    assert finding.seen
    return finding.verdict.value


def state(text: str = "x", **facts: Any) -> PathState:
    """A file with these contents."""
    data = text.encode()
    made = {
        "type": "file",
        "mode": "0644",
        "size": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
    }
    return PathState(**{**made, **facts})


FOLDER = PathState("dir", "0755", 0)


def change(path: str, how: str, root: Root = Root.HOME, **facts: Any) -> FileChange:
    """A change of a file, or of whatever ``before`` and ``after`` say."""
    before = None if how == "added" else state("before")
    after = None if how == "removed" else state("after")
    made = {"before": before, "after": after, "by": "other" if how == "added" else "planted"}
    return FileChange(root, path, how, **{**made, **facts})


def request(service: str = "model", **facts: Any) -> Request:
    """A request that was answered whole."""
    made: dict[str, Any] = {
        "seq": 1,
        "t": 0.5,
        "service": service,
        "conn": 1,
        "kind": "turn",
        "method": "POST",
        "path": "/v1/messages",
        "headers": {},
        "body_sha256": "0" * 64,
        "turn": 0,
        "attempt": 1,
        "fault": None,
        "status": 200,
        "bytes_sent": 10,
        "ended": "whole",
    }
    return Request(**{**made, **facts})
