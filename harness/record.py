"""Makes the record of a run out of its trials: those that ran, and those that did not."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness import __version__
from harness.case.suite import Check
from harness.code import code_digest
from harness.evidence.conclusion import Asked
from harness.evidence.documents import RunRecord, TrialRecord
from harness.judge.exitcode import FailOn, judge_run
from harness.judge.judging import Facts, Kind, TrialVerdict, Trouble, judge_trial
from harness.judge.known import KnownMark, known_mark, quarantined
from harness.plan import Trial
from harness.trial import Tried
from sandboxes import clock
from verifiers.verdicts import Reason, Verdict

_CAUGHT = "caught"


@dataclass(frozen=True, slots=True)
class Marks:
    """What the user wants to have marked.

    Attributes:
        known: whether known defects are.
        fail_on: what is to count as failed too.
    """

    known: bool = True
    fail_on: Sequence[FailOn] = ()

    def on_record(self) -> dict[str, Any]:
        """The same as fields of the event with which a run's log begins."""
        return {"known": self.known, "fail_on": [word.value for word in self.fail_on]}

    def of(self, trial: Trial, judged: TrialVerdict) -> KnownMark | None:
        """How the case's known defects mark a trial."""
        version = trial.identity.version if trial.identity else ""
        entries = trial.case.known if self.known else ()
        return known_mark(judged, Kind(trial.kind), entries, trial.ref.name, version)

    def label(self, trial: Trial, judged: TrialVerdict) -> str:
        """The same in a word, also of a sabotage that was caught; empty where nothing is marked."""
        record = trial_record(trial, Tried(judged, 0.0), self)
        if record.kind is Kind.SABOTAGE:
            return _CAUGHT if judge_run([record.outcome]).weights[0] is Verdict.PASSED else ""
        return record.known.mark.value if record.known else ""


@dataclass(frozen=True, slots=True)
class Course:
    """How the run went.

    Attributes:
        run: its id.
        seed: of everything chosen by chance.
        started: RFC 3339, UTC.
        selected: number of cases.
        interrupted: whether the user stopped it.
        toothless: cases and sabotages that were to show teeth and cannot.
        asked: what the run was to show.
    """

    run: str
    seed: int
    started: str
    selected: int
    interrupted: bool
    toothless: Sequence[str] = ()
    asked: Asked = Asked.RUN


def trial_records(
    planned: Sequence[Trial],
    tried: Mapping[str, Tried],
    missing: Sequence[Check],
    seed: int,
    marks: Marks,
) -> Sequence[TrialRecord]:
    """What became of each trial.

    Args:
        planned: every trial that was to be.
        tried: what became of those that began, by id.
        missing: checks of the suite that have no case yet.
        seed: of the run.
        marks: what to mark.
    """
    trials = [trial_record(trial, tried.get(trial.id), marks) for trial in planned]
    return [*trials, *_not_written(missing, seed)]


def run_record(
    course: Course,
    trials: Sequence[TrialRecord],
    marks: Marks,
    *,
    sealed: bool = False,
    unsealed: bool = False,
) -> RunRecord:
    """The whole run.

    Args:
        course: how it went.
        trials: what became of each.
        marks: what to mark.
        sealed: whether its evidence is sealed.
        unsealed: whether something could not be sealed, though it should have been.
    """
    return RunRecord(
        run=course.run,
        sealed=sealed,
        seed=course.seed,
        started=course.started,
        ended=clock.stamp(),
        version=__version__,
        digest=code_digest(),
        argv=sys.argv[1:],
        selected=course.selected,
        trials=trials,
        unsealed=unsealed,
        interrupted=course.interrupted,
        fail_on=marks.fail_on,
        toothless=course.toothless,
        asked=course.asked,
    )


def trial_record(trial: Trial, tried: Tried | None, marks: Marks) -> TrialRecord:
    """What became of a trial; ``tried`` is ``None`` where it had not begun."""
    judged = tried.judged if tried else _untried(Reason.INTERRUPTED, "it had not begun")
    quarantine = trial.case.quarantine
    return TrialRecord(
        id=trial.id,
        repeated=trial.group,
        case=trial.case.id,
        kind=Kind(trial.kind),
        subject_name=trial.ref.name,
        subject=trial.identity,
        backend=trial.backend,
        grade=trial.grade,
        image=trial.image,
        seed=trial.seed,
        repeat=trial.repeat,
        judged=judged,
        known=marks.of(trial, judged),
        quarantine=quarantine if quarantined(quarantine, clock.today()) else None,
        sabotaged=trial.sabotaged,
        replay=trial.replay,
        dir=f"trials/{trial.id}" if tried else "",
        seconds=tried.seconds if tried else None,
        where=trial.case.where,
    )


def _not_written(missing: Iterable[Check], seed: int) -> Iterator[TrialRecord]:
    for check in missing:
        yield TrialRecord(
            id=check.id,
            repeated=check.id,
            case=check.id,
            kind=Kind.TRIAL,
            subject_name="",
            subject=None,
            backend="",
            grade="",
            seed=seed,
            repeat=1,
            judged=_untried(Reason.NOT_WRITTEN, f"{check.title}: no case is written yet"),
            known=None,
            quarantine=None,
            dir="",
        )


def _untried(reason: Reason, message: str) -> TrialVerdict:
    return judge_trial(Facts(ran=False, troubles=[Trouble(reason, message)]))
