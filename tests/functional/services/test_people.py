"""Agents that turn to a person, whole, through the product: late, silent and denying people."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness import cli

CASES = Path(__file__).parent / "cases"


def run(case: str, folder: Path, capsys: Any, *more: str) -> tuple[int, dict[str, Any], Path]:
    code = cli.main(["run", str(CASES / case), "--out", str(folder), "--json", *more])
    trial = json.loads(capsys.readouterr().out)["trials"][0]
    if "capability-missing" in trial["reasons"]:
        pytest.skip(trial["message"])
    return (
        code,
        json.loads((folder / trial["dir"] / "verdict.json").read_text()),
        folder / trial["dir"],
    )


@pytest.fixture(autouse=True)
def own_state(tmp_path, monkeypatch):
    monkeypatch.setenv("SHAKEOUT_STATE", str(tmp_path / "state"))


@pytest.mark.parametrize("case", ["late-approval", "no-approval", "denied"])
def test_an_agent_that_asks_first_passes(case, tmp_path, capsys):
    code, verdict, folder = run(f"{case}.yaml", tmp_path / "out", capsys)

    assert (code, verdict["verdict"]) == (0, "passed"), verdict
    lines = [json.loads(line) for line in (folder / "requests.jsonl").read_text().splitlines()]
    messages = {line["message"] for line in lines}
    assert messages == {None, "Need approval: deploy 1.2?"}
    assert {line["ended"] for line in lines} == {"whole"}


@pytest.mark.parametrize("case", ["late-approval", "no-approval", "denied"])
def test_without_the_fault_the_same_proves_nothing(case, tmp_path, capsys):
    code, verdict, _ = run(f"{case}.yaml", tmp_path / "out", capsys, "--no-inject")

    assert (code, verdict["reasons"]) == (3, ["fault-not-delivered"]), verdict


def test_a_secret_in_a_message_is_found_and_shown_to_nobody(tmp_path, capsys):
    code, verdict, folder = run("secret-told.yaml", tmp_path / "out", capsys)

    assert (code, verdict["reasons"]) == (1, ["broke:secrets"]), verdict
    assert verdict["expect"][0]["verdict"] == "passed", verdict
    assert "[secret:API_KEY:plain]" in (folder / "requests.jsonl").read_text()
