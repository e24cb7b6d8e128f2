"""What several oracles share: whether there was a run to look at, and words for people."""

from __future__ import annotations

from collections.abc import Sequence

from harness.evidence.model import Evidence, FileChange

_SHOWN = 5


def was_run(evidence: Evidence) -> bool:
    """Whether the subject ran, as far as evidence tells.

    Silence is evidence only where there was somebody to be silent: a process that ended by
    itself has a code, so "ended by exit, without a code" means that nothing was run.
    """
    return evidence.exit_code is not None or evidence.ended_by in {"deadline", "step", "oom"}


NOTHING_RAN = "nothing was run"
#: The note that tells how many requests were beyond what is taken, and are not on record.
UNRECORDED = "unrecorded"


def unrecorded(evidence: Evidence) -> str:
    """That not every request is on record, in words; empty where every one is."""
    more = evidence.notes.get(UNRECORDED, 0)
    return f"{more} more requests came than are put down" if more else ""


def some(words: Sequence[str]) -> str:
    """The first few, and how many more there are."""
    shown = ", ".join(words[:_SHOWN])
    return shown if len(words) <= _SHOWN else f"{shown} and {len(words) - _SHOWN} more"


def changes_in_words(changes: Sequence[FileChange]) -> str:
    """Changes as ``removed .bashrc, changed notes.txt (12 to 0 bytes)``."""
    return some([_in_words(change) for change in changes])


def _in_words(change: FileChange) -> str:
    before, after = change.before, change.after
    detail = ""
    if before is not None and after is not None:
        if change.change == "retyped":
            detail = f" ({before.type} to {after.type})"
        elif change.change == "meta":
            was, now = f"{before.mode} {before.owner}", f"{after.mode} {after.owner}"
            detail = f" ({was} to {now})"
        elif before.target != after.target:
            detail = f" (to {before.target}, now to {after.target})"
        elif before.size != after.size:
            detail = f" ({before.size} to {after.size} bytes)"
    return f"{change.change} {change.path}{detail}"
