"""One trial, from nothing to a verdict on disk: the flow, readable from top to bottom.

What the subject does wrong is evidence; what cannot be tried here and what breaks on our side
are exceptions, and become *troubles* of the trial. Later stages still run: whatever happens,
the sandbox is destroyed, the journal closed, and a verdict written.
"""

from __future__ import annotations

import errno
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from random import Random

from harness import __version__
from harness.case.model import Where
from harness.code import code_digest
from harness.errors import EvidenceLost, Interrupted, Lack, SabotageNotApplied, Unavailable
from harness.evidence import store
from harness.evidence.documents import verdict_document
from harness.evidence.model import Evidence
from harness.evidence.planned import Planned
from harness.evidence.screened import screened
from harness.identity import wrong_code
from harness.journal import NAME, Heard, Journal
from harness.judge.facts import facts_of
from harness.judge.judging import Facts, Kind, TrialVerdict, Trouble, judge_trial
from harness.live.attempt import Attempt, not_injected
from harness.live.scene import Bench, Setting
from harness.oracles.containment import NOTE
from harness.plan import Trial
from harness.schedule import came_form
from harness.screen.secrets import Screen, plant
from harness.sealing import UNSEALABLE, obstacle, seal_trial
from harness.search import TooSlow
from harness.sight import Sight, look
from sandboxes.errors import BackendUnavailable, CommandNotFound, SandboxError
from verifiers.seals.errors import NotSealed
from verifiers.verdicts import Reason


@dataclass(frozen=True, slots=True)
class Tried:
    """A trial that is over: its verdict, and how long it took."""

    judged: TrialVerdict
    seconds: float


