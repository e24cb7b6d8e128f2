"""A run leaves its report, and what becomes of the report changes no verdict."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness import cli, conclude
from harness.report.files import REPORTS
from tests.functional.run.conftest import Bench
from tests.unit.report.reading import read

CASE = """
    title: One is written
    proves: "that"
    subject: {command: [sh, -c, "echo one > x"]}
    task: none
    expect: [{file: {path: x, equals: "one\\n"}}]
"""


def test_a_run_leaves_a_report_with_each_of_its_trials(shakeout: Bench, tmp_path: Path):
    ran = shakeout("run", shakeout.case("one", CASE), "--control", "--out", "run")
    page = read(tmp_path / "run/report.html")

    assert ran.code == 0, ran.err
    assert "report.html" not in ran.err
    ids = {trial["id"] for trial in json.loads((tmp_path / "run/run.json").read_text())["trials"]}
    assert {e.attributes["id"] for e in page.all("article")} == {f"trial-{name}" for name in ids}
    assert "One is written" in page.all("article")[0].text
    assert page.with_class("tl")


def test_a_report_that_cannot_be_made_is_said_and_changes_no_verdict(
    shakeout: Bench,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    def fails(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(conclude, "write_page", fails)
    monkeypatch.setenv("SHAKEOUT_STATE", str(tmp_path / "state"))
    code = cli.main(["run", str(shakeout.case("one", CASE)), "--out", str(tmp_path / "run")])

    assert code == 0
    assert "report.html could not be made" in (err := capsys.readouterr().err)
    assert "No space left on device" in err
    assert not (tmp_path / "run/report.html").exists()
    assert json.loads((tmp_path / "run/run.json").read_text())["verdict"] == "passed"
    events = [json.loads(line) for line in (tmp_path / "run/log.jsonl").read_text().splitlines()]
    assert [e["event"] for e in events][-2:] == ["ended", "no-report"]
    assert "No space left" in events[-1]["why"]


@pytest.mark.parametrize("name", REPORTS)
def test_nor_does_one_for_machines(
    shakeout: Bench,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
):
    def fails(*_: object) -> bytes:
        raise KeyError("of a bug")

    monkeypatch.setitem(REPORTS, name, fails)
    monkeypatch.setenv("SHAKEOUT_STATE", str(tmp_path / "state"))
    code = cli.main(["run", str(shakeout.case("one", CASE)), "--out", str(tmp_path / "run")])

    assert code == 0
    assert f"{name} could not be made" in capsys.readouterr().err
    assert not (tmp_path / "run" / name).exists()
    assert (tmp_path / "run/report.html").exists()
    assert json.loads((tmp_path / "run/run.json").read_text())["sealed"] is True
