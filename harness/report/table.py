"""``run.json`` as a table for people.

Whatever a subject printed or named is shown as plain text: it is never read as markup, and
no control character of it reaches the terminal.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import IO, Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness.report.beside import beside

Document = Mapping[str, Any]

STYLES = {
    "passed": "green",
    "failed": "bold red",
    "timed_out": "bold red",
    "unavailable": "yellow",
    "error": "bold magenta",
}
_MARKS = ("known", "quarantined", "flaky")
_PLAIN_WIDTH = 200
_ENOUGH, _GAPS = 40, 10
_VERDICT = 11
_NONE = "-"
_NO_VERSION = "0"


@dataclass(frozen=True, slots=True)
class OfSuite:
    """The suite that a run was of: its cases that are written, and how many checks it has."""

    cases: frozenset[str]
    total: int


def print_run(
    run: Document, out: IO[str], suite: OfSuite | None = None, width: int | None = None
) -> None:
    """Write the table and the summary; in colours only to a terminal.

    Args:
        run: the document.
        out: where to.
        suite: the suite, where it was part of the run.
        width: in columns; by default the terminal's. Elsewhere no line is broken, so that a path
            in a log can be copied.
    """
    console = console_for(out, width)
    wraps = width is not None or out.isatty()
    if wraps and _has_room(run, console.width):
        console.print(_table(run))
    else:
        for trial in run["trials"]:
            console.print(_block(trial), soft_wrap=not wraps)
    for line in summary(run, suite):
        console.print(line, soft_wrap=not wraps)


def _has_room(run: Document, width: int) -> bool:
    """Whether a table leaves enough beside the columns that must not be broken."""
    rows = [_row(trial)[:-1] for trial in run["trials"]]
    columns = [max(cell.cell_len for cell in column) for column in zip(*rows, strict=True)]
    return bool(rows) and sum(columns) + _GAPS + _ENOUGH <= width


def console_for(out: IO[str], width: int | None = None) -> Console:
    """What writes to ``out`` as :func:`print_run` does."""
    terminal = out.isatty()
    return Console(
        file=out,
        highlight=False,
        markup=False,
        emoji=False,
        color_system="auto" if terminal and not os.environ.get("NO_COLOR") else None,
        width=width or (None if terminal else _width()),
    )


def _width() -> int:
    columns = os.environ.get("COLUMNS", "")
    return int(columns) if columns.isdigit() and int(columns) > 0 else _PLAIN_WIDTH


def _block(trial: Document) -> Text:
    """A trial without columns, so that no id and no path is broken up."""
    text = plain(f"{trial['verdict']:<{_VERDICT}} ", STYLES[trial["verdict"]])
    text.append_text(plain(trial["dir"] or trial["id"]))
    if trial["verdict"] == trial["weighs"] == "passed":
        for note in trial["notes"]:
            text.append("\n    ").append_text(plain(note, "cyan"))
        return text
    for line in (*_why(trial).split("\n"), _facts(trial)):
        text.append("\n    ").append_text(line)
    return text


def _facts(trial: Document) -> Text:
    """What else is to be known of a trial that did not pass, in a line."""
    place = next((one["where"] for one in trial["broke"] if one["where"]), None)
    place = place or trial["about"] or trial["where"]
    facts = [*trial["reasons"], _subject(trial["subject"]), _sandbox(trial["sandbox"])]
    facts += [f"{place['file']}:{place['line']}:{place['column']}"] if place else []
    return plain("; ".join(fact for fact in facts if fact != _NONE), "dim")


def _why(trial: Document) -> Text:
    """The message, beneath it what else broke, and marks; none of it is left to be looked up."""
    why = plain(trial["message"])
    first = True
    for broken in trial["broke"]:
        told = first and trial["message"].startswith(f"{broken['id']}: ")
        first = first and not told
        if not told:
            line = f"{broken['id']}: expected {broken['expected']}; saw {broken['seen']}"
            why.append("\n").append_text(plain(" ".join(line.split())))
    for mark in _marks(trial):
        why.append("\n").append_text(plain(mark, "cyan"))
    return why


def _table(run: Document) -> Table:
    table = Table(box=box.SIMPLE, pad_edge=False)
    for heading in ("verdict", "evidence", "subject", "sandbox"):
        table.add_column(heading, no_wrap=True)
    table.add_column("why", overflow="fold", ratio=1)
    for trial in run["trials"]:
        table.add_row(*_row(trial))
    return table


def _row(trial: Document) -> tuple[Text, Text, Text, Text, Text]:
    why = _why(trial)
    if trial["verdict"] != "passed" or trial["weighs"] != "passed":
        why.append("\n").append_text(plain(", ".join(trial["reasons"]), "dim"))
    return (
        plain(trial["verdict"], STYLES[trial["verdict"]]),
        plain(trial["dir"] or trial["id"]),
        plain(_subject(trial["subject"])),
        plain(_sandbox(trial["sandbox"])),
        why,
    )


def _sandbox(sandbox: Document) -> str:
    return " ".join(filter(None, (sandbox["backend"], sandbox["grade"]))) or _NONE


def _subject(subject: Document) -> str:
    version = subject["version"] if subject["version"] != _NO_VERSION else None
    return " ".join(filter(None, (subject["name"], version))) or _NONE


def _marks(trial: Document) -> list[str]:
    known = trial["known"]
    because = "; ".join(entry["because"] for entry in known["entries"]) if known else ""
    marks = [f"{known['mark']}: {because}"] if known else []
    marks += [f"quarantine to {trial['quarantine']['until']}"] if trial["quarantine"] else []
    return [*marks, *(["flaky"] if trial["flaky"] else []), *trial["notes"]]


def summary(run: Document, suite: OfSuite | None = None) -> list[Text]:
    """How many came to what, what that is of the suite, and the exit code."""
    counts = run["counts"]
    line = Text()
    for verdict, style in STYLES.items():
        if counts[verdict]:
            line.append(f"{counts[verdict]} {verdict}  ", style)
    marks = [f"{counts[mark]} {mark}" for mark in _MARKS if counts[mark]]
    if marks:
        line.append(f"(of these {', '.join(marks)})", "cyan")
    lines = [line] if line.plain else [Text("nothing was selected", "yellow")]
    if suite is not None:
        passed = len(_passed_cases(run) & suite.cases)
        written = f"{len(suite.cases)} of {suite.total} checks are written"
        lines.append(Text(f"suite: {written}, {passed} passed"))
    lines += [plain(line, "yellow") for line in beside(run)]
    lines.append(plain(_conclusion(run), "bold"))
    return lines


def _conclusion(run: Document) -> str:
    if run["exit"] == 0 and run["verdict"] == "failed":
        return f"exit code 0: {run['conclusion']}"
    return f"verdict {run['verdict']}, exit code {run['exit']}"


def _passed_cases(run: Document) -> frozenset[str]:
    """Cases of which every trial weighs as passed; a caught sabotage does."""
    passed: dict[str, bool] = {}
    for trial in run["trials"]:
        good = trial["weighs"] == "passed"
        passed[trial["case"]] = passed.get(trial["case"], True) and good
    return frozenset(case for case, good in passed.items() if good)


def plain(text: str, style: str = "") -> Text:
    """Text as it stands: no markup, and no control character."""
    return Text("".join(c if c.isprintable() else "\ufffd" for c in text), style)
