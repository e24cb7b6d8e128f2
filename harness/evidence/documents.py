"""The documents that people and machines read: ``verdict.json`` and ``run.json``.

Their shapes are a public contract, written down in ``cases/schema/verdict.schema.json`` and
``run.schema.json``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from harness.case.model import Quarantine, Where
from harness.evidence.conclusion import Asked, conclusion
from harness.evidence.model import Evidence, FaultRecord, ModelRecord
from harness.evidence.parts import known_form, quarantine_form, sabotage_form, where_form
from harness.journal import NAME
from harness.judge.exitcode import USAGE, FailOn, Outcome, RunVerdict, judge_run
from harness.judge.judging import Judged, Kind, Standing, TrialVerdict
from harness.judge.known import KnownMark, Mark
from harness.sabotage.sabotaged import Sabotaged
from harness.schedule import Replay
from harness.subjects.base import Identity
from verifiers.verdicts import Verdict

SCHEMA = 1
Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class TrialRecord:
    """One trial of a run.

    Attributes:
        id: name of its folder.
        repeated: the id without the number of its repeat.
        case: id of its case.
        subject: what was tested; ``None`` where it is not installed or no case is written.
        subject_name: as the case calls it; empty where no case is written.
        backend: empty where there was none.
        grade: likewise.
        image: digest of what the sandbox was made of; empty where that was the machine's own.
        known: how the case's known defects mark it; ``None`` also under ``--no-known``.
        quarantine: the case's, while it is in force.
        dir: its folder, relative to the run's.
        seconds: how long it took; ``None`` where it had not begun.
        sabotaged: what was removed; ``None``: nothing.
        where: the place of its case; ``None`` where no case is written.
        replay: the earlier trial that it runs again; ``None``: none.
    """

    id: str
    repeated: str
    case: str
    kind: Kind
    subject_name: str
    subject: Identity | None
    backend: str
    grade: str
    seed: int
    repeat: int
    judged: TrialVerdict
    known: KnownMark | None
    quarantine: Quarantine | None
    dir: str
    seconds: float | None = None
    sabotaged: Sabotaged | None = None
    image: str = ""
    where: Where | None = None
    replay: Replay | None = None

    @property
    def outcome(self) -> Outcome:
        """What the exit code depends on."""
        return Outcome(
            repeated=self.repeated,
            verdict=self.judged.verdict,
            reasons=self.judged.reasons,
            kind=self.kind,
            known=_mark(self),
            quarantined=self.quarantine is not None,
            breaks=self.sabotaged.sabotage.breaks if self.sabotaged else frozenset(),
            decides=self.sabotaged is None or self.sabotaged.own,
            broken=self.judged.broken,
        )


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A run that is over.

    Attributes:
        run: its id.
        sealed: whether its evidence is sealed.
        unsealed: whether something could not be sealed, though it should have been.
        seed: of the run.
        started: RFC 3339, UTC.
        ended: likewise.
        version: of the harness.
        digest: of the harness's own code.
        argv: of the harness.
        selected: number of cases selected.
        interrupted: whether the user stopped it.
        fail_on: what is to count as failed.
        toothless: cases and sabotages that were to show teeth and cannot.
        asked: what the run was to show.
    """

    run: str
    sealed: bool
    seed: int
    started: str
    ended: str
    version: str
    digest: str
    argv: Sequence[str]
    selected: int
    trials: Sequence[TrialRecord]
    unsealed: bool = False
    interrupted: bool = False
    fail_on: Collection[FailOn] = ()
    toothless: Sequence[str] = ()
    asked: Asked = Asked.RUN


def verdict_document(
    trial: str,
    judged: TrialVerdict,
    evidence: Evidence | None,
    faults: Sequence[FaultRecord] = (),
) -> Document:
    """``verdict.json``.

    Args:
        trial: its id.
        judged: its verdict.
        evidence: ``None`` where the subject was not started.
        faults: the declared faults, for where there is no evidence of them.
    """
    return {
        "schema": SCHEMA,
        "trial": trial,
        "verdict": judged.verdict.value,
        "reasons": list(judged.reasons),
        "message": judged.message,
        "ended_by": evidence.ended_by if evidence else None,
        "exit_code": evidence.exit_code if evidence else None,
        "faults": [asdict(fault) for fault in (evidence.faults if evidence else faults)],
        "stimulus": [_expectation(entry) for entry in judged.stimulus],
        "expect": [_expectation(entry) for entry in judged.expectations],
        "model": asdict(evidence.model if evidence else ModelRecord()),
    }


