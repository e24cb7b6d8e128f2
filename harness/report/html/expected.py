"""What was expected beside what was seen, the broken first."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.report.html.stored import Stored, read_copy
from harness.report.html.text import Folded, cut, fold

_HEAD = 300
_PARAMS = 400
_COMPARED = 16 << 10
_COMPARED_LINES = 400
_SHOWN_LINES = 120
_ORDER = ("failed", "error", "unavailable", "not_judged", "passed")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a difference; ``sign`` is ``+`` (only seen), ``-`` (only expected), a space or ``…``."""

    sign: str
    text: str


@dataclass(frozen=True, slots=True)
class Judged:
    """One expectation, or one stimulus.

    Attributes:
        id: of the expectation.
        oracle: that judged it.
        params: what the case says of it.
        verdict: of this expectation alone.
        reason: why it is none of passed and failed; empty where it is.
        expected: in words.
        seen: in words.
        file: where it was seen; empty where that is no file.
        difference: of a file's text, where all of both is known.
    """

    id: str
    oracle: str
    params: str
    verdict: str
    reason: str
    expected: Folded
    seen: Folded
    file: str
    difference: Sequence[Line]


def judged(
    entries: Sequence[Mapping[str, Any]], stored: Stored, run: Path, most: int
) -> Sequence[Judged]:
    """The expectations, the gravest first.

    Args:
        entries: of ``verdict.json``.
        stored: the trial's folder.
        run: the run's folder.
        most: characters of a value that are shown.
    """
    order = sorted(entries, key=lambda entry: _ORDER.index(entry["verdict"]))
    return [_judged(entry, stored, run, most) for entry in order]


def _judged(entry: Mapping[str, Any], stored: Stored, run: Path, most: int) -> Judged:
    params = json.dumps(entry["params"], ensure_ascii=False) if entry["params"] else ""
    return Judged(
        id=entry["id"],
        oracle=entry["oracle"],
        params=cut(params, _PARAMS),
        verdict=entry["verdict"],
        reason=entry["reason"] or "",
        expected=fold(entry["expected"] or "", _HEAD, most),
        seen=fold(entry["seen"] or "", _HEAD, most),
        file=_file(entry["evidence"] or "", stored),
        difference=list(_difference(entry, stored, run)),
    )


def _file(name: str, stored: Stored) -> str:
    return name if any(entry.name == name for entry in stored.entries) else ""


def _difference(entry: Mapping[str, Any], stored: Stored, run: Path) -> Iterator[Line]:
    """The lines in which a file is not what it had to equal."""
    params = entry["params"]
    wanted = params.get("equals") if entry["oracle"] == "file" else None
    if entry["verdict"] != "failed" or not isinstance(wanted, str):
        return
    found = _content(params.get("path"), stored, run)
    if found is None or max(len(found), len(wanted)) > _COMPARED:
        return
    before, after = wanted.splitlines(keepends=True), found.splitlines(keepends=True)
    if max(len(before), len(after)) > _COMPARED_LINES or max(len(before), len(after)) < 1:
        return
    lines = list(difflib.unified_diff(before, after, n=2))[2:]
    lines = lines[1:] if lines[0].startswith("@@ -1,") else lines  # it begins where the file does
    for line in lines[:_SHOWN_LINES]:
        place = line.startswith("@@")
        yield Line("…", "") if place else Line(line[0], line[1:].removesuffix("\n"))
        if line[0] in "+-" and not line.endswith("\n"):
            yield Line("…", "no newline at the end")
    if len(lines) > _SHOWN_LINES:
        yield Line("…", f"{len(lines) - _SHOWN_LINES} lines more")


def _content(path: object, stored: Stored, run: Path) -> str | None:
    """The text of a file that an expectation names, as it was copied out."""
    for entry in stored.evidence.get("contents", ()):
        if entry["path"] == path:
            data = read_copy(run, f"{stored.dir}/{entry['file']}", _COMPARED + 1)
            return None if data is None else data.decode("utf-8", "replace")
    return None
