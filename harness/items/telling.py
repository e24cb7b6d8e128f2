"""What a trial came to, in the words in which pytest shows it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from harness.commands.answers import printable
from harness.evidence.documents import TrialRecord
from harness.judge.judging import Standing


def told(record: TrialRecord, folder: Path) -> str:
    """Everything that a person needs at a failure: what was expected, what was seen, and where."""
    return "\n".join(printable(line) for line in _lines(record, folder))


def left_out(record: TrialRecord) -> str:
    """Why a trial does not raise the exit code, in a line."""
    if record.quarantine is not None:
        why = f"in quarantine until {record.quarantine.until}: {record.quarantine.reason}"
    else:
        entries = record.known.entries if record.known else ()
        why = "known: " + "; ".join(entry.because for entry in entries)
    return printable(f"{why} ({record.judged.verdict.value}: {record.judged.message})")


def _lines(record: TrialRecord, folder: Path) -> Iterator[str]:
    judged = record.judged
    yield judged.message
    if record.known is not None:
        because = "; ".join(entry.because for entry in record.known.entries)
        yield f"  {record.known.mark.value}: {because}; remove the entry from the case"
    for one in judged.expectations:
        if one.standing is Standing.FAILED:
            yield f"  {one.expectation.id}"
            yield from _laid_out("expected", one.expected)
            yield from _laid_out("seen", one.seen)
    yield f"verdict: {judged.verdict.value} ({', '.join(judged.reasons) or 'no reason'})"
    yield f"evidence: {folder / record.dir}"


def _laid_out(heading: str, text: str) -> Iterator[str]:
    first, *rest = text.splitlines() or [""]
    yield f"    {heading:<8}  {first}"
    for line in rest:
        yield f"    {'':<8}  {line}"