def run_document(record: RunRecord) -> Document:
    """``run.json``; its ``exit`` is the process's exit code."""
    run = judge_run(
        [trial.outcome for trial in record.trials],
        interrupted=record.interrupted,
        unsealed=record.unsealed,
        fail_on=record.fail_on,
        toothless=record.toothless,
    )
    return {
        "schema": SCHEMA,
        "run": record.run,
        "asked": record.asked.value,
        "conclusion": conclusion(record.asked, run.exit, run.verdict, len(record.trials)),
        "exit": run.exit,
        "verdict": run.verdict.value,
        "reasons": list(run.reasons),
        "sealed": record.sealed,
        "seed": record.seed,
        "started": record.started,
        "ended": record.ended,
        "harness": {"version": record.version, "digest": record.digest},
        "argv": list(record.argv),
        "selected": record.selected,
        "toothless": list(record.toothless),
        "counts": _counts(record.trials, run),
        "flaky": list(_flaky(record.trials, run)),
        "trials": [
            _trial(trial, weight, flaky=trial.repeated in run.flaky)
            for trial, weight in zip(record.trials, run.weights, strict=True)
        ],
    }


def usage_document(errors: Sequence[Mapping[str, Any]]) -> Document:
    """What ``--json`` prints with exit 2; each error ``{file, line, column, message, hint}``."""
    return {"schema": SCHEMA, "exit": USAGE, "errors": [dict(error) for error in errors]}


def _expectation(judged: Judged) -> Document:
    return {
        "id": judged.expectation.id,
        "oracle": judged.expectation.oracle,
        "params": dict(judged.expectation.params),
        "verdict": judged.standing.value,
        "reason": judged.reason,
        "expected": judged.expected,
        "seen": judged.seen,
        "evidence": judged.evidence,
    }


def _counts(trials: Sequence[TrialRecord], run: RunVerdict) -> Document:
    """How many trials came to each verdict, and beside that how many carry each mark."""
    verdicts = Counter(trial.judged.verdict for trial in trials)
    return {
        **{verdict.value: verdicts[verdict] for verdict in Verdict},
        "known": sum(_mark(trial) is Mark.KNOWN for trial in trials),
        "quarantined": sum(trial.quarantine is not None for trial in trials),
        "flaky": len(run.flaky),
    }


def _flaky(trials: Sequence[TrialRecord], run: RunVerdict) -> Iterator[Document]:
    """Repeated trials that wavered, with a journal of each verdict, to lay side by side."""
    for repeated in sorted(run.flaky):
        journals: dict[str, str] = {}
        for trial in trials:
            if trial.repeated == repeated:
                where = f"{trial.dir}/{NAME}" if trial.dir else ""
                journals.setdefault(trial.judged.verdict.value, where)
        yield {"trial": repeated, "journals": journals}


def _mark(trial: TrialRecord) -> Mark | None:
    return None if trial.known is None else trial.known.mark


def _trial(trial: TrialRecord, weight: Verdict | None, *, flaky: bool) -> Document:
    subject, judged = trial.subject, trial.judged.expectations
    return {
        "id": trial.id,
        "case": trial.case,
        "kind": trial.kind.value,
        "subject": {
            "name": trial.subject_name or None,
            "version": subject.version if subject else None,
            "digest": subject.digest if subject else None,
            "sabotage": trial.sabotaged.digest or None if trial.sabotaged else None,
        },
        "sandbox": {
            "backend": trial.backend or None,
            "grade": trial.grade or None,
            "image": trial.image or None,
        },
        "seed": trial.seed,
        "repeat": trial.repeat,
        "verdict": trial.judged.verdict.value,
        "reasons": list(trial.judged.reasons),
        "message": trial.judged.message,
        "notes": list(trial.judged.notes),
        "known": known_form(trial.known),
        "quarantine": quarantine_form(trial.quarantine),
        "flaky": flaky,
        "weighs": None if weight is None else weight.value,
        "broke": [_broken(one) for one in judged if one.standing is Standing.FAILED],
        "sabotage": sabotage_form(trial.sabotaged),
        "seconds": None if trial.seconds is None else round(trial.seconds, 3),
        "dir": trial.dir,
        "where": where_form(trial.where),
        "about": where_form(trial.judged.about),
        "replay": trial.replay.document() if trial.replay else None,
    }


def _broken(judged: Judged) -> Document:
    return {
        "id": judged.expectation.id,
        "oracle": judged.expectation.oracle,
        "expected": judged.expected,
        "seen": judged.seen,
        "where": where_form(judged.expectation.where),
    }
