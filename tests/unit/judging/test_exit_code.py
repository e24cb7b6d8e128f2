"""The exit code of a run, against a specification written apart, and marks on trials."""

from __future__ import annotations

import datetime
import itertools
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.case.model import Expectation, Known, Quarantine
from harness.judge.exitcode import FailOn, Outcome, flaky, judge_run
from harness.judge.judging import Facts, Kind, Looked, TrialVerdict, judge_trial
from harness.judge.known import Mark, known_mark, quarantined, version_within
from harness.oracles.base import broken, held, unseen
from verifiers.verdicts import Reason, Verdict

REASONS = {
    Verdict.PASSED: (),
    Verdict.FAILED: ("broke:home",),
    Verdict.TIMED_OUT: ("limit",),
    Verdict.UNAVAILABLE: ("not-observed",),
    Verdict.ERROR: ("residue",),
}


def outcome(
    verdict: Verdict, known: Mark | None = None, *, quarantined: bool = False, of: str = ""
) -> Outcome:
    return Outcome(
        of or f"{verdict.value}-{known}-{quarantined}",
        verdict,
        REASONS[verdict],
        known=known,
        quarantined=quarantined,
    )


#: Every trial there can be: a known mark is one of a failed trial, known-fixed of a passed one.
TRIALS = [
    *(outcome(v, quarantined=q) for v in Verdict for q in (False, True)),
    *(outcome(Verdict.FAILED, Mark.KNOWN, quarantined=q) for q in (False, True)),
    *(outcome(Verdict.PASSED, Mark.FIXED, quarantined=q) for q in (False, True)),
]


def specified(trials: Sequence[Outcome], *, interrupted: bool, unsealed: bool) -> int:
    if interrupted:
        return 130
    if unsealed:
        return 4
    rest = [t for t in trials if not t.quarantined and t.known is not Mark.KNOWN]
    if not rest:
        return 0 if any(t.known is Mark.KNOWN for t in trials) else 3
    if any(t.verdict.value in ("failed", "timed_out") or t.known is Mark.FIXED for t in rest):
        return 1
    if any(t.verdict is Verdict.ERROR for t in rest):
        return 4
    return 3 if any(t.verdict is Verdict.UNAVAILABLE for t in rest) else 0


def test_every_set_of_up_to_three_trials_exits_as_specified():
    count = 0
    for size in range(4):
        for trials in itertools.combinations(TRIALS, size):
            for interrupted, unsealed in itertools.product((False, True), repeat=2):
                run = judge_run(trials, interrupted=interrupted, unsealed=unsealed)
                expected = specified(trials, interrupted=interrupted, unsealed=unsealed)
                assert run.exit == expected, trials
                count += 1
    assert count > 1_500


@given(
    st.lists(st.sampled_from(TRIALS), max_size=12, unique_by=lambda t: t.repeated), st.booleans()
)
def test_any_number_of_trials_exits_as_specified(trials: list[Outcome], unsealed: bool):
    run = judge_run(trials, unsealed=unsealed)

    assert run.exit == specified(trials, interrupted=False, unsealed=unsealed)
    assert len(run.weights) == len(trials)


@given(
    st.lists(st.sampled_from(TRIALS), max_size=6),
    st.sets(st.sampled_from(list(FailOn))),
)
def test_fail_on_only_ever_raises_the_exit_code(trials: list[Outcome], fail_on: set[FailOn]):
    worse = [0, 3, 4, 1]
    plain, raised = judge_run(trials).exit, judge_run(trials, fail_on=fail_on).exit

    assert worse.index(raised) >= worse.index(plain)


@pytest.mark.parametrize(
    ("trial", "plain", "fail_on"),
    [
        (outcome(Verdict.FAILED, Mark.KNOWN), 0, FailOn.KNOWN),
        (outcome(Verdict.FAILED, quarantined=True), 3, FailOn.QUARANTINED),
        (outcome(Verdict.UNAVAILABLE), 3, FailOn.UNAVAILABLE),
        (outcome(Verdict.ERROR), 4, FailOn.ERROR),
    ],
)
def test_what_fail_on_names_counts_as_failed(trial: Outcome, plain: int, fail_on: FailOn):
    assert judge_run([trial]).exit == plain
    assert judge_run([trial], fail_on=[fail_on]).exit == 1
    assert judge_run([trial], fail_on=[f for f in FailOn if f is not fail_on]).exit == plain


