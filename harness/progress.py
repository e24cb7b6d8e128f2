"""Shows a run while it goes on, on stderr: a live area on a terminal, plain lines elsewhere."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Final, Protocol

from harness.live_area import LiveArea
from harness.plural import plural
from harness.report.plain import plain
from sandboxes import clock
from verifiers.verdicts import Verdict

#: Events of a trial's journal, and what it does from each of them on.
PHASES: Final[Mapping[str, str]] = {
    "planned": "creating",
    "mounts": "preparing",
    "ready": "starting",
    "started": "running",
    "deadline": "stopping",
    "ended": "watching",
    "frozen": "collecting",
    "killed": "destroying",
    "destroyed": "judging",
    "verdict": "sealing",
}
_MARKS = {
    Verdict.PASSED: "passed",
    Verdict.FAILED: "FAILED",
    Verdict.TIMED_OUT: "TIMED OUT",
    Verdict.UNAVAILABLE: "unavailable",
    Verdict.ERROR: "ERROR",
}
_NO_CURSOR = ("", "dumb", "unknown")
_NOT_SET = ("", "0", "false")


class Progress(Protocol):
    """Hears of trials as they go on; called from the trials' threads."""

    def begins(self, trial: str) -> None: ...

    def reaches(self, trial: str, phase: str) -> None:
        """``phase`` is one of the words of :data:`PHASES`."""

    def ends(self, trial: str, verdict: Verdict, message: str, label: str = "") -> None:
        """``label`` is a word beside the verdict, such as ``known``."""

    def close(self) -> None: ...


class Lines:
    """One plain line for each trial that has ended."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._done = 0
        self._begun: dict[str, float] = {}
        self._lock = threading.Lock()

    def begins(self, trial: str) -> None:
        """Remember when."""
        with self._lock:
            self._begun[trial] = clock.monotonic()

    def reaches(self, trial: str, phase: str) -> None:
        """Say nothing: a log has no use for it."""

    def ends(self, trial: str, verdict: Verdict, message: str, label: str = "") -> None:
        """Write its line."""
        with self._lock:
            seconds = clock.monotonic() - self._begun.pop(trial, clock.monotonic())
            self._done += 1
            word = f"{verdict.value}, {label}" if label else _MARKS[verdict]
            text = f"[{self._done}/{self._total}] {word:<13} {trial} ({seconds:.1f} s)"
            if verdict is not Verdict.PASSED and message:
                text += f": {message}"
            say(text)

    def close(self) -> None:
        """Nothing is open."""


def watched(total: int, stopping: Callable[[], bool]) -> Progress:
    """What shows a run of so many trials here; ``stopping`` says whether the user ended it."""
    return LiveArea(sys.stderr, total, stopping) if _draws() else Lines(total)


def heading(trials: int, cases: int, seed: int) -> str:
    """What a run begins with: how much there is to do, and what repeats its choices."""
    return f"shakeout: {plural(trials, 'trial')} of {plural(cases, 'case')}, seed {seed}"


def say(text: str) -> None:
    """Write a line; a run goes on also where nobody can be shown anything any more."""
    with suppress(OSError):
        sys.stderr.write(plain(text, keep="") + "\n")
        sys.stderr.flush()


def _draws() -> bool:
    """Whether stderr is a terminal on which somebody wants to see more than lines."""
    env = os.environ.get
    unwanted = bool(env("NO_COLOR")) or env("CI", "").lower() not in _NOT_SET
    return sys.stderr.isatty() and env("TERM", "") not in _NO_CURSOR and not unwanted
