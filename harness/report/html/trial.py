"""All that the page says of one trial, out of ``run.json`` and the trial's folder."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.plural import plural
from harness.report.html import overview
from harness.report.html.events import lanes
from harness.report.html.expected import Judged, judged
from harness.report.html.stored import STREAMS, Entry, Stored, read_stored
from harness.report.html.text import Folded, cut, fold
from harness.report.html.timeline import Timeline, timeline
from harness.report.html.words import reason_in_words

Document = Mapping[str, Any]

_LINES = 40
_ENDED = {
    "deadline": "the trial's limit was over",
    "step": "a step of the case, or the user, stopped it",
    "oom": "it had no more memory",
    "lost": "the sandbox was lost",
}


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of a trial is shown: rows of a table, characters of a value."""

    rows: int
    value: int


FULL = Limits(rows=200, value=4000)
TIGHT = Limits(rows=30, value=600)


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault: when and how it was to be, and what became of it."""

    id: str
    fault: str
    written: str
    armed: bool
    landed: bool
    count: int
    proof: Folded


@dataclass(frozen=True, slots=True)
class Change:
    """A path that is not as it was: what became of it, where it is, and its states."""

    what: str
    path: str
    states: str


@dataclass(frozen=True, slots=True)
class Stream:
    """The first lines of stdout or stderr, and how many bytes there are in all."""

    name: str
    text: str
    size: int
    whole: bool


@dataclass(frozen=True, slots=True)
class Detail:
    """What the trial's folder says.

    Attributes:
        title: of the case.
        proves: likewise.
        task: likewise.
        ended: how the subject ended.
        faults: what became of each.
        stimulus: whether the provocation happened.
        expect: the expectations, the broken first.
        timeline: ``None`` where nothing happened.
        changes: of files, the first of them.
        unchanged: how many changes more there are.
        network: what was asked of the world outside, in sentences.
        streams: the beginnings of what the subject wrote.
        copies: files of the subject that were copied out: where from, and their name here.
        requests: how many there were.
        entries: the files of the folder.
        lost: what could not be read, and why.
    """

    title: str
    proves: str
    task: Folded
    ended: str
    faults: Sequence[Fault]
    stimulus: Sequence[Judged]
    expect: Sequence[Judged]
    timeline: Timeline | None
    changes: Sequence[Change]
    unchanged: int
    network: Sequence[str]
    streams: Sequence[Stream]
    copies: Sequence[tuple[str, str]]
    requests: int
    entries: Sequence[Entry]
    lost: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class View:
    """One trial's part of the page.

    Attributes:
        trial: of ``run.json``.
        tile: as it is in the matrix.
        column: its subject and sandbox.
        reasons: those that mean the same, and what that is.
        broke: what broke, in short; for where there is no detail.
        detail: ``None`` where only ``run.json`` is told.
        brief: why there is no detail, else empty.
    """

    trial: Document
    tile: overview.Tile
    column: overview.Column
    reasons: Sequence[tuple[Sequence[str], str]]
    broke: Sequence[tuple[str, Folded, Folded]]
    detail: Detail | None
    brief: str


def view(trial: Document, number: int, detail: Detail | None, brief: str = "") -> View:
    """A trial's part of the page.

    Args:
        trial: of ``run.json``.
        number: of the trial in it.
        detail: what its folder says.
        brief: why there is no detail.
    """
    return View(
        trial=trial,
        tile=overview.tile(trial, number),
        column=overview.column(trial),
        reasons=_reasons(trial["reasons"]),
        broke=[
            (b["id"], *(fold(b[key] or "", 200, TIGHT.value) for key in ("expected", "seen")))
            for b in trial["broke"]
        ],
        detail=detail,
        brief=brief,
    )


def _reasons(reasons: Sequence[str]) -> Sequence[tuple[Sequence[str], str]]:
    alike: dict[str, list[str]] = {}
    for reason in reasons:
        alike.setdefault(reason_in_words(reason), []).append(reason)
    return [(same, words) for words, same in alike.items()]


def detail(run: Path, folder: str, limits: Limits = FULL) -> Detail:
    """What a trial's folder says; what is missing there or not in its form is in ``lost``.

    Args:
        run: the run's folder.
        folder: the trial's, relative to it.
        limits: how much of it.
    """
    return detail_of(read_stored(run, folder), run, limits)


def detail_of(stored: Stored, run: Path, limits: Limits = FULL) -> Detail:
    """The same of what was read; only copied files of the subject are read beside it.

    Raises:
        KeyError, TypeError, ValueError, AttributeError: a file is not in its form.
    """
    case, verdict = stored.case, stored.verdict
    return Detail(
        title=_text(case.get("title")),
        proves=_text(case.get("proves")),
        task=fold(_text(case.get("task")), 300, limits.value),
        ended=_ended(verdict),
        faults=list(_faults(verdict, case, limits)),
        stimulus=judged(verdict.get("stimulus", ()), stored, run, limits.value),
        expect=judged(verdict.get("expect", ()), stored, run, limits.value),
        timeline=timeline(lanes(stored), limits.rows),
        changes=[_change(change) for change in stored.files[: limits.rows]],
        unchanged=max(0, len(stored.files) - limits.rows),
        network=list(_network(stored.network)),
        streams=list(_streams(stored, limits)),
        copies=_copies(stored, limits),
        requests=len(stored.requests),
        entries=stored.entries,
        lost=stored.lost,
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _ended(verdict: Document) -> str:
    match verdict.get("ended_by"):
        case None:
            return "" if not verdict else "the subject was not started, or nothing is known of it"
        case "exit":
            return f"the subject ended with exit code {verdict['exit_code']}"
        case "signal":
            return f"the subject was ended by a signal, exit code {verdict['exit_code']}"
        case by:
            return f"the subject was ended: {_ENDED.get(by, by)}"


def _faults(verdict: Document, case: Document, limits: Limits) -> Iterator[Fault]:
    written = {fault.get("id"): fault for fault in case.get("faults") or ()}
    for fault in verdict.get("faults", ()):
        said = written.get(fault["id"]) or {}
        kept = {key: value for key, value in said.items() if key not in ("id", "fault") and value}
        yield Fault(
            id=fault["id"],
            fault=fault["fault"],
            written=cut(json.dumps(kept, ensure_ascii=False, default=str), 300) if kept else "",
            armed=fault["armed"],
            landed=fault["landed"],
            count=fault["count"],
            proof=fold(fault["proof"], 300, limits.value),
        )


def _change(change: Document) -> Change:
    return Change(
        what=change["change"],
        path=f"{change['root']}: {cut(change['path'], 300)}",
        states=f"({change['by']}; {_state(change['before'])} → {_state(change['after'])})",
    )


def _state(state: Document | None) -> str:
    if state is None:
        return "—"
    size = f", {plural(state['size'], 'byte')}" if state["type"] == "file" else ""
    target = f" to {cut(state['target'], 100)}" if state["target"] is not None else ""
    return f"{state['type']}{target} {state['mode']}{size}"


def _network(network: Document) -> Iterator[str]:
    names, packets = network.get("names", {}), network.get("packets")
    for name, count in list(names.items())[:20]:
        yield f"the name {cut(name, 200)} is no service, and was asked for: {plural(count, 'time')}"
    if len(names) > 20:
        yield f"{len(names) - 20} names more"
    if packets:
        yield f"{plural(packets, 'packet')} to addresses that are no service"
        for place, count in list(network["destinations"].items())[:20]:
            yield f"{cut(place, 100)}: {count}"


def _streams(stored: Stored, limits: Limits) -> Iterator[Stream]:
    for name in STREAMS:
        head = stored.heads[name]
        shown = "".join(head.text.splitlines(keepends=True)[:_LINES])[: limits.value]
        whole = len(shown) == len(head.text) and len(head.text.encode()) >= head.size
        yield Stream(name, shown, head.size, whole)


def _copies(stored: Stored, limits: Limits) -> Sequence[tuple[str, str]]:
    contents = stored.evidence.get("contents", ())[: limits.rows]
    return [(f"{entry['root']}: {cut(entry['path'], 200)}", entry["file"]) for entry in contents]