def test_an_empty_run_is_no_pass():
    run = judge_run([])

    assert (run.exit, run.verdict, run.reasons) == (3, Verdict.UNAVAILABLE, ("nothing-ran",))


def test_the_runs_verdict_is_the_plain_merge_whatever_the_exit_code():
    run = judge_run([outcome(Verdict.FAILED, Mark.KNOWN), outcome(Verdict.PASSED)])

    assert (run.exit, run.verdict) == (0, Verdict.FAILED)
    assert run.weights == (None, Verdict.PASSED)


def test_an_interrupted_run_has_an_error():
    run = judge_run([outcome(Verdict.PASSED)], interrupted=True)

    assert (run.exit, run.verdict, run.reasons) == (130, Verdict.ERROR, ("interrupted",))


@pytest.mark.parametrize(
    ("reason", "exit_code"),
    [("residue", 4), ("script-not-finished", 3), ("limit", 1)],
)
def test_a_known_break_does_not_cover_what_else_went_wrong(reason: str, exit_code: int):
    trial = Outcome("t", Verdict.FAILED, ("broke:home", reason), known=Mark.KNOWN)

    assert judge_run([trial]).exit == exit_code


def repeats(*verdicts: Verdict, quarantined: bool = False) -> list[Outcome]:
    return [outcome(verdict, quarantined=quarantined, of="t") for verdict in verdicts]


@pytest.mark.parametrize("other", [v for v in Verdict if v is not Verdict.PASSED])
def test_repeats_that_differ_are_flaky_and_count_as_failed(other: Verdict):
    run = judge_run(repeats(Verdict.PASSED, other, Verdict.PASSED))

    assert run.flaky == {"t"}
    assert run.verdict is other
    assert run.exit == 1


def test_repeats_that_agree_are_not_flaky():
    assert judge_run(repeats(Verdict.PASSED, Verdict.PASSED)).exit == 0
    assert flaky(repeats(Verdict.FAILED, Verdict.FAILED)) == frozenset()


def test_a_flaky_trial_in_quarantine_stays_out_of_the_exit_code():
    run = judge_run(
        [*repeats(Verdict.PASSED, Verdict.FAILED, quarantined=True), outcome(Verdict.PASSED)]
    )

    assert (run.exit, run.flaky) == (0, frozenset({"t"}))


def sabotage(verdict: Verdict, breaks: set[str], broken_ids: set[str]) -> Outcome:
    return Outcome(
        "s",
        verdict,
        REASONS[verdict],
        kind=Kind.SABOTAGE,
        breaks=frozenset(breaks),
        broken=frozenset(broken_ids),
    )


def beside(trial: Outcome, reason: Reason) -> Outcome:
    return replace(trial, reasons=(*trial.reasons, str(reason)))


@pytest.mark.parametrize(
    ("trial", "exit_code"),
    [
        (sabotage(Verdict.FAILED, {"home"}, {"home"}), 0),
        (sabotage(Verdict.FAILED, {"home"}, {"home", "file"}), 1),
        (sabotage(Verdict.FAILED, {"home", "file"}, {"home"}), 1),
        (sabotage(Verdict.PASSED, {"home"}, set()), 1),
        (sabotage(Verdict.PASSED, set(), set()), 1),
        (sabotage(Verdict.UNAVAILABLE, {"home"}, set()), 3),
        (sabotage(Verdict.ERROR, {"home"}, set()), 4),
        (sabotage(Verdict.TIMED_OUT, {"home"}, set()), 1),
        (beside(sabotage(Verdict.FAILED, {"home"}, {"home"}), Reason.SCRIPT_NOT_FINISHED), 0),
        (beside(sabotage(Verdict.FAILED, {"home"}, {"home"}), Reason.NOT_OBSERVED), 3),
        (beside(sabotage(Verdict.FAILED, {"home"}, {"home"}), Reason.NOT_PROVOKED), 3),
        (beside(sabotage(Verdict.FAILED, {"home"}, {"home"}), Reason.SABOTAGE_NOT_APPLIED), 4),
        (beside(sabotage(Verdict.FAILED, {"home"}, {"file"}), Reason.SABOTAGE_NOT_APPLIED), 1),
    ],
)
def test_a_sabotage_is_caught_where_exactly_what_it_names_breaks(trial: Outcome, exit_code: int):
    assert judge_run([trial]).exit == exit_code


