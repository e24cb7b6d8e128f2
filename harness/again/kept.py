"""A trial's folder, read back into the values that its verdict was made of.

Nothing is executed and nothing outside the folder is read. What is missing, torn or in another
form becomes a trouble of the trial, so that a verdict over it can never be passed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from harness.case import yaml
from harness.case.errors import CaseErrors
from harness.case.load import case_of
from harness.case.model import Case
from harness.case.tables import installed
from harness.errors import EvidenceLost
from harness.evidence import store
from harness.evidence.model import Evidence
from harness.evidence.planned import Planned, check_schema, planned_of
from harness.evidence.published import refuse_unlike
from harness.evidence.stored_file import read_json, read_stored
from harness.journal import NAME, Event, read_journal
from harness.judge.judging import Kind, Trouble
from harness.plan import clean_control
from verifiers.seals.reading import kind
from verifiers.verdicts import Reason

T = TypeVar("T")


@dataclass(slots=True)
class Kept:
    """What a trial's folder holds.

    Attributes:
        folder: itself.
        planned: ``None`` where the journal does not say.
        day: when it was planned, UTC, like ``2031-02-03``; empty where that is not known.
        case: as the trial had it; ``None`` where it cannot be read.
        evidence: ``None`` where the subject was not started, and where it cannot be read.
        troubles: those on record, in order, then what is wrong with the folder.
        verdict: ``verdict.json``; ``None`` where it cannot be read.
        events: of the journal.
    """

    folder: Path
    planned: Planned | None = None
    day: str = ""
    case: Case | None = None
    evidence: Evidence | None = None
    troubles: list[Trouble] = field(default_factory=list)
    verdict: Mapping[str, Any] | None = None
    events: Sequence[Event] = ()

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Note evidence that the body finds to be lost, and go on after it."""
        try:
            yield
        except EvidenceLost as error:
            self.troubles.append(Trouble(Reason.EVIDENCE_LOST, str(error)))


def read_kept(folder: Path) -> Kept:
    """Everything in a trial's folder that a verdict depends on; never raises."""
    kept = Kept(folder)
    with kept.noted():
        kept.events = read_journal(folder / NAME)
        kept.troubles += _troubles(kept.events)
    with kept.noted():
        kept.planned, kept.day = _planned(kept.events)
    with kept.noted():
        kept.verdict = _verdict(folder)
    with kept.noted():
        kept.case = _case(folder, kept.planned)
    with kept.noted():
        kept.evidence = _evidence(folder, kept.verdict)
    return kept


def read_case(folder: Path, source: Path, change: Callable[[Any], Any]) -> Case:
    """The case of a trial's folder.

    Args:
        folder: of the trial.
        source: the file that the case came from; what it mounts is relative to that.
        change: makes the plain data of what is to be read out of that of the file.

    Raises:
        EvidenceLost: it is not there, or no file.
        CaseErrors: it is no case any more.
    """
    raw = read_stored(folder, store.CASE, yaml.MAX_BYTES)
    doc = yaml.decoded(raw, str(folder / store.CASE))
    return case_of(replace(doc, data=change(doc.data)), source, installed())


def _troubles(events: Sequence[Event]) -> Iterator[Trouble]:
    for event in events:
        if event["event"] == "trouble":
            yield _trouble(event)
    if not events or events[-1]["event"] != "verdict":
        why = "the journal does not end with a verdict; the trial was cut short"
        yield Trouble(Reason.EVIDENCE_LOST, why)


def _trouble(event: Event) -> Trouble:
    try:
        return Trouble(Reason(event["reason"]), str(event["message"]))
    except (KeyError, ValueError):
        return Trouble(Reason.EVIDENCE_LOST, "the journal tells of a trouble, not of which")


def _planned(events: Sequence[Event]) -> tuple[Planned, str]:
    if not events or events[0]["event"] != "planned":
        raise EvidenceLost("the journal does not begin with what was planned")
    return planned_of(events[0]), str(events[0].get("at", ""))[:10]


def _verdict(folder: Path) -> Mapping[str, Any]:
    document = read_json(folder, store.VERDICT)
    check_schema(document, store.VERDICT)
    refuse_unlike(store.VERDICT, document, "verdict")
    return dict(document)


def _case(folder: Path, planned: Planned | None) -> Case:
    try:
        case = read_case(folder, folder / store.CASE, _without_files)
    except CaseErrors as errors:
        raise EvidenceLost(f"{store.CASE} cannot be judged by: {errors.errors[0]}") from errors
    control = planned is not None and planned.kind is Kind.CONTROL
    return clean_control(case) if control else case


def _without_files(data: Any) -> Any:
    """The case without the files of its machine: no verdict depends on them."""
    if not isinstance(data, dict):
        return data
    kept = {key: value for key, value in data.items() if key != "sabotage"}
    if isinstance(workspace := data.get("workspace"), dict):
        kept["workspace"] = {key: value for key, value in workspace.items() if key != "mount"}
    return kept


def _evidence(folder: Path, verdict: Mapping[str, Any] | None) -> Evidence | None:
    """The evidence; none where the verdict says that there was none."""
    none = verdict is not None and verdict.get("ended_by") is None
    if none and not kind(folder, store.EVIDENCE):
        return None
    return store.load_evidence(folder)
