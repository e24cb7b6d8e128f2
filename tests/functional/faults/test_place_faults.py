"""Every fault of the place, through the product: it lands, it breaks, or it proves nothing.

Each entry of ``data/*.yaml`` is one case and what must come of it. A fault that hit nothing
must make the trial unavailable, whatever the subject did.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness import cli
from harness.faults.base import PlaceFault
from harness.faults.registry import FAULTS

DATA = Path(__file__).parent / "data"
EXIT = {"passed": 0, "failed": 1, "timed_out": 1, "unavailable": 3}
PLANTED = {
    "planted": {"text": "one\n", "mode": "0640"},
    "deep/er/file": "two\n",
    "deep/other": "three\n",
}


@dataclass(frozen=True)
class Entry:
    """One case and what must come of it."""

    name: str
    spec: dict[str, Any]

    def document(self) -> dict[str, Any]:
        """The case file."""
        given = self.spec
        command = ["sh", "-c", given["sh"]] if "sh" in given else ["python3", "-c", given["python"]]
        faults = [
            {**fault, **({"each": given["each"]} if "each" in given else {})}
            for fault in given["faults"]
        ]
        optional: dict[str, Any] = {
            key: given[key] for key in ("steps", "services") if key in given
        }
        return {
            "case": self.name,
            "title": self.name,
            "proves": "what a fault of the place does",
            "subject": {"command": command},
            "task": "none",
            "sandbox": {
                "limits": {"seconds": given.get("seconds", 25)},
                "network": given.get("network", "services"),
            },
            "home": {"kept/file": "four\n"},
            "workspace": {"files": {**PLANTED, **given.get("planted", {})}},
            "faults": faults,
            "expect": given["expect"],
            **optional,
        }


def entries() -> Iterator[Entry]:
    for path in sorted(DATA.glob("*.yaml")):
        for spec in yaml.safe_load(path.read_text("utf-8")):
            yield Entry(spec["name"], spec)


ENTRIES = list(entries())


@pytest.mark.parametrize("entry", ENTRIES, ids=[entry.name for entry in ENTRIES])
def test_a_fault_of_the_place_comes_to_what_it_proves(entry, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("SHAKEOUT_STATE", str(tmp_path / "state"))
    case = tmp_path / "case.yaml"
    case.write_text(yaml.safe_dump(entry.document(), sort_keys=False), "utf-8")

    code = cli.main(["run", str(case), "--out", str(tmp_path / "out"), "--json"])
    run = json.loads(capsys.readouterr().out)
    assert code != 2, run
    if any(reason == "capability-missing" for reason in run["reasons"]):
        pytest.skip(run["trials"][0]["message"])

    wanted = entry.spec["verdict"]
    variants = [len(values) for values in entry.spec.get("each", {}).values()]
    assert len(run["trials"]) == (variants[0] if variants else 1)
    for trial in run["trials"]:
        document = json.loads((tmp_path / "out" / trial["dir"] / "verdict.json").read_text())
        assert document["verdict"] == wanted, document
        assert document["reasons"] == entry.spec.get("reasons", []), document
        check_faults(entry.spec, document)
        check_files(entry.spec, tmp_path / "out" / trial["dir"] / "files.json")
    assert (code, run["exit"], run["verdict"]) == (EXIT[wanted], EXIT[wanted], wanted)


def check_faults(spec: dict[str, Any], document: dict[str, Any]) -> None:
    records = {record["id"]: record for record in document["faults"]}
    assert set(records) == set(spec["landed"])
    for name, count in spec["landed"].items():
        record = records[name]
        assert record["landed"] is (record["count"] > 0)
        assert record["count"] == count if count is not None else record["landed"], record
        if (armed := spec.get("armed", True)) is not None:
            assert record["armed"] is armed, record
        assert re.search(spec.get("proof", ""), record["proof"]), record
    if "exit" in spec:
        assert document["exit_code"] == spec["exit"]


def check_files(spec: dict[str, Any], path: Path) -> None:
    """Only what the subject did is on record: of home and workspace, and of the system."""
    for key, roots in (("files", {"home", "workspace"}), ("system", {"system"})):
        if key in spec:
            changes = [c for c in json.loads(path.read_text()) if c["root"] in roots]
            assert [change["path"] for change in changes] == spec[key], changes


def test_each_fault_of_the_place_has_a_case_of_each_kind():
    place = {name for name, fault in FAULTS.items() if isinstance(fault, PlaceFault)}
    for verdict in ("passed", "failed", "unavailable"):
        tried = {
            f["fault"] for e in ENTRIES if e.spec["verdict"] == verdict for f in e.spec["faults"]
        }
        assert place - tried == set(), verdict
    untriggered = {
        f["fault"] for e in ENTRIES if e.spec.get("armed") is False for f in e.spec["faults"]
    }
    assert place - untriggered == set()


def test_names_of_entries_are_unique():
    names = [entry.name for entry in ENTRIES]
    assert len(names) == len(set(names))
