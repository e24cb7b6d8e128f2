"""``run.json`` as a few lines of Markdown, for the page that a pipeline shows of a job.

Text of a trial is shown as text: nothing in it is Markdown, HTML or a link.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from harness.plural import plural
from harness.report.findings import details, left_out
from harness.report.plain import plain, short

Document = Mapping[str, Any]

_MARKS: Final = {
    "passed": "✅",
    "failed": "❌",
    "timed_out": "⏱️",
    "unavailable": "⚠️",
    "error": "💥",
}
_MOST: Final = 50
_WHY: Final = 500
#: Everything that Markdown, HTML or an automatic link could begin with or be made of.
_SPECIAL: Final = re.compile(r"[\\`*_{}\[\]()<>#+!|~&:@/$^]|(?<=www)\.", re.IGNORECASE)


def markdown(run: Document, evidence: str) -> str:
    """The summary of a run.

    Args:
        run: the document.
        evidence: where its folder is, or where that was uploaded to.
    """
    return "\n".join(_lines(run, evidence)) + "\n"


def _lines(run: Document, evidence: str) -> Iterator[str]:
    mark = _MARKS["passed"] if run["exit"] == 0 else _MARKS[run["verdict"]]
    yield f"### {mark} shakeout: {_text(run['verdict'])}, exit code {run['exit']}"
    yield ""
    counts = [f"{run['counts'][name]} {_text(name)}" for name in run["counts"]]
    yield ", ".join(count for count in counts if not count.startswith("0 ")) or "Nothing ran."
    told = [trial for trial in run["trials"] if trial["weighs"] != "passed"]
    if told:
        yield ""
        yield "| | trial | why |"
        yield "| --- | --- | --- |"
        yield from map(_row, told[:_MOST])
    if len(told) > _MOST:
        yield ""
        yield f"… and {plural(len(told) - _MOST, 'trial')} more."
    yield ""
    yield f"Evidence: {_text(evidence)}"
    yield ""


def _row(trial: Document) -> str:
    aside = f"{left_out(trial)}; " if trial["weighs"] is None else ""
    why = _text(short(aside + trial["message"], _WHY))
    for line in list(details(trial))[1:]:
        why += f"<br>{_text(short(line, _WHY))}"
    return (
        f"| {_MARKS[trial['verdict']]} {_text(trial['verdict'])} | {_text(trial['id'])} | {why} |"
    )


def _text(text: str) -> str:
    """Text on one line that means nothing but itself."""
    line = " ".join(plain(text).split())
    return _SPECIAL.sub(lambda match: f"&#{ord(match[0])};", line)
