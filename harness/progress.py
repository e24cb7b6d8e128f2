"""Shows a run while it goes on: one line for each trial that has ended, on stderr."""

from __future__ import annotations

import os
import shutil
import sys
import threading
from contextlib import suppress
from typing import Protocol

from harness.report.plain import plain
from sandboxes import clock
from verifiers.verdicts import Verdict

_MARKS = {
    Verdict.PASSED: "passed",
    Verdict.FAILED: "FAILED",
    Verdict.TIMED_OUT: "TIMED OUT",
    Verdict.UNAVAILABLE: "unavailable",
    Verdict.ERROR: "ERROR",
}


class Progress(Protocol):
    """Hears of trials as they begin and end; called from the trials' threads."""

    def begins(self, trial: str) -> None: ...

    def ends(self, trial: str, verdict: Verdict, message: str, label: str = "") -> None:
        """``label`` is a word beside the verdict, such as ``known``."""

    def close(self) -> None: ...


class Quiet:
    """Shows nothing."""

    def begins(self, trial: str) -> None:
        """Say nothing."""

    def ends(self, trial: str, verdict: Verdict, message: str, label: str = "") -> None:
        """Say nothing."""

    def close(self) -> None:
        """Nothing is open."""


class Lines:
    """One plain line for each trial; on a terminal also what runs right now."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._done = 0
        self._running: dict[str, float] = {}
        self._lock = threading.Lock()
        self._live = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"

    def begins(self, trial: str) -> None:
        """Show it as running."""
        with self._lock:
            self._running[trial] = clock.monotonic()
            self._show()

    def ends(self, trial: str, verdict: Verdict, message: str, label: str = "") -> None:
        """Write its line."""
        with self._lock:
            seconds = clock.monotonic() - self._running.pop(trial, clock.monotonic())
            self._done += 1
            self._wipe()
            word = f"{verdict.value}, {label}" if label else _MARKS[verdict]
            text = f"[{self._done}/{self._total}] {word:<13} {trial} ({seconds:.1f} s)"
            if verdict is not Verdict.PASSED and message:
                text += f": {message}"
            _say(plain(text, keep="") + "\n")
            self._show()

    def close(self) -> None:
        """Wipe what shows running trials."""
        with self._lock:
            self._wipe()
            _say("")

    def _wipe(self) -> None:
        if self._live:
            _say("\r\x1b[K")

    def _show(self) -> None:
        if self._live and self._running:
            names = ", ".join(self._running)
            width = shutil.get_terminal_size().columns - 1
            _say("\r\x1b[K" + f"{self._done}/{self._total} running {names}"[:width])


def _say(text: str) -> None:
    """Show it; a run goes on also where nobody can be shown anything any more."""
    with suppress(OSError):
        sys.stderr.write(text)
        sys.stderr.flush()
