"""Every fault of the place, through the product: it lands, it breaks, or it proves nothing.

Each entry of ``data/*.yaml`` is one case and what must come of it. A fault that hit nothing
must make the trial unavailable, whatever the subject did.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
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
TOGETHER = 12


def together() -> Iterator[Any]:
    """Entries of one verdict, as many as one run tries in a few seconds."""
    for verdict in EXIT:
        named = [entry for entry in ENTRIES if entry.spec["verdict"] == verdict]
        for start in range(0, len(named), TOGETHER):
            some = named[start : start + TOGETHER]
            yield pytest.param(some, id=f"{verdict}-{some[0].name}-to-{some[-1].name}")


@pytest.mark.parametrize("some", list(together()))
def test_a_fault_of_the_place_comes_to_what_it_proves(some, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("SHAKEOUT_STATE", str(tmp_path / "state"))
    for entry in some:
        case = tmp_path / f"{entry.name}.yaml"
        case.write_text(yaml.safe_dump(entry.document(), sort_keys=False), "utf-8")

    words = ["run", str(tmp_path), "--out", str(tmp_path / "out"), "--json", "-n", "1"]
    code = cli.main(words)
    run = json.loads(capsys.readouterr().out)
    assert code != 2, run

    tried = [entry for entry in some if check_trials(entry, run["trials"], tmp_path / "out")]
    if len(tried) == len(some):
        wanted = some[0].spec["verdict"]
        assert (code, run["exit"], run["verdict"]) == (EXIT[wanted], EXIT[wanted], wanted)
    elif not tried:
        pytest.skip(run["trials"][0]["message"])


def check_trials(entry: Entry, trials: Sequence[Any], out: Path) -> bool:
    """Look at what one entry came to; whether it could be tried here."""
    own = [trial for trial in trials if trial["case"] == entry.name]
    variants = [len(values) for values in entry.spec.get("each", {}).values()]
    assert len(own) == (variants[0] if variants else 1), entry.name
    if any("capability-missing" in trial["reasons"] for trial in own):
        return False
    for trial in own:
        document = json.loads((out / trial["dir"] / "verdict.json").read_text())
        assert document["verdict"] == entry.spec["verdict"], document
        assert document["reasons"] == entry.spec.get("reasons", []), document
        check_faults(entry.spec, document)
        check_files(entry.spec, out / trial["dir"] / "files.json")
    return True


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
