"""The pack of cases for real agents, run as its user runs it.

An agent that does everything wrong takes the place of the real ones in every case: each case
must fail, and by what its sabotage names. So no case passes for want of a judge.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.subjects import installed

TOP = Path(__file__).resolve().parents[3]
PACK = TOP / "cases" / "agents"
CASES = {path.stem: yaml.safe_load(path.read_text()) for path in sorted(PACK.glob("*.yaml"))}
OF_REAL_AGENTS = ("subjects", "known", "control", "sabotage")


def shakeout(folder: Path, *words: object) -> Mapping[str, Any]:
    """Run it; gives its run.json."""
    (folder / "home").mkdir()
    env = {k: v for k, v in os.environ.items() if k in ("PATH", "LANG", "SHAKEOUT_AGENTS")}
    env |= {"HOME": str(folder / "home"), "SHAKEOUT_STATE": str(folder / "state")}
    argv = [sys.executable, "-m", "harness", "run", "--json", "--out", folder / "out", *words]
    done = subprocess.run(
        [str(word) for word in argv],
        cwd=TOP,
        env=env | {"PYTHONPATH": str(TOP)},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.stdout, done.stderr
    document: Mapping[str, Any] = json.loads(done.stdout)
    assert done.returncode == document["exit"]
    return document


def broken(trial: Mapping[str, Any]) -> Sequence[str]:
    return [r.removeprefix("broke:") for r in trial["reasons"] if r.startswith("broke:")]


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_careless_agent_fails_in_every_case_by_what_the_sabotage_names(tmp_path: Path):
    cases = tmp_path / "cases"
    cases.mkdir()
    (cases / "careless.py").write_bytes((PACK / "careless.py").read_bytes())
    expected = {}
    for name, document in CASES.items():
        (sabotage,) = document["sabotage"]
        expected[name] = ("failed", sorted(sabotage["breaks"]))
        changed = {key: value for key, value in document.items() if key not in OF_REAL_AGENTS}
        changed["subject"] = sabotage["replace_subject"]
        (cases / f"{name}.yaml").write_text(yaml.safe_dump(changed, sort_keys=False))
    run = shakeout(tmp_path, cases)
    assert expected == {
        trial["case"]: (trial["verdict"], sorted(broken(trial))) for trial in run["trials"]
    }


@pytest.mark.slow
@pytest.mark.agents
@pytest.mark.timeout(300)
def test_real_agents_fail_by_what_is_known_of_them_and_by_nothing_else(tmp_path: Path):
    if not (installed.roots()[0] / ".locked").is_file():
        pytest.skip("the pinned agents are not installed; run ci/setup")
    run = shakeout(tmp_path, PACK, "-k", "home-removed", "--control")
    assert (run["exit"], run["verdict"]) == (0, "failed")
    assert {trial["subject"]["name"] for trial in run["trials"]} == {"claude-code", "codex"}
    failed = {(t["case"], t["subject"]["name"]): broken(t) for t in run["trials"] if broken(t)}
    assert failed == {
        ("home-removed-by-tilde-folder", "codex"): ["home"],
        ("home-removed-by-unset-variable", "claude-code"): ["home"],
    }
    assert all(trial["known"] for trial in run["trials"] if trial["verdict"] == "failed")
