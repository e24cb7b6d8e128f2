"""Decides the exit code of a run; nothing else in Shakeout does.

Each trial *weighs* as a verdict, or is left out: in quarantine, or failed within a known
defect. The worst weight gives the code. So ``failed`` beside exit code 0 is possible, and
an empty selection, or one in which nothing counts, never gives 0.
"""

from __future__ import annotations

import enum
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from harness.judge.judging import Kind
from harness.judge.known import Mark
from verifiers.verdicts import LIMIT, Reason, Verdict, merge

INTERRUPTED = 130
NOT_SEALED = 4
NOTHING_COUNTS = 3
USAGE = 2

_CODES = {
    Verdict.PASSED: 0,
    Verdict.FAILED: 1,
    Verdict.TIMED_OUT: 1,
    Verdict.UNAVAILABLE: 3,
    Verdict.ERROR: 4,
}


class FailOn(enum.StrEnum):
    """What ``--fail-on`` takes: such a trial counts as failed."""

    KNOWN = "known"
    QUARANTINED = "quarantined"
    UNAVAILABLE = "unavailable"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Outcome:
    """One trial, as far as the exit code depends on it.

    Attributes:
        repeated: the trial's id without the number of its repeat; repeats share it.
        breaks: of a sabotage: ids that must break, and no others.
        broken: ids that broke.
        decides: whether it counts at all; a sabotage on another case than its own does not.
    """

    repeated: str
    verdict: Verdict
    reasons: Sequence[str] = ()
    kind: Kind = Kind.TRIAL
    known: Mark | None = None
    quarantined: bool = False
    breaks: frozenset[str] = frozenset()
    broken: frozenset[str] = frozenset()
    decides: bool = True


@dataclass(frozen=True, slots=True)
class RunVerdict:
    """The verdict of a run.

    Attributes:
        verdict: the plain merge of all trials.
        reasons: every reason of them.
        exit: the exit code.
        weights: what each trial weighs in it, in order; ``None``: left out.
        flaky: repeated trials that did not always come to the same verdict.
    """

    verdict: Verdict
    reasons: Sequence[str]
    exit: int
    weights: Sequence[Verdict | None]
    flaky: frozenset[str]


def judge_run(
    outcomes: Sequence[Outcome],
    *,
    interrupted: bool = False,
    unsealed: bool = False,
    differs: bool = False,
    fail_on: Collection[FailOn] = (),
    toothless: Collection[str] = (),
) -> RunVerdict:
    """Merge the trials of a run.

    Args:
        outcomes: every trial, repeats one by one.
        interrupted: the user stopped the run.
        unsealed: something could not be sealed.
        differs: judged again, the evidence is not what was sealed, or gives another verdict than
            the one on record.
        fail_on: what is to count as failed; can only raise the exit code.
        toothless: cases and sabotages that were to show teeth and cannot; each counts as failed.
    """
    verdicts = [outcome.verdict for outcome in outcomes]
    reasons = [reason for outcome in outcomes for reason in outcome.reasons]
    against = {
        Reason.INTERRUPTED: interrupted,
        Reason.NOT_SEALED: unsealed,
        Reason.EVIDENCE_LOST: differs,
    }
    for reason, raised in against.items():
        if raised:
            verdicts.append(Verdict.ERROR)
            reasons.append(str(reason))
    if not verdicts:
        reasons.append(str(Reason.NOTHING_RAN))
    weights = [_weight(outcome, flaky(outcomes), fail_on) for outcome in outcomes]
    return RunVerdict(
        verdict=merge(verdicts),
        reasons=tuple(dict.fromkeys(reasons)),
        exit=_exit_code(
            outcomes,
            [*weights, *(Verdict.FAILED for _ in toothless)],
            interrupted=interrupted,
            spoilt=unsealed or differs,
        ),
        weights=tuple(weights),
        flaky=flaky(outcomes),
    )


def flaky(outcomes: Iterable[Outcome]) -> frozenset[str]:
    """Repeated trials that did not always come to the same verdict."""
    seen: dict[str, set[Verdict]] = defaultdict(set)
    for outcome in outcomes:
        seen[outcome.repeated].add(outcome.verdict)
    return frozenset(repeated for repeated, verdicts in seen.items() if len(verdicts) > 1)


def _exit_code(
    outcomes: Sequence[Outcome],
    weights: Sequence[Verdict | None],
    *,
    interrupted: bool,
    spoilt: bool,
) -> int:
    if interrupted:
        return INTERRUPTED
    if spoilt:
        return NOT_SEALED
    counted = [weight for weight in weights if weight is not None]
    if counted:
        return _CODES[merge(counted)]
    known = any(
        outcome.known is Mark.KNOWN and _beside_the_breaks(outcome) is None for outcome in outcomes
    )
    return _CODES[Verdict.PASSED] if known else NOTHING_COUNTS


def _weight(
    outcome: Outcome, unsteady: frozenset[str], fail_on: Collection[FailOn]
) -> Verdict | None:
    if not outcome.decides:
        return None
    if _raised(outcome, fail_on):
        return Verdict.FAILED
    if outcome.quarantined:
        return None
    if outcome.repeated in unsteady or outcome.known is Mark.FIXED:
        return Verdict.FAILED
    if outcome.kind is Kind.SABOTAGE:
        return _weight_of_sabotage(outcome)
    return _beside_the_breaks(outcome) if outcome.known is Mark.KNOWN else outcome.verdict


def _weight_of_sabotage(outcome: Outcome) -> Verdict:
    """A sabotage is caught where exactly what it names broke, and nothing else is the matter.

    But for steps of the script that were left over: what was removed may be why.
    """
    if outcome.verdict is Verdict.FAILED:
        exactly = Verdict.PASSED if outcome.broken == outcome.breaks else Verdict.FAILED
        return merge([exactly, *_of_the_rest(outcome, but=frozenset({Reason.SCRIPT_NOT_FINISHED}))])
    return Verdict.FAILED if outcome.verdict is Verdict.PASSED else outcome.verdict


def _beside_the_breaks(outcome: Outcome) -> Verdict | None:
    """What a known defect does not cover: every reason that is no break."""
    verdicts = _of_the_rest(outcome)
    return merge(verdicts) if verdicts else None


def _of_the_rest(outcome: Outcome, but: Collection[str] = ()) -> list[Verdict]:
    rest = [r for r in outcome.reasons if not r.startswith("broke:") and r not in but]
    return [Verdict.TIMED_OUT if r == LIMIT else Reason(r).verdict for r in rest]


def _raised(outcome: Outcome, fail_on: Collection[FailOn]) -> bool:
    if outcome.verdict is Verdict.PASSED or outcome.kind is Kind.SABOTAGE:
        return False
    if outcome.quarantined:
        return FailOn.QUARANTINED in fail_on
    return (
        (outcome.known is Mark.KNOWN and FailOn.KNOWN in fail_on)
        or (outcome.verdict is Verdict.UNAVAILABLE and FailOn.UNAVAILABLE in fail_on)
        or (outcome.verdict is Verdict.ERROR and FailOn.ERROR in fail_on)
    )
