"""One trial, from nothing to a verdict on disk: the flow, readable from top to bottom.

What the subject does wrong is evidence; what cannot be tried here and what breaks on our side
are exceptions, and become *troubles* of the trial. Later stages still run: whatever happens,
the sandbox is destroyed, the journal closed, and a verdict written.
"""

from __future__ import annotations

import errno
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

from harness.attempt import Attempt, Bench, not_injected
from harness.errors import EvidenceLost, Interrupted, Lack, Unavailable
from harness.evidence import store
from harness.evidence.documents import verdict_document
from harness.evidence.model import Evidence
from harness.journal import NAME, Journal
from harness.judging import Facts, Kind, TrialVerdict, Trouble, judge_trial
from harness.oracles.containment import NOTE
from harness.oracles.look import look, look_at_implied
from harness.plan import Trial
from harness.secrets import Screen, plant
from sandboxes.errors import BackendUnavailable, CommandNotFound, SandboxError
from verifiers.verdicts import Reason


@dataclass(slots=True)
class Outcome:
    """A trial that is over.

    Attributes:
        evidence: what was collected; ``None`` where the subject was not started.
        folder: where it lies.
    """

    trial: Trial
    verdict: TrialVerdict
    evidence: Evidence | None
    folder: Path


@dataclass(slots=True)
class _Troubles:
    """What the stages of a trial could not do, in order."""

    journal: Journal
    all: list[Trouble] = field(default_factory=list)

    def add(self, reason: Reason, message: str) -> None:
        self.all.append(Trouble(reason, message))
        self.journal.write("trouble", reason=reason.value, message=message)

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Note what the body raises, and go on after it."""
        try:
            yield
        except Unavailable as error:
            for lack in error.lacks:
                self.add(lack.reason, str(lack))
        except Exception as error:  # noqa: BLE001 - each must become a verdict, ours too
            reason = _reason(error)
            if reason is Reason.HARNESS_BUG:
                self.journal.write("bug", traceback=traceback.format_exc())
            self.add(reason, _words(error))


_REASONS: tuple[tuple[type[Exception], Reason], ...] = (
    (CommandNotFound, Reason.TOOL_MISSING),
    (BackendUnavailable, Reason.BACKEND_MISSING),
    (SandboxError, Reason.SANDBOX_LOST),
    (EvidenceLost, Reason.EVIDENCE_LOST),
    (Interrupted, Reason.INTERRUPTED),
)
_LOSING = frozenset({errno.ENOSPC, errno.EIO, errno.EROFS, errno.EDQUOT})


def _reason(error: Exception) -> Reason:
    for kind, reason in _REASONS:
        if isinstance(error, kind):
            return reason
    if isinstance(error, OSError) and error.errno in _LOSING:
        return Reason.EVIDENCE_LOST
    return Reason.HARNESS_BUG


def _words(error: Exception) -> str:
    if isinstance(error, BackendUnavailable) and error.remedy:
        return f"{error}; {error.remedy}"
    known = isinstance(error, SandboxError | EvidenceLost | Interrupted)
    return str(error) if known else f"{type(error).__name__}: {error}"


def run_trial(trial: Trial, bench: Bench) -> Outcome:
    """Run one trial.

    1. plant the secrets, open the journal; 2. refuse what is lacking here; 3. create the
    sandbox and serve its services; 4. arm the faults, play the steps; 5. watch what lingers;
    6. freeze, list, copy out, kill; 7. destroy, and look for what is left; 8. write the
    evidence; 9. judge it; 10. write the verdict.
    """
    folder = bench.folder / "trials" / trial.id
    folder.mkdir(parents=True)
    random = Random(f"{trial.seed}:{trial.id}")  # noqa: S311 - to be repeated, not to be secret
    canaries = plant(trial.case.secrets, random)
    screen = Screen(canaries)
    journal = Journal(folder / NAME, screen.redact if canaries else None)
    troubles = _Troubles(journal)
    journal.write("planned", trial=trial.id, seed=trial.seed, subject=trial.ref.name)
    attempt = Attempt(trial, bench, folder, journal, random, canaries, screen)
    with troubles.noted():
        store.write_case(folder, trial.case.document, screen)
        _refuse(trial, bench)
        attempt.live(troubles.noted)
    with troubles.noted():
        _finish(attempt, troubles)
    verdict = judge_trial(facts(trial, attempt.evidence, troubles.all))
    journal.write("verdict", verdict=verdict.verdict.value, reasons=list(verdict.reasons))
    outcome = Outcome(trial, verdict, attempt.evidence, folder)
    return _write(outcome, screen, journal)


def _refuse(trial: Trial, bench: Bench) -> None:
    """Do not even try what cannot be tried here."""
    lacks = list(trial.lacks)
    if not bench.inject and not trial.case.faults:
        lacks.append(Lack(Reason.NOT_PROVOKED, "injection is off, and the case has no fault"))
    if lacks:
        raise Unavailable(lacks)


def _finish(attempt: Attempt, troubles: _Troubles) -> None:
    """Note what was left and what went wrong behind the scenes; put the evidence on disk."""
    if attempt.residue and attempt.evidence is None:
        troubles.add(Reason.RESIDUE, f"left behind: {', '.join(attempt.residue)}")
    if attempt.failure is not None:
        raise attempt.failure
    if attempt.evidence is None:
        return
    if attempt.touched is not None:
        note = {"touched": list(attempt.touched), "left": list(attempt.residue)}
        notes = {**attempt.evidence.notes, NOTE: note}
        attempt.evidence = replace(attempt.evidence, notes=notes)
    store.write_evidence(attempt.folder, attempt.evidence, attempt.screen)


def facts(trial: Trial, evidence: Evidence | None, troubles: Sequence[Trouble]) -> Facts:
    """Let the oracles look, and gather all that the verdict depends on."""
    case = trial.case
    planted = bool(case.secrets)
    return Facts(
        ran=evidence is not None,
        faults=evidence.faults if evidence else (),
        stimulus=look(case.stimulus, evidence),
        expectations=[
            *look(case.expect, evidence),
            *look_at_implied(evidence, case.expect, planted=planted),
        ],
        left=evidence.model.left if evidence else 0,
        leftover=case.leftover,
        ended_by=evidence.ended_by if evidence else "exit",
        troubles=troubles,
        kind=Kind(trial.kind),
    )


def _write_verdict(outcome: Outcome, screen: Screen) -> None:
    trial = outcome.trial
    document = verdict_document(
        trial.id, outcome.verdict, outcome.evidence, not_injected(trial.case)
    )
    store.write_json(outcome.folder / store.VERDICT, document, screen)


def _write(outcome: Outcome, screen: Screen, journal: Journal) -> Outcome:
    """Put the verdict on disk and close the journal; what cannot be kept proves nothing."""
    try:
        _write_verdict(outcome, screen)
        journal.close()
    except (EvidenceLost, OSError) as error:
        lost = Trouble(Reason.EVIDENCE_LOST, str(error))
        outcome.verdict = judge_trial(facts(outcome.trial, outcome.evidence, [lost]))
    return outcome
