"""A file that a sabotage changes and that is not there: refused before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.case.errors import CaseErrors
from harness.case.load import load_case
from harness.commands.check import checked
from harness.plan import Selection, plan
from verifiers.verdicts import Reason

CASE = """\
case: a
subject: {subject}
workspace: {{files: {{notes: old}}, mount: {{m: /opt/m}}}}
home: {{.rc: old}}
expect: [{{home: untouched}}]
sabotage:
  - {{name: s, breaks: [home], {way}}}
"""
CHANGE = "change: {{path: {path}, content: new}}"
ABSENT = {
    "/opt/m/ruls.json": "did you mean /opt/m/rules.json?",
    "/opt/m": "write one of /opt/m/rules.json, notes, ~/.rc",
    "/opt/m/link": "did you mean /opt/m/rules.json?",
    "note": "did you mean notes?",
    "/workspace/zzz": "write one of /opt/m/rules.json, notes, ~/.rc",
    "~/.rcc": "did you mean ~/.rc?",
    "/etc/zzz": "write one of /opt/m/rules.json, notes, ~/.rc",
}
THERE = ("/opt/m/rules.json", "notes", "/workspace/notes", "~/.rc", "/home/agent/.bashrc")


@pytest.fixture
def mounted(tmp_path: Path) -> Path:
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "rules.json").write_text("old")
    (tmp_path / "m" / "link").symlink_to("rules.json")
    return tmp_path


def write(folder: Path, way: str, subject: str = "{command: [sh]}") -> Path:
    path = folder / "a.yaml"
    path.write_text(CASE.format(way=way, subject=subject))
    return path


def refusal(path: Path) -> str:
    with pytest.raises(CaseErrors) as caught:
        checked([path])
    (error,) = caught.value.errors
    return str(error)


@pytest.mark.parametrize("path", ABSENT)
def test_a_changed_file_that_is_not_there_is_refused_with_what_there_is(path: str, mounted: Path):
    said = refusal(write(mounted, CHANGE.format(path=path)))

    assert said.endswith(f":7:46: there is no file {path!r} to change; {ABSENT[path]}")


@pytest.mark.parametrize("path", THERE)
def test_one_that_is_there_is_valid(path: str, mounted: Path):
    assert [case.id for case in checked([write(mounted, CHANGE.format(path=path))])] == ["a"]


@pytest.mark.parametrize("path", ["~/.zzz", "/etc/zzz"])
def test_what_an_adapter_may_plant_is_left_to_the_trial(path: str, mounted: Path):
    assert checked([write(mounted, CHANGE.format(path=path), subject="codex")])


@pytest.mark.parametrize(
    ("way", "says"),
    [
        ("change: {path: notes, content: old}", "7:46: 'notes' has that content already"),
        ("replace_subject: {command: [sh]}", "7:59: the subject is started with these words"),
    ],
)
def test_what_changes_nothing_is_refused(way: str, says: str, mounted: Path):
    assert says in refusal(write(mounted, way))


def test_a_run_says_the_same_at_the_same_place(mounted: Path):
    path = write(mounted, CHANGE.format(path="note"))

    _, trial = plan([load_case(path)], {}, Selection(sabotage=True))

    (lack,) = [lack for lack in trial.lacks if lack.reason is Reason.SABOTAGE_NOT_APPLIED]
    assert f"{lack.where}: {lack}".endswith(
        ":7:46: the sabotage s changes nothing: there is no file 'note' to change; "
        "did you mean notes?"
    )
