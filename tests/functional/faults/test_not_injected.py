"""With ``--no-inject`` no fault of the registry lands, and every one of its cases says so."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
import yaml

from harness import cli
from harness.faults.registry import FAULTS
from tests.functional.faults import test_place_faults as place
from tests.functional.faults import test_reply_faults as reply


def documents() -> Iterator[tuple[str, str]]:
    """A case for each fault; one that passes where the fault is injected, if it can be."""
    for name, entry in reply.ENTRIES.items():
        yield name, yaml.safe_dump(reply.document(entry, "passed"), sort_keys=False)
    for name in sorted(FAULTS.keys() - reply.ENTRIES.keys()):
        entries = [entry for entry in place.ENTRIES if shows(entry, name)]
        case = min(entries, key=lambda entry: entry.spec["verdict"] != "passed").document()
        case["sandbox"]["limits"]["seconds"] = 2  # some wait for the fault, in vain
        yield name, yaml.safe_dump(case, sort_keys=False)


def shows(entry: place.Entry, name: str) -> bool:
    """Whether an entry is about this fault alone; the home is judged even without one."""
    faults = [fault["fault"] for fault in entry.spec["faults"]]
    return faults == [name] and not any("home" in wanted for wanted in entry.spec["expect"])


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_no_fault_lands_that_is_not_injected(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("SHAKEOUT_STATE", str(tmp_path / "state"))
    folder, out = tmp_path / "cases", tmp_path / "out"
    folder.mkdir()
    for name, written in documents():
        (folder / f"{name}.yaml").write_text(written, "utf-8")

    cli.main(["run", str(folder), "--out", str(out), "--json", "-n", "2", "--no-inject"])
    run = json.loads(capsys.readouterr().out)

    assert len({trial["case"] for trial in run["trials"]}) == len(FAULTS), run
    wrong = {}
    for trial in run["trials"]:
        verdict = json.loads((out / trial["dir"] / "verdict.json").read_text())
        landed = [fault for fault in verdict["faults"] if fault["armed"] or fault["landed"]]
        unavailable = trial["verdict"] == "unavailable"
        if not unavailable or "fault-not-delivered" not in trial["reasons"] or landed:
            wrong[trial["case"]] = trial["verdict"], trial["reasons"], landed
    assert wrong == {}