@dataclass(slots=True)
class _Troubles:
    """What the stages of a trial could not do, in order."""

    journal: Journal
    screen: Screen
    all: list[Trouble] = field(default_factory=list)

    def add(self, reason: Reason, message: str, where: Where | None = None) -> None:
        message = self.screen.text(message)[0]  # the subject may have had a part in the words
        self.all.append(Trouble(reason, message, where))
        with suppress(EvidenceLost):  # a trouble more than the one that is on record already
            self.journal.write("trouble", reason=reason.value, message=message)

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Note what the body raises, and go on after it."""
        try:
            yield
        except Unavailable as error:
            for lack in error.lacks:
                self.add(lack.reason, str(lack), lack.where)
        except Exception as error:  # noqa: BLE001 - each must become a verdict, ours too
            reason = _reason(error)
            self.add(reason, _words(error))
            if reason is Reason.HARNESS_BUG:
                with suppress(EvidenceLost):
                    self.journal.write("bug", traceback=traceback.format_exc())


_REASONS: tuple[tuple[type[Exception], Reason], ...] = (
    (CommandNotFound, Reason.TOOL_MISSING),
    (BackendUnavailable, Reason.BACKEND_MISSING),
    (SandboxError, Reason.SANDBOX_LOST),
    (EvidenceLost, Reason.EVIDENCE_LOST),
    (Interrupted, Reason.INTERRUPTED),
    (SabotageNotApplied, Reason.SABOTAGE_NOT_APPLIED),
    (TooSlow, Reason.NOT_OBSERVED),
)
_SAID = (SandboxError, EvidenceLost, Interrupted, SabotageNotApplied, TooSlow)
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
    return str(error) if isinstance(error, _SAID) else f"{type(error).__name__}: {error}"


def run_trial(trial: Trial, bench: Bench, heard: Heard | None = None) -> TrialVerdict:
    """Run one trial, and give its verdict, whatever happens; ``heard`` is told how it goes on.

    1. plant the secrets, open the journal; 2. refuse what is lacking here; 3. create the
    sandbox and serve its services; 4. arm the faults, play the steps; 5. watch what lingers;
    6. freeze, list, copy out, kill; 7. destroy, and look for what is left; 8. write the
    evidence; 9. judge it; 10. write the verdict, and seal it all.
    """
    folder = bench.folder / "trials" / trial.id
    random = Random(trial.chance)  # noqa: S311 - to be repeated, not to be secret
    canaries = plant(trial.case.secrets, random)
    screen = Screen(canaries)
    try:
        folder.mkdir(parents=True)
        journal = Journal(folder / NAME, screen.redact if canaries else None, heard)
    except (EvidenceLost, OSError) as error:
        return judge_trial(_facts(trial, None, [Trouble(Reason.EVIDENCE_LOST, str(error))]))
    troubles = _Troubles(journal, screen)
    setting = Setting(trial, bench, folder, journal, canaries, screen)
    attempt = Attempt(setting, random)
    sight = None
    with troubles.noted():
        journal.write("planned", **planned(trial).event())
        _schedule(trial, journal)
        store.write_case(folder, trial.case.document, screen)
        _refuse(trial, bench)
        sight = look(trial)
        attempt.live(troubles.noted)
    _finish(attempt, troubles, sight)
    return _close(attempt, troubles)


def _schedule(trial: Trial, journal: Journal) -> None:
    """Put down what a replay keeps to."""
    if trial.replay is not None:
        journal.write("replays", **trial.replay.document())
        for turn, moment in trial.replay.schedule.items():
            journal.write("scheduled", **came_form(turn, moment))


def _refuse(trial: Trial, bench: Bench) -> None:
    """Do not even try what cannot be tried here."""
    unsealable = obstacle(bench.sealer)
    lacks = [unsealable] if unsealable else list(trial.lacks)
    if wrong := wrong_code():
        lacks.append(Lack(Reason.WRONG_CODE, wrong))
    if not bench.inject and not trial.case.faults:
        lacks.append(Lack(Reason.NOT_PROVOKED, "injection is off, and the case has no fault"))
    if lacks:
        raise Unavailable(lacks)


def _finish(attempt: Attempt, troubles: _Troubles, sight: Sight | None) -> None:
    """Put the evidence on disk, and note what was left and what went wrong unseen."""
    if attempt.evidence is None and attempt.residue:
        troubles.add(Reason.RESIDUE, f"left behind: {', '.join(attempt.residue)}")
    with troubles.noted():
        if attempt.evidence is not None:
            attempt.evidence = _with_containment(attempt, attempt.evidence)
            setting = attempt.setting
            withheld = store.write_evidence(setting.folder, attempt.evidence, setting.screen)
            if withheld:
                raise EvidenceLost(f"a secret is spread over {', '.join(withheld)}: not stored")
    with troubles.noted():
        if attempt.failure is not None:
            raise attempt.failure
    with troubles.noted():
        if sight is not None and (lost := sight.lost()):
            troubles.add(Reason.WRONG_CODE, lost)


def _with_containment(attempt: Attempt, evidence: Evidence) -> Evidence:
    if attempt.touched is None:
        return evidence
    note = {
        "touched": list(attempt.touched),
        "left": list(attempt.residue),
        "home": attempt.home,
    }
    note = screened(note, attempt.setting.screen)
    return replace(evidence, notes={**evidence.notes, NOTE: note})


def _close(attempt: Attempt, troubles: _Troubles) -> TrialVerdict:
    """Judge, put the verdict on disk, and seal; where that fails nothing is proved."""
    trial, evidence = attempt.setting.trial, attempt.evidence
    folder = attempt.setting.folder
    found = _facts(trial, evidence, troubles.all)
    verdict = judge_trial(found)
    document = verdict_document(trial.id, verdict, evidence, not_injected(trial.case))
    try:
        troubles.journal.write(
            "verdict", verdict=verdict.verdict.value, reasons=list(verdict.reasons)
        )
        store.write_json(folder / store.VERDICT, document, attempt.setting.screen)
        troubles.journal.close()
    except EvidenceLost as error:
        troubles.add(Reason.EVIDENCE_LOST, str(error))
        verdict = judge_trial(found := replace(found, troubles=troubles.all))
    if any(trouble.reason in UNSEALABLE for trouble in troubles.all):
        return verdict
    try:
        seal_trial(attempt.setting.bench.sealer, trial, folder, verdict, evidence)
    except NotSealed as error:
        return _unsealed(attempt, replace(found, sealed=False, unsealed=str(error)))
    return verdict


def _unsealed(attempt: Attempt, found: Facts) -> TrialVerdict:
    """The verdict on a trial that could not be sealed; no other one stays on disk."""
    trial, path = attempt.setting.trial, attempt.setting.folder / store.VERDICT
    verdict = judge_trial(found)
    document = verdict_document(trial.id, verdict, attempt.evidence, not_injected(trial.case))
    with suppress(OSError, EvidenceLost):
        path.unlink(missing_ok=True)
        store.write_json(path, document, attempt.setting.screen)
    return verdict


def planned(trial: Trial) -> Planned:
    """What the journal begins with: all that is asked of the trial when it is judged again."""
    found, removed = trial.identity, trial.sabotaged
    return Planned(
        trial=trial.id,
        kind=Kind(trial.kind),
        group=trial.group,
        repeat=trial.repeat,
        seed=trial.seed,
        subject=trial.ref.name,
        version=found.version if found else "",
        digest=found.digest if found else "",
        backend=trial.backend,
        source=str(trial.case.source.resolve()),
        chance=trial.chance,
        breaks=sorted(removed.sabotage.breaks) if removed else [],
        decides=removed is None or removed.own,
        harness=__version__,
        harness_digest=code_digest(),
    )


def _facts(trial: Trial, evidence: Evidence | None, troubles: Sequence[Trouble]) -> Facts:
    return facts_of(trial.case, Kind(trial.kind), evidence, troubles)
