"""The run at a glance, out of ``run.json``: its head, what to look at first, and the matrix."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from harness.evidence.conclusion import Asked
from harness.report.html.links import anchor
from harness.report.html.text import cut

Document = Mapping[str, Any]

_VERDICTS = ("failed", "timed_out", "error", "unavailable", "passed")
_MARKS = ("known", "quarantined", "flaky")
_RANK = {"failed": 0, "timed_out": 1, "error": 2, "unavailable": 3, None: 4, "passed": 5}
#: Of a run for teeth, by its exit code: what it came to, and as which verdict that is shown.
_TEETH = {
    0: ("teeth shown", "passed"),
    1: ("teeth not shown", "failed"),
    3: ("teeth unknown", "unavailable"),
    4: ("error", "error"),
    130: ("interrupted", "error"),
}
_FIRST = 8
_FOUND_BY = 400
_NO_VERSION = "0"


@dataclass(frozen=True, slots=True)
class Tile:
    """One trial in the matrix.

    Attributes:
        anchor: id of its part of the page.
        verdict: as it is.
        tone: what it counts as: a verdict; ``caught`` for a sabotage that did what it must,
            ``aside`` where the exit code leaves it out.
        label: what tells it from its neighbours: control, sabotage, combination, repeat.
        kind: trial, control or sabotage.
        notes: words beside the verdict, such as ``known``.
        found_by: what a search looks at.
        say: all of it in a sentence.
    """

    anchor: str
    verdict: str
    tone: str
    label: str
    kind: str
    notes: Sequence[str]
    found_by: str
    say: str


@dataclass(frozen=True, slots=True)
class Column:
    """A subject in a sandbox."""

    subject: str
    version: str
    sandbox: str


@dataclass(frozen=True, slots=True)
class Row:
    """A case: a list of tiles for each column."""

    case: str
    title: str
    cells: Sequence[Sequence[Tile]]


@dataclass(frozen=True, slots=True)
class Look:
    """Trials that came to the same, and need a look.

    Attributes:
        tile: the first of them.
        trial: its id.
        title: of its case.
        message: its sentence.
        more: how many others.
    """

    tile: Tile
    trial: str
    title: str
    message: str
    more: int


@dataclass(frozen=True, slots=True)
class Overview:
    """The first page.

    Attributes:
        run: ``run.json``.
        heading: what it came to, in a word or two.
        tone: the verdict as which that is shown.
        seconds: how long it took; ``None`` where its times make no sense.
        counts: of each verdict and mark that there is: its name and number.
        looks: what to look at first.
        unlooked: how many trials more need a look.
    """

    run: Document
    heading: str
    tone: str
    seconds: float | None
    counts: Sequence[tuple[str, int]]
    columns: Sequence[Column]
    rows: Sequence[Row]
    looks: Sequence[Look]
    unlooked: int


def overview(run: Document, title_of: Callable[[Document], str]) -> Overview:
    """Make the overview.

    Args:
        run: ``run.json``.
        title_of: the title of a trial's case; empty where it is not known.
    """
    trials = run["trials"]
    tiles = [tile(trial, number) for number, trial in enumerate(trials)]
    titles: dict[str, str] = {}
    for trial in trials:
        titles[trial["case"]] = titles.get(trial["case"]) or title_of(trial)
    columns, rows = _matrix(trials, tiles, titles)
    looks, unlooked = _looks(trials, tiles, titles)
    counts = run["counts"]
    heading, tone = _heading(run)
    return Overview(
        run=run,
        heading=heading,
        tone=tone,
        seconds=_seconds(run),
        counts=[(name, counts[name]) for name in (*_VERDICTS, *_MARKS) if counts[name]],
        columns=columns,
        rows=rows,
        looks=looks,
        unlooked=unlooked,
    )


def in_order(trials: Sequence[Document]) -> Sequence[int]:
    """The numbers of the trials, what should be looked at first in front."""
    return sorted(range(len(trials)), key=lambda number: _RANK[trials[number]["weighs"]])


def needs_a_look(trial: Document) -> bool:
    """Whether a trial is one that the exit code counts against the run."""
    return trial["weighs"] not in (None, "passed")


def tile(trial: Document, number: int) -> Tile:
    """A trial in the matrix."""
    label, notes = _label(trial), tuple(_notes(trial))
    words = [trial["id"], trial["verdict"], *notes, *trial["reasons"], trial["message"]]
    verdict = trial["verdict"].replace("_", " ")
    return Tile(
        anchor=anchor(trial["id"], number),
        verdict=trial["verdict"],
        tone=_tone(trial),
        label=label,
        kind=trial["kind"],
        notes=notes,
        found_by=cut(" ".join(words).lower(), _FOUND_BY),
        say=", ".join((trial["case"], label or trial["kind"], verdict, *notes)),
    )


def _tone(trial: Document) -> str:
    if trial["weighs"] is None:
        return "aside"
    caught = trial["weighs"] == "passed" and trial["verdict"] != "passed"
    return "caught" if caught else str(trial["weighs"])


def _label(trial: Document) -> str:
    """The end of the trial's id, which tells it from others of the same case and subject."""
    sandbox = trial["sandbox"]["backend"] or "none"
    start = f"{trial['case']}.{trial['subject']['name']}.{sandbox}"
    rest = trial["id"].removeprefix(start)
    return "" if rest == trial["id"] else rest.removeprefix(".").replace("sabotage-", "sabotage ")