@pytest.mark.parametrize("verdict", Verdict)
def test_a_sabotage_on_another_case_than_its_own_decides_nothing(verdict: Verdict):
    elsewhere = replace(sabotage(verdict, {"home"}, set()), decides=False)

    assert judge_run([elsewhere, outcome(Verdict.PASSED)]).exit == 0
    assert judge_run([elsewhere]).exit == 3


def test_a_case_that_has_shown_no_teeth_fails_the_run():
    assert judge_run([outcome(Verdict.PASSED)], toothless=["k1"]).exit == 1
    assert judge_run([outcome(Verdict.UNAVAILABLE)], toothless=["k1"]).exit == 1
    assert judge_run([], toothless=["k1"]).exit == 1


# -- marks


def judged(**findings: str) -> TrialVerdict:
    made = {"held": held, "broken": broken, "unseen": unseen}
    return judge_trial(
        Facts(
            expectations=[
                Looked(Expectation(name, "file", {}), made[how]("", ""))
                for name, how in findings.items()
            ]
        )
    )


KNOWN = Known("codex", ">=0.40,<0.50", frozenset({"home", "file"}), "upstream", "2031-01-01")


def mark(
    verdict: TrialVerdict, subject: str = "codex", version: str = "0.46.0", kind: Kind = Kind.TRIAL
) -> Mark | None:
    found = known_mark(verdict, kind, [KNOWN], subject, version)
    return None if found is None else found.mark


def test_a_break_within_the_known_ones_is_known():
    assert mark(judged(home="broken", other="held")) is Mark.KNOWN
    assert mark(judged(home="broken", file="broken")) is Mark.KNOWN


def test_a_break_beyond_the_known_ones_is_not():
    assert mark(judged(home="broken", other="broken")) is None


def test_nothing_broken_is_known_fixed():
    assert mark(judged(home="held")) is Mark.FIXED


def test_unavailable_is_never_known_nor_fixed():
    assert mark(judged(home="unseen")) is None


def test_another_subject_or_version_is_not_covered():
    assert mark(judged(home="broken"), subject="claude-code") is None
    assert mark(judged(home="broken"), version="0.50.0") is None
    assert mark(judged(home="held"), version="0.39.9") is None


@pytest.mark.parametrize("kind", [Kind.CONTROL, Kind.SABOTAGE])
def test_only_the_case_as_it_stands_is_marked(kind: Kind):
    assert mark(judged(home="held"), kind=kind) is None
    assert mark(judged(home="broken"), kind=kind) is None


def test_two_entries_cover_what_they_name_together():
    entries = [
        Known("codex", ">=0", frozenset({"home"}), "a", "x"),
        Known("codex", ">=0", frozenset({"file"}), "b", "x"),
    ]
    both = known_mark(judged(home="broken", file="broken"), Kind.TRIAL, entries, "codex", "1.0")
    one = known_mark(judged(home="broken", file="held"), Kind.TRIAL, entries, "codex", "1.0")

    assert both is not None
    assert len(both.entries) == 2
    assert one is not None
    assert [entry.because for entry in one.entries] == ["a"]


@pytest.mark.parametrize(
    ("version", "versions", "within"),
    [
        ("2.0.14", ">=2.0,<2.1", True),
        ("2.1.0", ">=2.0,<2.1", False),
        ("v1.2.3", "==1.2.3", True),
        ("0.131.0-alpha.3", ">=0.131.0a1,<0.132", True),
        ("0.131.0-alpha.3", ">=0.131,<0.132", False),
        ("0.131.0-alpha.3", ">=0.130,<0.131", False),  # PEP 440 on pre-releases
        ("0.31.0-nightly.20261101", ">0.30,<=0.31", True),
        ("0.31.0-nightly.20261101", ">=0.31", False),
        ("1.2.3+build.7", "==1.2.3", True),
        ("1.2.3-x.7.z.92", "<=1.2.3", True),
        ("unknown", ">=0", False),
        ("", ">=0", False),
        ("1.0", "nonsense", False),
    ],
)
def test_versions_are_read_as_pep_440_and_as_semantic_versions(
    version: str, versions: str, within: bool
):
    assert version_within(version, versions) is within


def test_quarantine_ends_after_its_last_day():
    entry = Quarantine("me", "slow", datetime.date(2031, 5, 1))

    assert quarantined(entry, datetime.date(2031, 5, 1))
    assert not quarantined(entry, datetime.date(2031, 5, 2))
    assert not quarantined(None, datetime.date(2031, 5, 1))
