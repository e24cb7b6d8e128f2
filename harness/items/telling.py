"""What a trial came to, in the words in which pytest shows it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from harness.commands.answers import printable
from harness.evidence.documents import Document, TrialRecord
from harness.judge.judging import Standing
from harness.plural import plural
from verifiers.verdicts import Verdict

_NAMED = 3


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


def none_tried(code: int, deselected: int) -> str:
    """Why a session is not passed in which no case was tried, in a line.

    Args:
        code: what the session ends with.
        deselected: how many trials were left out.
    """
    why = "no case was found; name case files, or a folder that holds some"
    if deselected:
        were = "was" if deselected == 1 else "were"
        why = f"{plural(deselected, 'trial')} {were} found and left out by -k, -m or --deselect"
    return f"no case was tried, which shows nothing, so pytest ends with {code}: {why}"


def not_passed(code: int, run: Document) -> str:
    """Why a session with unavailable trials is not passed, in a line; empty where there are none.

    Args:
        code: what the session ends with.
        run: what ``run.json`` says.
    """
    trials = [trial for trial in run["trials"] if trial["weighs"] == Verdict.UNAVAILABLE.value]
    if not trials:
        return ""
    named = [f"{trial['id']} ({', '.join(trial['reasons'])})" for trial in trials[:_NAMED]]
    named += [f"{len(trials) - _NAMED} more"] if trials[_NAMED:] else []
    could = f"{plural(len(trials), 'trial')} could not be tried or observed here"
    return f"{could}, which is no pass, so pytest ends with {code}: {', '.join(named)}"


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
