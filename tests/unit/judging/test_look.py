"""Oracles are asked in one place; what goes wrong there is our own error."""

from __future__ import annotations

from typing import Any

import pytest

from harness.case.model import Expectation
from harness.evidence.model import Evidence
from harness.judge.judging import Facts, judge_trial
from harness.oracles.base import Finding
from harness.oracles.look import look, look_at_implied, wanted
from harness.oracles.registry import ORACLES
from sandboxes.base import Root
from tests.unit.oracles.making import ran
from verifiers.verdicts import Verdict


class Crashing:
    """An oracle with a bug."""

    name = "crashing"
    summary = "Raises."
    schema: Any = True

    def parse(self, value: Any) -> Any:
        return value

    def judge(self, params: Any, evidence: Evidence) -> Finding:
        raise KeyError("pid")

    def final(self, params: Any) -> bool:
        return True

    def wants(self, params: Any) -> Any:
        return ()


def expectation(oracle: str, written: Any = "") -> Expectation:
    return Expectation(oracle, oracle, ORACLES[oracle].parse(written))


def test_an_oracle_that_raises_is_an_error_of_the_trial():
    found = look([Expectation("x", "crashing", {})], ran(), {"crashing": Crashing()})
    judged = judge_trial(Facts(expectations=found))

    assert (judged.verdict, judged.reasons) == (Verdict.ERROR, ("harness-bug",))
    assert "KeyError" in judged.message


def test_without_evidence_nothing_is_asked():
    (found,) = look([Expectation("x", "crashing", {})], None, {"crashing": Crashing()})

    assert found.finding is None
    assert found.final


def test_containment_is_looked_at_in_every_trial_and_secrets_where_some_are_planted():
    evidence = ran(secrets=(), notes={"containment": {"touched": [], "left": []}})

    assert [f.expectation.id for f in look_at_implied(evidence, [], planted=False)] == [
        "containment"
    ]
    both = look_at_implied(evidence, [], planted=True)
    assert [(f.expectation.id, f.implied, f.finding and f.finding.verdict) for f in both] == [
        ("containment", True, Verdict.PASSED),
        ("secrets", True, Verdict.PASSED),
    ]
    written = [expectation("secrets", "absent")]
    assert len(look_at_implied(evidence, written, planted=True)) == 1


@pytest.mark.parametrize(
    ("note", "verdict", "reason"),
    [
        ({"touched": [], "left": []}, Verdict.PASSED, None),
        ({"touched": ["/root"], "left": []}, Verdict.FAILED, None),
        ({"touched": ["/root"], "left": ["a mount"]}, Verdict.FAILED, None),
        ({"touched": [], "left": ["a mount"]}, Verdict.ERROR, "residue"),
        (None, Verdict.UNAVAILABLE, "not-observed"),
    ],
)
def test_containment_says_what_was_touched_and_what_is_left(note, verdict, reason):
    notes = {} if note is None else {"containment": note}
    (found,) = look_at_implied(ran(notes=notes), [], planted=False)

    assert found.finding is not None
    assert found.finding.verdict is verdict
    assert found.finding.reason == reason


def test_every_wanted_path_is_named_once():
    file = expectation("file", {"path": "a", "absent": True})
    claim = expectation("claims", {"says": "x", "yet": {"file": {"path": "~/b", "absent": True}}})

    assert wanted([file, claim, file]) == ((Root.WORKSPACE, "a"), (Root.HOME, "b"))
