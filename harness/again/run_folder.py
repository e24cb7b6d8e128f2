"""Which trials a folder holds: the folder of a run, or of a single trial."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.conclude import LOG, RUN
from harness.errors import EvidenceLost, UsageError
from harness.evidence import store
from harness.evidence.planned import check_schema
from harness.evidence.published import refuse_unlike
from harness.evidence.stored_file import read_json
from harness.journal import NAME, Event, read_journal
from harness.judge.exitcode import FailOn
from harness.judge.judging import Kind
from harness.nearby import did_you_mean
from verifiers.seals.reading import FOLDER, kind
from verifiers.seals.runlog import NAME as SEALS

TRIALS = "trials"


@dataclass(frozen=True, slots=True)
class Listed:
    """A trial that a folder tells of.

    Attributes:
        id: of the trial; empty where only its own folder was named, which may be called anything.
        dir: its folder, relative to the one that was named; empty where it never began.
        entry: what ``run.json`` says of it; empty where that says nothing.
        astray: what is in the place of its folder, in words; empty where that is there.
    """

    id: str
    dir: str
    entry: Mapping[str, Any] = field(default_factory=dict)
    astray: str = ""

    @property
    def kind(self) -> Kind:
        """What it was for, as ``run.json`` has it."""
        return Kind(self.entry.get("kind", Kind.TRIAL))


@dataclass(slots=True)
class RunFolder:
    """The folder that was named.

    Attributes:
        folder: itself, absolute.
        trials: those of ``run.json`` in its order, then those that it does not tell of.
        document: ``run.json``; empty where there is none, as for a single trial.
        known: whether known defects were marked in the run.
        fail_on: what was to count as failed in it.
        problems: what is wrong with the record of the run, in words.
        alone: whether it is that of a single trial.
    """

    folder: Path
    trials: Sequence[Listed] = ()
    document: Mapping[str, Any] = field(default_factory=dict)
    known: bool = True
    fail_on: Sequence[FailOn] = ()
    problems: list[str] = field(default_factory=list)
    alone: bool = False


def read_run(folder: Path) -> RunFolder:
    """What a folder holds.

    Raises:
        UsageError: it is neither that of a run nor that of a trial.
    """
    folder = folder.resolve()
    if not any(kind(folder, name) for name in (RUN, TRIALS, SEALS)):
        if not any(kind(folder, name) for name in (NAME, store.VERDICT)):
            hint = did_you_mean(folder, "name the folder of a run or of a trial", ())
            raise UsageError(f"{folder} holds no evidence; {hint}")
        return RunFolder(folder, [Listed("", ".")], alone=True)
    run = RunFolder(folder)
    try:
        run.document = _document(folder)
        log = read_journal(folder / LOG)
        run.known, run.fail_on = _options(log)
        run.problems += _against_log(run.document, log)
    except EvidenceLost as error:
        run.problems.append(str(error))
    run.trials = list(_listed(run))
    return run


def _document(folder: Path) -> Mapping[str, Any]:
    document = read_json(folder, RUN)
    check_schema(document, RUN)
    refuse_unlike(RUN, document, "run")
    return dict(document)


def _options(log: Sequence[Event]) -> tuple[bool, Sequence[FailOn]]:
    """How the run's trials weighed, as the run's log begins with it."""
    try:
        started = log[0]
        return started.get("known", True), [FailOn(word) for word in started.get("fail_on", ())]
    except (LookupError, TypeError, ValueError) as error:
        raise EvidenceLost(f"{LOG} does not say how the run was started: {error!r}") from error


def _against_log(document: Mapping[str, Any], log: Sequence[Event]) -> Iterator[str]:
    """What the log tells otherwise than the record of the run."""
    told = {entry["id"] for entry in document["trials"] if entry["dir"]}
    for trial in dict.fromkeys(str(e.get("trial")) for e in log if e["event"] == "ends"):
        if trial not in told:
            yield f"{LOG} tells of the trial {trial}, {RUN} does not"
    ended = [event.get("exit") for event in log if event["event"] == "ended"]
    if ended[-1:] != [document["exit"]]:
        yield f"{RUN} says that the run ended with exit code {document['exit']}, {LOG} does not"


def _listed(run: RunFolder) -> Iterator[Listed]:
    told: set[str] = set()
    for entry in run.document.get("trials", ()):
        if entry["id"] in told:
            run.problems.append(f"{RUN} tells of the trial {entry['id']} more than once")
        if entry["dir"]:
            told.add(entry["id"])
        if entry["dir"] not in ("", f"{TRIALS}/{Path(entry['id']).name}"):
            run.problems.append(f"{RUN} puts the trial {entry['id']} into {entry['dir']}")
        else:
            yield _found(run, entry["id"], entry["dir"], entry)
    yield from _untold(run, told)


def _found(run: RunFolder, name: str, folder: str, entry: Mapping[str, Any]) -> Listed:
    """A trial and its folder, which is a folder and is reached over no link."""
    for place in (TRIALS, folder) if folder else ():
        if (there := kind(run.folder, place)) != FOLDER:
            return Listed(name, folder, entry, f"{place} is {there or 'not there'}")
    return Listed(name, folder, entry)


def _untold(run: RunFolder, told: Collection[str]) -> Iterator[Listed]:
    """The trials of which there is a folder, and no word."""
    if kind(run.folder, TRIALS) not in {"", FOLDER}:
        run.problems.append(f"{TRIALS} is {kind(run.folder, TRIALS)}, and no folder of the run")
        return
    for path in sorted((run.folder / TRIALS).glob("*")):
        if path.is_symlink():
            run.problems.append(f"{TRIALS}/{path.name} is a link, and no folder of the run")
        if path.name not in told:
            if run.document:
                run.problems.append(f"{RUN} does not tell of {TRIALS}/{path.name}")
            yield _found(run, path.name, f"{TRIALS}/{path.name}", {})
