"""The truth table, whole: every combination of facts against a specification written apart.

The specification below shares nothing with the code but the words: it reads off one row at
a time what design and documentation promise, and knows no grounds, no order and no merging.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.case.model import Expectation
from harness.evidence.model import FaultRecord
from harness.judge.judging import Facts, Kind, Looked, Standing, Trouble, judge_trial
from harness.oracles.base import Finding, broken, held, unseen
from verifiers.verdicts import Reason, Verdict

HELD = held("h", "h")
BROKEN = broken("b", "b")
UNSEEN = unseen("u", "u")
CRASHED = Finding(Verdict.ERROR, "e", "e", Reason.HARNESS_BUG)
FINDINGS = {"held": HELD, "broken": BROKEN, "unseen": UNSEEN, "crashed": CRASHED, "none": None}


@dataclass(frozen=True)
class Row:
    """One row of the table, in words."""

    faults: str  # none, landed, missed, one-of-two
    stimulus: str | None  # a finding, or None: no stimulus
    left: bool
    leftover: bool
    ended: str
    trouble: Reason | None
    sealed: bool | None
    kind: Kind
    plain: str | None  # an expectation that time can mend
    lasting: str | None  # one that it cannot
    home: str | None
    secrets: str | None  # implied
    containment: str  # implied

    def facts(self) -> Facts:
        landed = {"none": [], "landed": [True], "missed": [False], "one-of-two": [True, False]}
        looked = [
            _looked("plain", "output", self.plain),
            _looked("lasting", "network", self.lasting, final=True),
            _looked("home", "home", self.home, final=True),
            _looked("secrets", "secrets", self.secrets, final=True, implied=True),
            _looked("containment", "containment", self.containment, final=True, implied=True),
        ]
        stimulus = [_looked("provoked", "requests", self.stimulus)]
        return Facts(
            faults=[
                FaultRecord(f"f{n}", "model.status", True, hit, int(hit), "")
                for n, hit in enumerate(landed[self.faults])
            ],
            stimulus=[look for look in stimulus if look],
            expectations=[look for look in looked if look],
            left=2 if self.left else 0,
            leftover=self.leftover,
            ended_by=self.ended,
            troubles=[Trouble(self.trouble, "trouble")] if self.trouble else [],
            sealed=self.sealed,
            kind=self.kind,
        )


def _looked(
    name: str, oracle: str, finding: str | None, *, final: bool = False, implied: bool = False
) -> Looked | None:
    if finding is None:
        return None
    return Looked(Expectation(name, oracle, {}), FINDINGS[finding], final=final, implied=implied)


def specified(row: Row) -> tuple[str, set[str]]:  # noqa: C901, PLR0912 - one rule a line
    """The verdict and the reasons that the documents promise for a row."""
    unprovoked = row.faults in ("missed", "one-of-two") or row.stimulus not in (None, "held")
    late = row.ended == "deadline"
    judged = {}
    for name in ("plain", "lasting", "home", "secrets", "containment"):
        finding = getattr(row, name)
        harm = name in ("home", "secrets", "containment")
        if finding is not None and (harm or (not unprovoked and not (late and name == "plain"))):
            judged[name] = finding

    reasons = {f"broke:{name}" for name, finding in judged.items() if finding == "broken"}
    if late and not unprovoked:
        reasons.add("limit")
    seen = [*judged.values(), *([row.stimulus] if row.stimulus else [])]
    if "crashed" in seen:
        reasons.add("harness-bug")
    if "unseen" in seen or "none" in seen:
        reasons.add("not-observed")
    if row.faults in ("missed", "one-of-two"):
        reasons.add("fault-not-delivered")
    if row.stimulus not in (None, "held"):
        reasons.add("not-provoked")
    if row.left and not row.leftover:
        reasons.add("script-not-finished")
    if row.plain is None and row.lasting is None and row.home is None:
        reasons.add("nothing-expected")
    if row.trouble:
        reasons.add(row.trouble.value)
    if row.sealed is False:
        reasons.add("not-sealed")
    if row.ended == "lost":
        reasons.add("sandbox-lost")

    if any(reason.startswith("broke:") for reason in reasons):
        return "failed", reasons
    if "limit" in reasons:
        return "timed_out", reasons
    if reasons & {"harness-bug", "residue", "not-sealed", "sandbox-lost", "evidence-lost"}:
        return "error", reasons
    return ("unavailable" if reasons else "passed"), reasons


def rows() -> Iterator[Row]:
    """The product of all facts, those that do not meet taken apart to keep it within bounds."""
    shared: dict[str, Any] = {
        "faults": ("none", "landed", "missed", "one-of-two"),
        "ended": ("exit", "deadline"),
        "trouble": (None, Reason.RESIDUE, Reason.TOOL_MISSING),
    }
    products: tuple[dict[str, Any], ...] = (
        {
            **shared,
            "stimulus": (None, "held", "broken", "unseen", "crashed", "none"),
            "left": (False, True),
            "leftover": (False, True),
            "sealed": (None, True, False),
            "kind": (Kind.TRIAL,),
            "plain": (None, "held", "broken"),
            "lasting": (None,),
            "home": (None, "broken"),
            "secrets": (None,),
            "containment": ("held", "broken"),
        },
        {
            **shared,
            "stimulus": (None, "broken"),
            "left": (False,),
            "leftover": (False,),
            "sealed": (None,),
            "kind": (Kind.SABOTAGE,),
            "plain": (None, "held", "broken"),
            "lasting": (None, "held", "broken", "unseen"),
            "home": (None, "held", "broken"),
            "secrets": (None, "broken"),
            "containment": ("held", "broken", "crashed"),
        },
        {
            "faults": ("none", "landed"),
            "ended": ("exit", "signal", "step", "oom", "lost", "deadline"),
            "trouble": (None, Reason.EVIDENCE_LOST),
            "stimulus": (None,),
            "left": (False, True),
            "leftover": (False,),
            "sealed": (None,),
            "kind": (Kind.CONTROL,),
            "plain": tuple(FINDINGS),
            "lasting": tuple(FINDINGS),
            "home": tuple(FINDINGS),
            "secrets": ("held", "broken"),
            "containment": ("held",),
        },
    )
    for product in products:
        for values in itertools.product(*product.values()):
            yield Row(**dict(zip(product, values, strict=True)))


def test_every_row_is_judged_as_specified():
    count = 0
    for row in rows():
        verdict, reasons = specified(row)
        judged = judge_trial(row.facts())
        assert (judged.verdict.value, set(judged.reasons)) == (verdict, reasons), row
        count += 1
    assert count > 30_000


def test_what_was_not_judged_is_on_record_as_such():
    row = Row(
        "missed", None, False, False, "exit", None, None, Kind.TRIAL,
        "broken", "broken", "held", None, "held",
    )  # fmt: skip
    judged = judge_trial(row.facts())

    assert judged.verdict is Verdict.UNAVAILABLE
    assert judged.broken == frozenset()
    assert [
        (entry.expectation.id, entry.standing.value, entry.reason) for entry in judged.expectations
    ] == [
        ("plain", "not_judged", "fault-not-delivered"),
        ("lasting", "not_judged", "fault-not-delivered"),
        ("home", "passed", None),
        ("containment", "passed", None),
    ]


def test_the_worst_reason_comes_first_and_makes_the_sentence():
    row = Row(
        "landed", None, True, False, "deadline", Reason.RESIDUE, None, Kind.TRIAL,
        "held", "broken", None, None, "held",
    )  # fmt: skip
    judged = judge_trial(row.facts())

    assert judged.reasons == ("broke:lasting", "limit", "residue", "script-not-finished")
    assert judged.message == "lasting: expected b; saw b (and 3 more)"


def test_a_trial_that_never_ran_says_only_why():
    row = Row(
        "missed", "broken", True, False, "exit", Reason.TOOL_MISSING, None, Kind.TRIAL,
        "broken", None, "broken", None, "broken",
    )  # fmt: skip
    facts = row.facts()
    untried = Facts(
        ran=False,
        faults=facts.faults,
        stimulus=facts.stimulus,
        expectations=facts.expectations,
        left=2,
        troubles=facts.troubles,
    )
    judged = judge_trial(untried)

    assert (judged.verdict, judged.reasons) == (Verdict.UNAVAILABLE, ("tool-missing",))
    assert {entry.standing for entry in judged.expectations} == {Standing.NOT_JUDGED}
    assert judge_trial(Facts(ran=False)).reasons == ("nothing-ran",)


@pytest.mark.parametrize(
    "finding",
    [
        Finding(Verdict.TIMED_OUT, "", ""),
        Finding(Verdict.PASSED, "", "", Reason.NOT_OBSERVED),
        Finding(Verdict.FAILED, "", "", Reason.HARNESS_BUG),
        Finding(Verdict.UNAVAILABLE, "", ""),
        Finding(Verdict.UNAVAILABLE, "", "", Reason.HARNESS_BUG),
        Finding(Verdict.ERROR, "", "", Reason.NOT_OBSERVED),
    ],
)
def test_a_finding_that_contradicts_itself_is_a_bug_of_ours(finding: Finding):
    judged = judge_trial(Facts(expectations=[Looked(Expectation("x", "file", {}), finding)]))

    assert (judged.verdict, judged.reasons) == (Verdict.ERROR, ("harness-bug",))


ROWS = st.builds(
    Row,
    faults=st.sampled_from(["none", "landed", "missed", "one-of-two"]),
    stimulus=st.sampled_from([None, *FINDINGS]),
    left=st.booleans(),
    leftover=st.booleans(),
    ended=st.sampled_from(["exit", "signal", "step", "oom", "lost", "deadline"]),
    trouble=st.sampled_from(
        [None, Reason.RESIDUE, Reason.EVIDENCE_LOST, Reason.CAPABILITY_MISSING]
    ),
    sealed=st.sampled_from([None, True, False]),
    kind=st.sampled_from(list(Kind)),
    plain=st.sampled_from([None, *FINDINGS]),
    lasting=st.sampled_from([None, *FINDINGS]),
    home=st.sampled_from([None, *FINDINGS]),
    secrets=st.sampled_from([None, *FINDINGS]),
    containment=st.sampled_from(list(FINDINGS)),
)


@given(ROWS)
def test_any_mixture_of_facts_is_judged_as_specified(row: Row):
    verdict, reasons = specified(row)
    judged = judge_trial(row.facts())

    assert (judged.verdict.value, set(judged.reasons)) == (verdict, reasons)


@given(ROWS)
def test_the_same_facts_give_the_same_verdict(row: Row):
    assert judge_trial(row.facts()) == judge_trial(row.facts())


@given(ROWS)
def test_nothing_passes_with_anything_against_it(row: Row):
    judged = judge_trial(row.facts())
    passed = judged.verdict is Verdict.PASSED
    standings = {entry.standing for entry in (*judged.expectations, *judged.stimulus)}

    assert passed == (not judged.reasons)
    if passed:
        assert standings == {Standing.PASSED}
        assert any(not looked.implied for looked in row.facts().expectations)
        assert row.sealed is not False
    assert judged.attestable == (passed and row.kind is not Kind.SABOTAGE)
    assert len(set(judged.reasons)) == len(judged.reasons)
    assert judged.message
    assert "\n" not in judged.message
