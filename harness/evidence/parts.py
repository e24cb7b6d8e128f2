"""Parts of ``run.json`` that may be missing: each as plain data, or ``None``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.case.model import Quarantine, Where
from harness.judge.known import KnownMark
from harness.sabotage.sabotaged import Sabotaged

Document = dict[str, Any]


def where_form(where: Where | None) -> Document | None:
    """A place in a case file, whose path is relative to the current folder if it lies in it."""
    if where is None:
        return None
    path = Path(where.file).absolute()
    here = Path.cwd()
    file = str(path.relative_to(here) if path.is_relative_to(here) else path)
    return {"file": file, "line": where.line, "column": where.column}


def sabotage_form(removed: Sabotaged | None) -> Document | None:
    """What was removed from a subject."""
    if removed is None:
        return None
    return {
        "name": removed.sabotage.name,
        "of": removed.of,
        "breaks": sorted(removed.sabotage.breaks),
    }


def known_form(known: KnownMark | None) -> Document | None:
    """How known defects mark a trial."""
    if known is None:
        return None
    return {
        "mark": known.mark.value,
        "entries": [
            {
                "subject": entry.subject,
                "version": entry.version,
                "breaks": sorted(entry.breaks),
                "because": entry.because,
                "since": entry.since,
            }
            for entry in known.entries
        ],
    }


def quarantine_form(quarantine: Quarantine | None) -> Document | None:
    """The quarantine of a case, while it is in force."""
    if quarantine is None:
        return None
    return {
        "owner": quarantine.owner,
        "reason": quarantine.reason,
        "until": quarantine.until.isoformat(),
    }
