"""What is counted from outside, through the product: order, attempts, events, clocks.

Each trial is judged a second time, from what was stored of it, and that comes to the same.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from harness.case.load import load_case
from harness.case.tables import installed
from harness.evidence.store import load_evidence
from harness.oracles.look import look

SUBJECT = """
import json, os, signal, sqlite3, subprocess, time
for number in range(3):
    subprocess.run(["./meter"], check=True)
subprocess.run(["curl", "-s", "http://up:8080/a"])
time.sleep(0.3)
subprocess.run(["curl", "-s", "http://up:8080/a"])
with open("log.jsonl", "w") as log:
    log.write(json.dumps({"kind": "try", "n": 1}) + chr(10) + '{"kind": "tr')
db = sqlite3.connect("ledger.db", isolation_level=None)
db.execute("pragma journal_mode = wal")
db.execute("create table spent (kind, usd)")
db.execute("insert into spent values ('settle', 0.5)")
try:
    open("/home/agent/.ssh/id_ed25519").read()
except OSError:
    pass
os.kill(os.getpid(), signal.SIGKILL)
"""
METER = {"path": "meter", "act": "run", "exactly": 3}
UP = {"request": {"service": "up"}}
SOON = {"at_least": "200ms", "at_most": "20s"}

HOLDS = [
    {"order": [{"process": "started"}, UP, {**UP, "after": SOON}, {"process": "ended"}]},
    {"order": [{"step": "start"}, {"fault": "busy"}, {"fault": {"id": "busy", "was": "landed"}}]},
    {"order": {"of": [{"request": {"service": "up", "fault": "busy"}}], "never_after": UP}},
    {"attempts": METER},
    {"attempts": {"program": "curl", "exactly": 2}},
    {"attempts": {"path": "~/.ssh", "act": "read", "beneath": True, "exactly": 1}},
    {"attempts": {"request": {"service": "up"}, "exactly": 2}},
    {"events": {"file": "log.jsonl", "where": {"kind": "^try$"}, "exactly": 1,
                "beside": {"attempts": METER}}},
    {"events": {"file": "ledger.db", "table": "spent", "where": {"usd": 0.5}, "exactly": 1,
                "beside": {"requests": {"service": "up", "exactly": 2}}}},
    {"clock": {"isolated": True, "read": {"at_least": 1, "program": "python3"}}},
]  # fmt: skip
BREAKS = [
    {"order": [UP, {**UP, "after": {"at_most": "100ms"}}]},
    {"order": {"of": [UP], "never_after": UP}},
    {"attempts": {"path": "meter", "act": "run", "at_most": 2}},
    {"attempts": {"program": "curl", "exactly": 1}},
    {"attempts": {"request": {"service": "up"}, "at_most": 1}},
    {"events": {"file": "log.jsonl", "exactly": 3, "beside": {"attempts": METER}}},
    {"events": {"file": "log.jsonl", "exactly": 1, "beside": {"attempts": {**METER, "exactly": 1}}}},
    {"clock": {"read": {"exactly": 0, "program": "python3"}}},
]  # fmt: skip
UNSEEN = [
    {"attempts": {"program": "no-such-program", "exactly": 0}},
    {"events": {"file": "none.jsonl", "exactly": 0, "beside": {"requests": {"at_most": 0}}}},
]


def case_with(expect: list[dict[str, object]]) -> str:
    return yaml.safe_dump(
        {
            "title": "outside",
            "proves": "what is counted from outside",
            "subject": {"command": ["python3", "-c", SUBJECT]},
            "task": "none",
            "sandbox": {"clock": {"at": "2031-02-03T04:05:06Z"}, "limits": {"seconds": 60}},
            "workspace": {"files": {"meter": "#!/bin/sh\nexit 0\n"}},
            "services": {"http": {"up": [{"on": "GET /a", "reply": {"body": "ok"}}]}},
            "faults": [
                {
                    "id": "busy",
                    "fault": "upstream.status",
                    "with": {"service": "up"},
                    "when": {"service": "up", "request": 2},
                }
            ],
            "expect": expect,
        }
    )


@pytest.fixture
def judged_twice(shakeout):
    """Run a case with these expectations; gives each one's verdict, the same both times."""

    def run(name: str, expect: list[dict[str, object]]) -> list[str]:
        case = shakeout.case(name, case_with(expect))
        ran = shakeout("run", case, "--json", "--out", shakeout.folder / "out")
        assert ran.out, ran.err
        (trial,) = ran.document["trials"]
        if "capability-missing" in trial["reasons"]:
            pytest.skip(trial["message"])
        folder = shakeout.folder / "out" / trial["dir"]
        return first_and_again(folder, case, len(expect))

    return run


def first_and_again(folder: Path, case: Path, count: int) -> list[str]:
    first = json.loads((folder / "verdict.json").read_text())["expect"][:count]
    again = look(load_case(case, installed()).expect, load_evidence(folder))
    for told, looked in zip(first, again, strict=True):
        assert looked.finding is not None
        assert (told["verdict"], told["seen"]) == (
            looked.finding.verdict.value,
            looked.finding.seen,
        )
    return [told["verdict"] for told in first]


@pytest.mark.parametrize(
    ("found", "expect"), [("passed", HOLDS), ("failed", BREAKS), ("unavailable", UNSEEN)]
)
def test_what_is_counted_outside_is_judged_alike_live_and_stored(judged_twice, found, expect):
    assert judged_twice(found, expect) == [found] * len(expect)
