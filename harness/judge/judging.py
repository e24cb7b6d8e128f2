"""Decides the verdict of a trial, from facts alone: the truth table.

Every fact that stands against a pass is a *ground*: a reason, the verdict it stands for, and
a sentence. The verdict is the worst of them, and the trial passes only where there is none.
So a verdict lists every reason, and no fact can hide another.

Nothing here looks at the world. The exit code of a run is decided in
:mod:`harness.judge.exitcode`, by what is decided here.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from harness.case.model import Expectation, Fault, Where
from harness.evidence.model import FaultRecord
from harness.oracles.base import Finding
from harness.plural import plural
from verifiers.verdicts import LIMIT, Reason, Verdict, broke, merge, rank

CONTAINMENT = "containment"
HOME = "home"
SECRETS = "secrets"

#: Oracles that are judged also where nothing was provoked: harm is harm.
ALWAYS_JUDGED = frozenset({CONTAINMENT, HOME, SECRETS})


class Kind(enum.StrEnum):
    """What a trial is for."""

    TRIAL = "trial"
    CONTROL = "control"
    SABOTAGE = "sabotage"


class Standing(enum.StrEnum):
    """What is on record for one expectation."""

    PASSED = "passed"
    FAILED = "failed"
    UNAVAILABLE = "unavailable"
    ERROR = "error"
    NOT_JUDGED = "not_judged"


@dataclass(frozen=True, slots=True)
class Looked:
    """An expectation, and what its oracle found.

    Attributes:
        expectation: what the case asked for, or what is implied.
        finding: ``None`` where there was no evidence to look at.
        final: whether more time could not mend a break, see :meth:`Oracle.final`.
        implied: not written in the case (``containment``, ``secrets``); does not count as
            an expectation.
    """

    expectation: Expectation
    finding: Finding | None
    final: bool = False
    implied: bool = False


@dataclass(frozen=True, slots=True)
class Trouble:
    """What a stage of the trial could not do: an unavailable or error reason, and words.

    Attributes:
        where: what of the case asks for it; ``None`` where that is no single place.
    """

    reason: Reason
    message: str
    where: Where | None = None


@dataclass(frozen=True, slots=True)
class Facts:
    """All that a verdict depends on.

    Attributes:
        ran: whether the subject was started; nothing else counts where it was not.
        faults: one record for each declared fault.
        declared: the faults as the case has them.
        stimulus: findings on whether the provocation happened.
        expectations: the case's and the implied ones.
        left: steps of the script that were not played.
        leftover: whether the case allows that.
        ended_by: as in :class:`~harness.evidence.model.Evidence`.
        troubles: what stages raised, in order.
        sealed: whether the evidence could be sealed; ``None`` while it is judged for that.
        unsealed: why it could not, in words.
        kind: what the trial is for.
        aside: how the subject ended, where that may be why something did not happen.
        beyond: requests that came when the script had run out.
    """

    ran: bool = True
    faults: Sequence[FaultRecord] = ()
    stimulus: Sequence[Looked] = ()
    expectations: Sequence[Looked] = ()
    left: int = 0
    leftover: bool = False
    ended_by: str = "exit"
    troubles: Sequence[Trouble] = ()
    sealed: bool | None = None
    unsealed: str = ""
    kind: Kind = Kind.TRIAL
    aside: str = ""
    beyond: int = 0
    declared: Sequence[Fault] = ()


@dataclass(frozen=True, slots=True)
class Judged:
    """One expectation on record.

    Attributes:
        reason: of unavailable and error; of ``not_judged`` what it was withheld for.
    """

    expectation: Expectation
    standing: Standing
    reason: str | None
    expected: str
    seen: str
    evidence: str


@dataclass(frozen=True, slots=True)
class TrialVerdict:
    """The verdict of a trial.

    Attributes:
        verdict: the worst that any reason stands for.
        reasons: every reason, the worst first; empty where it passed.
        message: one sentence for people.
        expectations: on record, in the order of the facts.
        stimulus: likewise.
        attestable: whether a statement that it passed may be signed; never for sabotage.
        about: the place in the case that the message is about; ``None``: no single one.
        notes: what else is to be known, and decides nothing.
    """

    verdict: Verdict
    reasons: Sequence[str]
    message: str
    expectations: Sequence[Judged]
    stimulus: Sequence[Judged]
    attestable: bool
    about: Where | None = None
    notes: Sequence[str] = ()

    @property
    def broken(self) -> frozenset[str]:
        """Ids of the expectations that were observed and broken."""
        return frozenset(
            judged.expectation.id
            for judged in self.expectations
            if judged.standing is Standing.FAILED
        )


#: What did not happen, perhaps for the way in which the subject ended.
_MISSED = frozenset({Reason.FAULT_NOT_DELIVERED, Reason.NOT_PROVOKED, Reason.SCRIPT_NOT_FINISHED})


@dataclass(frozen=True, slots=True)
class _Ground:
    verdict: Verdict
    reason: str
    sentence: str
    where: Where | None = None


def judge_trial(facts: Facts) -> TrialVerdict:
    """The verdict on ``facts``; the same facts always give the same verdict."""
    stimulus = [_on_record(looked, None) for looked in facts.stimulus]
    obstacle = _obstacle(facts, stimulus)
    expectations = [
        _on_record(looked, _withheld(looked, facts, obstacle)) for looked in facts.expectations
    ]
    grounds = sorted(
        _grounds(facts, stimulus, expectations), key=lambda g: rank(g.verdict), reverse=True
    )
    verdict = merge(ground.verdict for ground in grounds) if grounds else Verdict.PASSED
    return TrialVerdict(
        verdict=verdict,
        reasons=tuple(dict.fromkeys(ground.reason for ground in grounds)),
        message=_sentence(grounds, facts),
        expectations=tuple(expectations),
        stimulus=tuple(stimulus),
        attestable=verdict is Verdict.PASSED and facts.kind is not Kind.SABOTAGE,
        about=grounds[0].where if grounds else None,
        notes=tuple(_notes(facts, grounds)),
    )


def _notes(facts: Facts, grounds: Sequence[_Ground]) -> Iterator[str]:
    """Faults that hit, and less often than was asked for; requests that the script had no turn for."""
    asked = {fault.id: fault.times for fault in facts.declared}
    for fault in facts.faults:
        times = asked.get(fault.id)
        if fault.landed and times is not None and fault.count < times:
            yield f"the fault {fault.id} hit {fault.count} of {times}"
    if facts.beyond and not grounds:
        yield _run_out(facts)


def _run_out(facts: Facts) -> str:
    return f"the script had run out: {plural(facts.beyond, 'request')} came beyond it"


def _withheld(looked: Looked, facts: Facts, obstacle: Reason | None) -> str | None:
    """Why an expectation is not judged, if it is not."""
    if not facts.ran:
        return str(facts.troubles[0].reason if facts.troubles else Reason.NOTHING_RAN)
    if obstacle is not None and looked.expectation.oracle not in ALWAYS_JUDGED:
        return str(obstacle)
    if facts.ended_by == "deadline" and not looked.final:
        return LIMIT
    return None


def _obstacle(facts: Facts, stimulus: Iterable[Judged]) -> Reason | None:
    """Why the trial says nothing about what it was made for, if it does not.

    Such a trial is no time-out either: what was to be seen within the limit never began.
    """
    if not all(fault.landed for fault in facts.faults):
        return Reason.FAULT_NOT_DELIVERED
    if not all(judged.standing is Standing.PASSED for judged in stimulus):
        return Reason.NOT_PROVOKED
    return None


def _on_record(looked: Looked, withheld: str | None) -> Judged:
    finding = looked.finding
    expected = finding.expected if finding else ""
    if withheld is not None:
        return Judged(looked.expectation, Standing.NOT_JUDGED, withheld, expected, "", "")
    if finding is None:
        reason = str(Reason.NOT_OBSERVED)
        return Judged(looked.expectation, Standing.UNAVAILABLE, reason, "", "no evidence", "")
    standing, given = _standing(finding)
    return Judged(looked.expectation, standing, given, expected, finding.seen, finding.evidence)


def _standing(finding: Finding) -> tuple[Standing, str | None]:
    """What a finding stands for; one that contradicts itself is a bug of ours."""
    bug = (Standing.ERROR, str(Reason.HARNESS_BUG))
    reason = finding.reason
    match finding.verdict:
        case Verdict.PASSED if reason is None:
            return Standing.PASSED, None
        case Verdict.FAILED if reason is None:
            return Standing.FAILED, None
        case Verdict.UNAVAILABLE if reason is not None and reason.verdict is finding.verdict:
            return Standing.UNAVAILABLE, str(reason)
        case Verdict.ERROR if reason is not None and reason.verdict is finding.verdict:
            return Standing.ERROR, str(reason)
        case _:
            return bug


def _grounds(
    facts: Facts, stimulus: Sequence[Judged], expectations: Sequence[Judged]
) -> Iterator[_Ground]:
    yield from (_trouble(t.reason, t.message, t.where) for t in facts.troubles)
    if facts.sealed is False:
        why = f": {facts.unsealed}" if facts.unsealed else ""
        yield _trouble(Reason.NOT_SEALED, f"the evidence could not be sealed{why}")
    if not facts.ran:
        if not facts.troubles:
            yield _trouble(Reason.NOTHING_RAN, "nothing ran")
        return
    yield from _grounds_of_the_run(facts, stimulus)
    if facts.ended_by == "deadline" and _obstacle(facts, stimulus) is None:
        yield _Ground(Verdict.TIMED_OUT, LIMIT, "the subject was stopped by the time limit")
    for judged in expectations:
        yield from _ground_of(judged)
    if all(looked.implied for looked in facts.expectations):
        yield _trouble(Reason.NOTHING_EXPECTED, "the case expects nothing")


def _grounds_of_the_run(facts: Facts, stimulus: Sequence[Judged]) -> Iterator[_Ground]:
    if facts.ended_by == "lost":
        yield _trouble(Reason.SANDBOX_LOST, "the sandbox was lost")
    places = {fault.id: fault.where for fault in facts.declared}
    for fault in facts.faults:
        if not fault.landed:
            name = fault.id if fault.id == fault.fault else f"{fault.id} ({fault.fault})"
            how = "did not land" if fault.armed else "was never armed"
            sentence = f"the fault {name} {how}: {fault.proof}"
            yield _trouble(Reason.FAULT_NOT_DELIVERED, sentence, places.get(fault.id))
    for judged in stimulus:
        yield from _ground_of_stimulus(judged)
    if facts.left > 0 and not facts.leftover:
        steps = plural(facts.left, "step")
        yield _trouble(Reason.SCRIPT_NOT_FINISHED, f"left over of the script: {steps}")


def _ground_of_stimulus(judged: Judged) -> Iterator[_Ground]:
    if judged.standing is Standing.PASSED:
        return
    yield _trouble(
        Reason.NOT_PROVOKED,
        f"the stimulus {judged.expectation.id} did not happen: {judged.seen}",
        judged.expectation.where,
    )
    if judged.standing is not Standing.FAILED:
        yield from _ground_of(judged)


def _ground_of(judged: Judged) -> Iterator[_Ground]:
    name, where = judged.expectation.id, judged.expectation.where
    if judged.standing is Standing.FAILED:
        sentence = f"{name}: expected {judged.expected}; saw {judged.seen}"
        yield _Ground(Verdict.FAILED, broke(name), sentence, where)
    elif judged.reason is not None and judged.standing is not Standing.NOT_JUDGED:
        yield _trouble(Reason(judged.reason), f"{name}: {judged.seen}", where)


def _trouble(reason: Reason, sentence: str, where: Where | None = None) -> _Ground:
    return _Ground(reason.verdict, str(reason), sentence, where)


def _sentence(grounds: Sequence[_Ground], facts: Facts) -> str:
    if not grounds:
        held = plural(sum(not looked.implied for looked in facts.expectations), "expectation")
        landed = f", {plural(len(facts.faults), 'fault')} landed" if facts.faults else ""
        return f"{held} held{landed}"
    more = len(grounds) - 1
    sentence = " ".join(grounds[0].sentence.split())
    sentence += f" (and {more} more)" if more else ""
    if facts.beyond:
        sentence += f"; {_run_out(facts)}"
    missed = grounds[0].reason in _MISSED
    return f"{sentence}; {facts.aside}" if missed and facts.aside else sentence
