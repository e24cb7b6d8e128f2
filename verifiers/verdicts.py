"""The five verdicts, their reasons, and how they merge.

A verdict has no truth value: ``if verdict:`` raises, since four of the five are not "yes".
Merged, the worst wins: a shown violation stands even where something else could not be run,
and merging nothing gives unavailable, because nothing observed is never a pass.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import NoReturn


class Verdict(enum.Enum):
    """What is known about a trial, an expectation or a run."""

    PASSED = "passed"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    UNAVAILABLE = "unavailable"
    ERROR = "error"

    def __bool__(self) -> NoReturn:
        raise TypeError(f"a verdict has no truth value; compare it: verdict is Verdict.{self.name}")


class Reason(enum.StrEnum):
    """Why a verdict is unavailable or error; the set is closed.

    ``failed`` carries ``broke:<id>`` instead, see :func:`broke`; ``timed_out`` carries
    ``limit``.
    """

    # unavailable: it could not be tried or observed here
    BACKEND_MISSING = "backend-missing"
    CAPABILITY_MISSING = "capability-missing"
    TOOL_MISSING = "tool-missing"
    SUBJECT_MISSING = "subject-missing"
    NOT_WRITTEN = "not-written"
    FAULT_NOT_DELIVERED = "fault-not-delivered"
    NOT_PROVOKED = "not-provoked"
    SCRIPT_NOT_FINISHED = "script-not-finished"
    NOTHING_EXPECTED = "nothing-expected"
    NOT_OBSERVED = "not-observed"
    NOTHING_RAN = "nothing-ran"
    BREAKER_OPEN = "breaker-open"
    # error: the harness or the place broke
    SANDBOX_LOST = "sandbox-lost"
    EVIDENCE_LOST = "evidence-lost"
    RESIDUE = "residue"
    HARNESS_BUG = "harness-bug"
    NOT_SEALED = "not-sealed"
    INTERRUPTED = "interrupted"
    SABOTAGE_NOT_APPLIED = "sabotage-not-applied"
    TOOL_CRASHED = "tool-crashed"
    REPORT_UNREADABLE = "report-unreadable"
    WRONG_CODE = "wrong-code"

    @property
    def verdict(self) -> Verdict:
        """The verdict that this reason stands for."""
        return Verdict.ERROR if self in _ERRORS else Verdict.UNAVAILABLE


_ERRORS = frozenset(
    {
        Reason.SANDBOX_LOST,
        Reason.EVIDENCE_LOST,
        Reason.RESIDUE,
        Reason.HARNESS_BUG,
        Reason.NOT_SEALED,
        Reason.INTERRUPTED,
        Reason.SABOTAGE_NOT_APPLIED,
        Reason.TOOL_CRASHED,
        Reason.REPORT_UNREADABLE,
        Reason.WRONG_CODE,
    }
)

LIMIT = "limit"

_RANK = {
    Verdict.FAILED: 4,
    Verdict.TIMED_OUT: 3,
    Verdict.ERROR: 2,
    Verdict.UNAVAILABLE: 1,
    Verdict.PASSED: 0,
}


def broke(expectation: str) -> str:
    """The reason of a failed trial: the expectation ``expectation`` was observed and broken."""
    return f"broke:{expectation}"


def rank(verdict: Verdict) -> int:
    """How bad it is: 0 is passed, the highest is failed."""
    return _RANK[verdict]


def merge(verdicts: Iterable[Verdict]) -> Verdict:
    """The worst of them: failed > timed_out > error > unavailable > passed; none: unavailable."""
    return max(verdicts, key=_RANK.__getitem__, default=Verdict.UNAVAILABLE)
