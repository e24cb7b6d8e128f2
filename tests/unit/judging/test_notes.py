"""A fault that hit less often than was asked for is told, and a message leads to its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.case.load import load_case
from harness.case.model import Case, Expectation
from harness.evidence.model import FaultRecord, ModelRecord
from harness.judge.facts import facts_of
from harness.judge.judging import Facts, Kind, Looked, TrialVerdict, judge_trial
from harness.oracles.base import held
from harness.plan import Selection, plan
from sandboxes.base import Probe
from tests.unit.oracles.making import ran
from verifiers.verdicts import Verdict

TEXT = """\
case: x
subject: {command: ["true"]}
faults:
  - {fault: process.out-of-memory}
  - {id: often, fault: model.status, times: TIMES}
stimulus:
  - {requests: {at_least: 3}}
expect:
  - {exit: 0}
  - {id: said, output: {stream: stdout, matches: done}}
"""


def case(folder: Path, times: str = "9") -> Case:
    path = folder / "x.yaml"
    path.write_text(TEXT.replace("TIMES", times))
    return load_case(path)


def judged(case: Case, *, landed: bool = True, count: int = 4, **more: object) -> TrialVerdict:
    faults = [
        FaultRecord("process.out-of-memory", "process.out-of-memory", True, True, 1, "counted"),
        FaultRecord("often", "model.status", True, landed, count, "answered"),
    ]
    evidence = ran(faults=faults, model=ModelRecord(), exit_code=0, **more)
    return judge_trial(facts_of(case, Kind.TRIAL, evidence, ()))


@pytest.mark.parametrize(
    ("times", "count", "notes"),
    [
        ("9", 4, ("the fault often hit 4 of 9",)),
        ("4", 4, ()),
        ("always", 4, ()),
        ("9", 0, ("the fault often hit 0 of 9",)),
    ],
)
def test_a_fault_that_hit_less_often_than_asked_for_is_told(
    tmp_path: Path, times: str, count: int, notes: tuple[str, ...]
):
    assert judged(case(tmp_path, times), count=count).notes == notes


def test_a_fault_that_never_hit_is_told_by_the_verdict_alone(tmp_path: Path):
    found = judged(case(tmp_path), landed=False, count=0)

    assert found.notes == ()
    assert found.about is not None
    assert found.about.line == 5


def test_a_stimulus_that_was_not_met_is_told_with_its_line(tmp_path: Path):
    found = judged(case(tmp_path))

    assert "did not happen" in found.message
    assert found.about is not None
    assert found.about.line == 7


def test_a_capability_is_missed_at_the_fault_that_asks_for_it(tmp_path: Path):
    probe = Probe("bubblewrap", available=True, grade="user")
    (trial,) = plan([case(tmp_path)], {"bubblewrap": probe}, Selection())

    lines = {lack.what.split()[4].rstrip(":"): lack.where for lack in trial.lacks}
    assert lines["network.none"] is None
    asked = lines["oom"]
    assert asked is not None
    assert asked.line == 4


def test_requests_beyond_the_script_are_told_of_a_trial_that_passed_too():
    looked = Looked(Expectation("x", "file", {}), held("there", "there"))

    found = judge_trial(Facts(expectations=[looked], beyond=3))

    assert found.verdict is Verdict.PASSED
    assert found.notes == ("the script had run out: 3 requests came beyond it",)
