"""Every fault of a reply, through the product: met, not withstood, never due.

Each entry of ``replies/*.yaml`` is one fault and what a client sees of it. Out of it come three
cases: one that wants to see that, and passes; one that wants a clean reply, and fails; and one
whose trigger never comes, and which proves nothing. Each three of a kind are one run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness import cli
from harness.faults.base import ReplyFault
from harness.faults.registry import FAULTS

REPLIES = Path(__file__).parent / "replies"
ENTRIES: Mapping[str, Mapping[str, Any]] = {
    entry["fault"]: entry
    for path in sorted(REPLIES.glob("*.yaml"))
    for entry in yaml.safe_load(path.read_text("utf-8"))
}
EXIT = {"passed": 0, "failed": 1, "unavailable": 3}
NEVER = {"model": {"request": 99}, "upstream": {"service": "up", "request": 99}}


def document(entry: Mapping[str, Any], verdict: str) -> dict[str, Any]:
    """The case of an entry that comes to a verdict."""
    layer, _, name = entry["fault"].partition(".")
    fault = {"fault": entry["fault"], "with": dict(entry.get("with", {}))}
    if layer == "upstream":
        fault["with"]["service"] = "up"
    if verdict == "unavailable":
        fault["when"] = NEVER[layer]
    client = "ask.py" if layer == "model" else "fetch.sh"
    url = entry.get("url", "http://up:8080/report")
    command = ["python3", client] if layer == "model" else ["sh", client, url]
    return {
        "case": f"{layer}-{name}",
        "title": f"What a client sees of {entry['fault']}",
        "subject": {"command": command},
        "task": "none",
        "workspace": {"files": {client: (REPLIES / client).read_text("utf-8")}},
        "sandbox": {"limits": {"seconds": 25}},
        "script": [{"say": "Looking.", "run": "ls"}, {"say": "Done."}],
        "leftover": "allowed",
        "services": {"http": {"up": [{"on": "GET /report", "reply": {"body": "42\n"}}]}},
        "faults": [fault],
        "expect": [{"output": {"matches": "^clean$" if verdict == "failed" else entry["sees"]}}],
    }


@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.parametrize("verdict", EXIT)
def test_a_fault_of_a_reply_comes_to_what_it_proves(verdict, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("SHAKEOUT_STATE", str(tmp_path / "state"))
    folder, out = tmp_path / "cases", tmp_path / "out"
    folder.mkdir()
    for name, entry in ENTRIES.items():
        written = yaml.safe_dump(document(entry, verdict), sort_keys=False)
        (folder / f"{name}.yaml").write_text(written, "utf-8")

    code = cli.main(["run", str(folder), "--out", str(out), "--json", "-n", "2"])
    run = json.loads(capsys.readouterr().out)

    assert len(run["trials"]) == len(ENTRIES), run
    wrong = {
        trial["case"]: told for trial in run["trials"] if (told := misfit(out, trial, verdict))
    }
    assert wrong == {}
    assert code == EXIT[verdict]


def misfit(out: Path, trial: Mapping[str, Any], verdict: str) -> Any:
    """What a trial came to, if it is not what its case is for."""
    found = json.loads((out / trial["dir"] / "verdict.json").read_text())
    (fault,) = found["faults"]
    never = verdict == "unavailable"
    reasons = {"passed": [], "failed": ["broke:output"], "unavailable": ["fault-not-delivered"]}
    fits = (found["verdict"], found["reasons"]) == (verdict, reasons[verdict])
    if fits and (fault["armed"], fault["landed"]) == (not never, not never):
        return None
    return found["verdict"], found["reasons"], fault, (out / trial["dir"] / "stdout").read_text()


def test_every_fault_of_a_reply_has_an_entry():
    replies = {name for name, fault in FAULTS.items() if isinstance(fault, ReplyFault)}

    assert ENTRIES.keys() == replies
