"""The same cases come to the same verdicts, for the same reasons, on every backend.

The cases are the folder's own, and some of those that show every fault of the place.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness import cli
from sandboxes.registry import BACKENDS
from tests.conformance.conftest import wanted
from tests.functional.faults.test_place_faults import ENTRIES

CASES = Path(__file__).parent / "cases"
FAULTS = {
    "full-that-nobody-filled",
    "missing-path-is-met-and-comes-back",
    "out-of-memory-kills-who-needs-more",
    "permission-refuses-to-read",
    "read-only-refuses-and-lets-go-again",
    "set-is-what-a-program-reads",
    "stop-is-waited-out",
    "zone-breaks-what-needs-utc",
}
#: Numbers of processes are the kernel's to give.
PID = re.compile(r"\b\d+(?= \()")

pytestmark = [pytest.mark.engine, pytest.mark.timeout(240)]


def judged(trial: Path) -> dict[str, Any]:
    """What a trial came to, without what may differ: times, places, process numbers."""
    verdict = json.loads((trial / "verdict.json").read_text())
    at_end = trial / "files.json"  # absent where nothing was started
    files = json.loads(at_end.read_text()) if at_end.exists() else []
    return {
        **{name: verdict[name] for name in ("verdict", "reasons", "ended_by", "exit_code")},
        "expect": [
            (e["id"], e["verdict"], PID.sub("N", e["seen"] or "")) for e in verdict["expect"]
        ],
        "faults": [(f["id"], f["landed"]) for f in verdict["faults"]],
        "files": [(change["root"], change["path"], change["change"]) for change in files],
        "stdout": (trial / "stdout").read_bytes() if (trial / "stdout").exists() else None,
    }


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    folder = tmp_path / "cases"
    shutil.copytree(CASES, folder)
    for entry in ENTRIES:
        if entry.name in FAULTS:
            text = yaml.safe_dump(entry.document(), sort_keys=False)
            (folder / f"{entry.name}.yaml").write_text(text, "utf-8")
    assert len(list(folder.iterdir())) == len(list(CASES.iterdir())) + len(FAULTS)
    return folder


def test_every_backend_comes_to_the_same_verdicts(cases, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SHAKEOUT_STATE", str(tmp_path / "state"))
    seen: dict[str, dict[str, Any]] = {}
    for name, backend in BACKENDS.items():
        wanted(backend)
        out = tmp_path / name
        code = cli.main(["run", str(cases), "--sandbox", name, "--out", str(out), "--json"])
        run = json.loads(capsys.readouterr().out)
        assert code == run["exit"] == 1, run
        assert {trial["sandbox"]["backend"] for trial in run["trials"]} == {name}
        assert {trial["case"] for trial in run["trials"]} == {path.stem for path in cases.iterdir()}
        seen[name] = {
            trial["id"].replace(name, ""): judged(out / trial["dir"]) for trial in run["trials"]
        }

    first, *others = seen.values()
    assert {each["verdict"] for each in first.values()} == {
        "passed",
        "failed",
        "timed_out",
        "unavailable",
    }
    for other in others:
        assert other == first
