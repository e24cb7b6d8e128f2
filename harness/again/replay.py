"""Trials that are run again by their recorded schedules.

The case is that of the evidence, with what it mounts taken from where it was; seed, kind and
everything made by chance are as they were, and each fault comes at its recorded place.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from harness import __version__
from harness.again.kept import read_case
from harness.again.run_folder import Listed, read_run
from harness.case.expand import expand
from harness.case.model import Case
from harness.case.select import select
from harness.code import code_digest
from harness.errors import EvidenceLost, UsageError
from harness.evidence.planned import Planned, planned_of
from harness.journal import NAME, Event, read_journal
from harness.judge.judging import Kind
from harness.plan import Selection, Trial, Variation, clean_control, trials_of
from harness.sabotage.sabotaged import sabotaged
from harness.schedule import Replay, schedule_of
from sandboxes.base import Probe

AUTO = "auto"


@dataclass(frozen=True, slots=True)
class Recorded:
    """A trial of the evidence that is to be run again.

    Attributes:
        folder: of the trial, absolute.
        planned: what it was.
        events: of its journal.
        case: as it was, with one subject.
    """

    folder: Path
    planned: Planned
    events: Sequence[Event]
    case: Case


def recorded(folder: Path, expression: str | None = None) -> Sequence[Recorded]:
    """The trials of a folder that began, each with its case.

    Args:
        folder: of a run or of a trial.
        expression: selects by case, as for ``shakeout run``.

    Raises:
        UsageError: there is no trial that can be run again; the message says why.
        CaseErrors: a case cannot be read, or what it mounts is not there any more.
    """
    run = read_run(folder)
    try:
        found = [_recorded(run.folder, listed) for listed in run.trials if listed.dir]
    except EvidenceLost as error:
        raise UsageError(f"{error}; only whole evidence is run again") from error
    chosen = {id(case) for case in select([one.case for one in found], expression)}
    return [one for one in found if id(one.case) in chosen]


def refuse_beside_replay(args: argparse.Namespace) -> None:
    """Refuse what a replay takes from the evidence.

    Raises:
        UsageError: it is written beside ``--replay``.
    """
    beside = {
        "PATH": args.paths,
        "--seed": args.seed is not None,
        "--control": args.control,
        "--no-inject": args.no_inject,
    }
    written = [name for name, there in beside.items() if there]
    if written:
        raise UsageError(f"--replay takes that from the evidence; leave out {', '.join(written)}")


def _recorded(run: Path, listed: Listed) -> Recorded:
    if listed.astray:
        raise EvidenceLost(listed.astray)
    folder = run / listed.dir
    events = read_journal(folder / NAME)
    if not events or events[0]["event"] != "planned":
        raise EvidenceLost(f"{folder / NAME} does not begin with what was planned")
    planned = planned_of(events[0])
    case = read_case(folder, Path(planned.source), lambda data: data)
    return Recorded(folder, planned, events, case)


def replays(
    found: Sequence[Recorded], probes: Mapping[str, Probe], selection: Selection
) -> tuple[Trial, ...]:
    """The trials that run them again.

    Args:
        found: what is run again.
        probes: what each backend found, by name.
        selection: subject and backend to use instead of the recorded ones, and repeats.

    Raises:
        UsageError: a sabotage is of another case than the trial's, which is not in the evidence.
    """
    return tuple(trial for one in found for trial in _replays(one, probes, selection))


def _replays(one: Recorded, probes: Mapping[str, Probe], selection: Selection) -> Iterator[Trial]:
    planned = one.planned
    backend = (
        planned.backend if selection.backend == AUTO and planned.backend else selection.backend
    )
    again = replace(selection, backend=backend, seed=planned.seed, control=False)
    for variant, _ in expand(one.case, selection.subject):
        for trial in trials_of(_variation(one, variant), probes, again):
            group = _group(planned, trial)
            yield replace(
                trial,
                id=f"{group}.r{trial.repeat}" if selection.repeat > 1 else group,
                group=group,
                replay=Replay(
                    of=str(one.folder),
                    schedule=schedule_of(one.events),
                    chance=planned.chance,
                    differs=_differs(planned, trial),
                ),
            )


def _variation(one: Recorded, case: Case) -> Variation:
    if one.planned.kind is Kind.CONTROL:
        return Variation(clean_control(case), "control", None)
    if one.planned.kind is Kind.TRIAL:
        return Variation(case, "trial", None)
    for sabotage in case.sabotage:
        label = sabotaged(sabotage, case, case).label
        if label in one.planned.trial.split("."):
            return Variation(case, "sabotage", None, sabotage, case)
    raise UsageError(
        f"{one.planned.trial} has a sabotage of another case; run it with teeth --full"
    )


def _group(planned: Planned, trial: Trial) -> str:
    """The recorded trial's id, with the subject and the backend that it has now."""
    case, _, _, *rest = planned.trial.split(".")
    return ".".join([case, trial.ref.name, trial.backend or "none", *rest])


def _differs(planned: Planned, trial: Trial) -> Mapping[str, Mapping[str, str]]:
    """What is not as it was: the subject's name, version and code, and the harness's code."""
    now = trial.identity
    found = {
        "subject": (
            f"{planned.subject} {planned.version} {planned.digest}",
            f"{trial.ref.name} {now.version if now else ''} {now.digest if now else ''}",
        ),
        "harness": (
            f"{planned.harness} {planned.harness_digest}",
            f"{__version__} {code_digest()}",
        ),
        "sandbox": (planned.backend, trial.backend),
    }
    return {
        name: {"recorded": then.strip(), "now": here.strip()}
        for name, (then, here) in found.items()
        if then.strip() != here.strip()
    }
