"""``teeth.json`` for people: whether each case can fail, and by what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import IO, Any

from rich import box
from rich.table import Table
from rich.text import Text

from harness.plural import plural
from harness.report.html.words import reason_in_words
from harness.report.table import STYLES, console_for, plain
from verifiers.verdicts import Reason

Document = Mapping[str, Any]

_HEADINGS = ("case", "what", "must break", "broke", "teeth", "evidence")
#: Columns that may be folded, and how wide they are to be at least.
_FOLDED, _FOLDED_WIDTH = ("must break", "broke"), 24
_GAP, _NONE = 3, "-"
_BITES = {True: ("yes", "green"), False: ("NO", "bold red"), None: ("unknown", "yellow")}
_CELL = {"failed": "x", "passed": "o", "timed_out": "t", "unavailable": "u", "error": "e"}
_LEFT_OVER = Reason.SCRIPT_NOT_FINISHED.value  # counts against no sabotage
_KIND = {"trial": "as it is", "control": "clean control"}


def print_teeth(teeth: Document, out: IO[str], width: int | None = None) -> None:
    """Write the table, the matrix where there is one, and what follows.

    Args:
        teeth: the document.
        out: where to.
        width: in columns; by default as for the table of a run.
    """
    console, wraps = console_for(out, width), width is not None or out.isatty()
    needed = _needed(teeth) if teeth["cases"] else 0
    if not wraps and needed > console.width:
        console = console_for(out, needed)
    if needed > console.width:
        for text, whole in _blocks(teeth):
            console.print(text, soft_wrap=whole)
    elif needed:
        console.print(_table(teeth))
    for line in (*_matrix(teeth["matrix"] or {}), *_summary(teeth)):
        console.print(line, soft_wrap=not wraps)


def _rows(teeth: Document) -> Iterator[Sequence[Text]]:
    """The cells of the table, the case only where it is another one than above."""
    previous = None
    for entry in _by_case(teeth):
        name = f"{entry['case']} {entry['subject']['name'] or ''}".rstrip()
        row = _sabotage(entry) if "bites" in entry else _as_it_is(entry)
        yield (plain("" if name == previous else name, "bold"), *row)
        previous = name


def _needed(teeth: Document) -> int:
    """How wide a table has to be in which no name and no path is broken up."""
    columns = zip(_HEADINGS, zip(*_rows(teeth), strict=True), strict=True)
    widths: list[int] = [
        max(cell.cell_len for cell in (Text(heading), *column))
        for heading, column in columns
        if heading not in _FOLDED
    ]
    return sum(widths) + _FOLDED_WIDTH * len(_FOLDED) + _GAP * len(_HEADINGS)


def _table(teeth: Document) -> Table:
    table = Table(box=box.SIMPLE, pad_edge=False)
    for heading in _HEADINGS:
        table.add_column(heading, overflow="fold", no_wrap=heading not in _FOLDED)
    for row in _rows(teeth):
        table.add_row(*row)
    return table


def _blocks(teeth: Document) -> Iterator[tuple[Text, bool]]:
    """The same without columns, for a narrow terminal; paths are to be left whole."""
    for case, what, breaks, broke, bites, where in _rows(teeth):
        if case.plain:
            yield case, False
        line = Text("  ").append_text(what).append(": ").append_text(broke)
        if bites.plain != _NONE:
            line.append("\n    must break ").append_text(breaks)
            line.append("\n    teeth: ").append_text(bites)
        yield line, False
        yield Text("    ").append_text(where), True


def _by_case(teeth: Document) -> Iterator[Document]:
    """Each case with its control, then its sabotages."""
    groups: dict[tuple[str, str], list[Document]] = {}
    for entry in (*teeth["cases"], *teeth["sabotages"]):
        groups.setdefault((entry["case"], entry["subject"]["name"] or ""), []).append(entry)
    for group in groups.values():
        yield from group


def _as_it_is(entry: Document) -> Sequence[Text]:
    verdict = plain(entry["verdict"], STYLES[entry["verdict"]])
    if entry["known"]:
        verdict.append_text(plain(f", {entry['known']['mark']}", "cyan"))
    what = plain(_KIND[entry["kind"]])
    return (what, plain(_NONE, "dim"), _why(entry, verdict), plain(_NONE, "dim"), _where(entry))


def _sabotage(entry: Document) -> Sequence[Text]:
    word, style = _BITES[entry["bites"]]
    broke = plain(", ".join(entry["broke"]) or "nothing")
    if entry["bites"] is not True:
        broke = _why(entry, broke)
    breaks = plain(", ".join(entry["breaks"]))
    return (plain(entry["name"]), breaks, broke, plain(word, style), _where(entry))


def _why(entry: Document, text: Text) -> Text:
    """Beneath what is there: why it is not as it should be."""
    if entry["verdict"] != "passed" and not entry.get("known"):
        text.append("\n").append_text(plain(f"{entry['verdict']}: {entry['message']}", "dim"))
    for reason in entry.get("reasons", ()):
        if not reason.startswith("broke:") and reason != _LEFT_OVER:
            text.append("\n").append_text(plain(f"{reason}: {reason_in_words(reason)}", "dim"))
    return text


def _where(entry: Document) -> Text:
    return plain(entry["dir"] or _NONE, "dim")


def _matrix(matrix: Document) -> Iterator[Text]:
    """A line for each sabotage, a column for each case; nothing where none was asked for."""
    if not matrix:
        return
    columns = {name: number for number, name in enumerate(matrix["cases"])}
    yield Text("sabotages against cases", "bold")
    yield Text(
        "x failed   o passed   t timed out   u unavailable   e error   capital: its own case"
    )
    yield Text()
    yield from _numbers(len(columns))
    for row in matrix["rows"]:
        marks = [" "] * len(columns)
        for cell in row["cells"]:
            mark = _CELL[cell["verdict"]]
            marks[columns[cell["on"]]] = mark.upper() if cell["decides"] else mark
        yield plain(f"{''.join(marks)}  {row['of']}/{row['name']} of {row['subject']}")
    yield Text()
    for name, number in columns.items():
        yield plain(f"{number + 1:>3}  {name}", "dim")
    yield Text()


def _numbers(count: int) -> Iterator[Text]:
    """The columns' numbers, from 1, read downwards."""
    width = len(str(count))
    for digit in range(width):
        yield plain("".join(f"{number:>{width}}"[digit] for number in range(1, count + 1)), "dim")


def _advice(entry: Document) -> str:
    """Of a sabotage that broke other than it says: what it broke instead, and what to write."""
    broke, breaks = ", ".join(sorted(entry["broke"])), ", ".join(sorted(entry["breaks"]))
    if entry["bites"] is not False or broke == breaks:
        return ""
    if not broke:
        return f"broke nothing, and not {breaks}: have it take away what that rests on"
    write = f"write breaks: [{broke}], or change what it takes away"
    return f"says that it breaks {breaks}, and broke {broke}: {write}"


def _summary(teeth: Document) -> Iterator[Text]:
    bite = sum(entry["bites"] is True for entry in teeth["sabotages"])
    total = len(teeth["sabotages"])
    if total:
        good = "green" if bite == total else "bold red"
        yield plain(f"teeth shown by {bite} of {plural(total, 'sabotage')}", good)
    elif not teeth["cases"]:
        yield plain("nothing was selected", "yellow")
    for entry in teeth["sabotages"]:
        if advice := _advice(entry):
            yield plain(f"{entry['case']}/{entry['name']} {advice}", "yellow")
    for name in teeth["toothless"]:
        yield plain(f"{name} has no teeth", "bold red")
    yield plain(f"exit code {teeth['exit']}", "bold")
