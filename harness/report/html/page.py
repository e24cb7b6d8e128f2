"""Writes ``report.html``, trial by trial: the templates filled, its style and script inlined.

The page needs nothing beside itself and asks nobody for anything: its policy allows one style and
one script, by their digests, and nothing else. What it shows of a trial is bounded, so that a run
of many trials can still be opened; what is left out is said.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import IO, Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from harness.report.html import overview, text
from harness.report.html.links import href
from harness.report.html.stored import read_title
from harness.report.html.trial import FULL, TIGHT, Limits, View, detail, view

NAME = "report.html"

_SEALS = "seals.jsonl"
#: What else of the run is a click away, where it is there.
_BESIDE = (
    "run.json",
    "teeth.json",
    "junit.xml",
    "results.sarif",
    "ctrf.json",
    "log.jsonl",
    _SEALS,
)
_TEMPLATES = Path(__file__).parent / "templates"
#: Characters for what trials' folders say: of all together, and of one.
_ROOM = 3_000_000
_ONE = 100_000
_TOLD_SHORT = "the report would be too large with all of it; the trial's folder has it"
_NO_FOLDER = "the trial had not begun"
_SAFE = (Markup, int, float)
_ODD = (KeyError, TypeError, ValueError, AttributeError, IndexError)

Document = Mapping[str, Any]


def write_page(folder: Path, run: Document) -> None:
    """Write the report of a run into its folder.

    Args:
        folder: of the run; its evidence is complete.
        run: ``run.json``.

    Raises:
        FileExistsError: there is one already.
        OSError: it could not be written; then nothing of it is left.
    """
    place = folder / NAME
    with place.open("x", encoding="utf-8", errors="backslashreplace") as file:
        try:
            _write(file, folder, run)
            file.flush()
        except BaseException:
            place.unlink()
            raise


def _write(file: IO[str], folder: Path, run: Document) -> None:
    environment = _environment()
    trials = run["trials"]

    def title_of(trial: Document) -> str:
        return read_title(folder, trial["dir"]) if trial["dir"] else ""

    page = overview.overview(run, title_of)
    inlined = _inlined()
    beside = [name for name in _BESIDE if _is_beside(folder / name, run)]
    head = environment.get_template("head.html.j2")
    file.write(head.render(page=page, beside=beside, **inlined))
    render = environment.get_template("trial.html.j2").render
    room = _ROOM
    order = overview.in_order(trials)
    for place, number in enumerate(order):
        around = {
            "before": _anchor(trials, order, place - 1),
            "after": _anchor(trials, order, place + 1),
        }
        part = _part(folder, trials[number], number, partial(render, **around), room)
        room -= len(part)
        file.write(part)
    file.write(environment.get_template("foot.html.j2").render(page=page, **inlined))


def _is_beside(place: Path, run: Document) -> bool:
    """Whether a file of a run's folder is there to be linked to."""
    if place.name == _SEALS:
        return bool(run["sealed"])
    return place.is_file() and not place.is_symlink()


def _part(folder: Path, trial: Document, number: int, render: Callable[..., str], room: int) -> str:
    """A trial's part of the page: in full, with less of it, or by ``run.json`` alone."""
    if not trial["dir"]:
        return render(view=view(trial, number, None, _NO_FOLDER))
    for limits in (FULL, TIGHT) if room > 0 else ():
        part = render(view=_view(folder, trial, number, limits))
        if len(part) <= _ONE:
            return part
    return render(view=view(trial, number, None, _TOLD_SHORT))


def _view(folder: Path, trial: Document, number: int, limits: Limits) -> View:
    try:
        return view(trial, number, detail(folder, trial["dir"], limits))
    except _ODD as error:
        return view(trial, number, None, f"its evidence is not in its form: {error!r}")


def _anchor(trials: Sequence[Document], order: Sequence[int], place: int) -> str:
    if not 0 <= place < len(order):
        return ""
    return overview.tile(trials[order[place]], order[place]).anchor


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters = {"seen": text.seen, "lines": text.lines, "href": href, "took": took, "size": size}
    environment.filters.update(filters)
    return environment


def _shown(value: object) -> object:
    """What a template writes: nothing of it invisible; it is escaped after that."""
    if value is None:
        return ""
    return value if isinstance(value, _SAFE) else text.plain(value)


@cache
def _inlined() -> Mapping[str, object]:
    style, script = (_read(name) for name in ("style.css", "script.js"))
    policy = "; ".join(
        [
            "default-src 'none'",
            f"style-src '{_digest(style)}'",
            f"script-src '{_digest(script)}'",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )
    return {"style": Markup(style), "script": Markup(script), "policy": policy}  # noqa: S704 - ours


def _read(name: str) -> str:
    return (_TEMPLATES / name).read_text("utf-8")


def _digest(content: str) -> str:
    digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
    return f"sha256-{digest}"


def took(seconds: float | None) -> str:
    """A duration for people."""
    if seconds is None:
        return ""
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 100:
        return f"{seconds:.1f} s"
    return f"{seconds // 60:.0f} min {seconds % 60:.0f} s"


def size(count: int) -> str:
    """A size for people."""
    if count < 1024:
        return f"{count} B"
    return f"{count / 1024:.1f} KiB" if count < 1 << 20 else f"{count / (1 << 20):.1f} MiB"