def _notes(trial: Document) -> Iterable[str]:
    if trial["known"]:
        yield trial["known"]["mark"]
    if trial["quarantine"]:
        yield "quarantined"
    if trial["flaky"]:
        yield "flaky"
    if trial["kind"] == "sabotage" and trial["weighs"] == "passed":
        yield "caught"


def column(trial: Document) -> Column:
    """What a trial was of, and where."""
    subject, sandbox = trial["subject"], trial["sandbox"]
    version = subject["version"] if subject["version"] != _NO_VERSION else None
    where = " ".join(filter(None, (sandbox["backend"], sandbox["grade"])))
    return Column(subject["name"] or "none", version or "", where or "no sandbox")


def _matrix(
    trials: Sequence[Document], tiles: Sequence[Tile], titles: Mapping[str, str]
) -> tuple[Sequence[Column], Sequence[Row]]:
    columns = list(dict.fromkeys(column(trial) for trial in trials))
    places = {key: index for index, key in enumerate(columns)}
    rows: dict[str, list[list[Tile]]] = {}
    for trial, one in zip(trials, tiles, strict=True):
        cells = rows.setdefault(trial["case"], [[] for _ in columns])
        cells[places[column(trial)]].append(one)
    return columns, [Row(case, titles[case], cells) for case, cells in rows.items()]


def _looks(
    trials: Sequence[Document], tiles: Sequence[Tile], titles: Mapping[str, str]
) -> tuple[Sequence[Look], int]:
    alike: dict[tuple[object, ...], list[int]] = {}
    for number in in_order(trials):
        trial = trials[number]
        if needs_a_look(trial):
            key = (trial["verdict"], tuple(trial["reasons"]), trial["message"])
            alike.setdefault(key, []).append(number)
    groups = list(alike.values())
    looks = [
        Look(
            tile=tiles[first],
            trial=trials[first]["id"],
            title=titles[trials[first]["case"]],
            message=trials[first]["message"],
            more=len(others),
        )
        for first, *others in groups[:_FIRST]
    ]
    return looks, sum(len(group) for group in groups[_FIRST:])


def _heading(run: Document) -> tuple[str, str]:
    """The verdict, but of a run for teeth, whose sabotages have to fail: whether they did."""
    if run["asked"] == Asked.TEETH:
        return _TEETH[run["exit"]]
    return run["verdict"].replace("_", " "), run["verdict"]


def _seconds(run: Document) -> float | None:
    try:
        took = datetime.fromisoformat(run["ended"]) - datetime.fromisoformat(run["started"])
    except ValueError:
        return None
    return took.total_seconds()
