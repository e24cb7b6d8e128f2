"""Terminal escapes and markup in whatever a subject or an author can name."""

from __future__ import annotations

import io
import re
import sys
import xml.etree.ElementTree as ET
from typing import Any

from rich.text import Text

from harness.report.junit import junit
from harness.report.table import print_run
from tests.attacks.form import PASSED, Attack, Seen, Weaken, both, replaced, shell, wrapped

#: Clears the screen, writes a verdict, and begins a string that swallows all that follows.
_PRINTS = "printf '\\033[2J\\033[Hpassed\\033P' | tee \"$(printf '\\033[2J\\033[Hpassed\\033P')\""
_CHANGES = [{"files": {"changed_only": ["none"]}}]
_OUTPUT = [{"output": {"matches": "fine"}}]
_DEFENCE = "nothing that cannot be printed is shown as it is"


def on_screen(text: str) -> str:
    """What a terminal would show of it in the end."""
    shown = re.sub(r"\x1bP.*", "", text, flags=re.DOTALL)
    shown = shown.rpartition("\x1b[2J")[2]
    return re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", shown)


def _told(screen: str) -> str:
    """What somebody takes from it who looks for the word."""
    return "failed" if "failed" in screen.lower() else PASSED if "passed" in screen else ""


def by_table(seen: Seen) -> str:
    """For a reader of the table."""
    out = io.StringIO()
    print_run({**seen.document, "trials": [seen.trial]}, out)
    return _told(on_screen(out.getvalue()))


def by_progress(seen: Seen) -> str:
    """For somebody who watches the run."""
    lines = [line for line in seen.err.splitlines() if "plain-offender" not in line]
    return _told(on_screen("\n".join(lines)))


def by_junit(seen: Seen) -> str:
    """For a server that leaves out reports that it cannot read."""
    try:
        report = ET.fromstring(junit(seen.document))
    except ET.ParseError:
        return PASSED
    return "failed" if report.get("failures") != "0" else PASSED


_RAW_TABLE = replaced("harness.report.table:plain", lambda text, style="": _Raw(text, style))
_RAW_JUNIT = replaced("harness.report.junit:_safe", lambda text: text)


class _Raw(Text):
    """Text of which nothing is taken away."""

    def __init__(self, text: str, style: str) -> None:
        super().__init__("", style)
        self._text = [text]
        self._length = len(text)


def _raw_progress(ends):
    def weak(self, trial, verdict, message, label="") -> None:
        sys.stderr.write(f"{verdict.value} {trial}: {message}\n")

    return weak


def _attack(name: str, does: str, expect: Any, weaken: Weaken, reads, **more: Any) -> Attack:
    reason = "broke:output" if expect is _OUTPUT else "broke:files"
    case = shell(_PRINTS, expect, **more)
    return Attack(name, does, case, "failed", reason, _DEFENCE, weaken, reads=reads)


_PROGRESS = wrapped("harness.progress:Lines.ends", _raw_progress)

ATTACKS = (
    _attack(
        "escapes-in-output-in-the-table",
        "prints what clears a screen and writes a verdict on it",
        _OUTPUT,
        both(
            _RAW_TABLE,
            replaced("harness.oracles.output:_seen", lambda output, text: text),
        ),
        by_table,
    ),
    _attack(
        "escapes-in-a-name-in-the-table",
        "makes a file whose name clears a screen and writes a verdict on it",
        _CHANGES,
        _RAW_TABLE,
        by_table,
    ),
    _attack(
        "escapes-in-a-name-while-it-runs",
        "makes such a file and waits for somebody who watches",
        _CHANGES,
        _PROGRESS,
        by_progress,
    ),
    _attack(
        "escapes-in-a-name-in-junit",
        "makes a file whose name no XML can hold",
        _CHANGES,
        _RAW_JUNIT,
        by_junit,
    ),
)
