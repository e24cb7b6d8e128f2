"""The contract of an oracle.

An oracle looks at :class:`~harness.evidence.model.Evidence` and says whether what it was
asked about held. It reads nothing else, changes nothing, and gives the same answer for the
same evidence. What it could not see is ``unavailable (not-observed)``, never passed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from harness.case.model import Params
from harness.evidence.model import Evidence
from harness.extension import Extension
from sandboxes.base import Root
from verifiers.verdicts import Reason, Verdict


@dataclass(frozen=True, slots=True)
class Finding:
    """What an oracle found.

    Attributes:
        verdict: passed, failed, unavailable or error.
        expected: what should have been, for people.
        seen: what was, for people; names the paths, counts or text that decided.
        reason: for unavailable and error; ``None`` otherwise.
        evidence: file of the trial's folder that shows it, with a fragment where useful.
    """

    verdict: Verdict
    expected: str
    seen: str
    reason: Reason | None = None
    evidence: str = ""


def held(expected: str, seen: str, evidence: str = "") -> Finding:
    """The expectation was observed and held."""
    return Finding(Verdict.PASSED, expected, seen, None, evidence)


def broken(expected: str, seen: str, evidence: str = "") -> Finding:
    """The expectation was observed and broken."""
    return Finding(Verdict.FAILED, expected, seen, None, evidence)


def unseen(expected: str, seen: str, evidence: str = "") -> Finding:
    """It could not be observed."""
    return Finding(Verdict.UNAVAILABLE, expected, seen, Reason.NOT_OBSERVED, evidence)


class Oracle(Extension, Protocol):
    """One way of judging."""

    def parse(self, value: Any) -> Params:
        """Normalise what the case wrote (checked against ``schema``), defaults filled in."""

    def judge(self, params: Params, evidence: Evidence) -> Finding:
        """Look."""

    def final(self, params: Params) -> bool:
        """Whether more time could not mend a break.

        Only such expectations are judged after a time-out.
        """

    def wants(self, params: Params) -> Sequence[tuple[Root, str]]:
        """Paths whose end state and contents must be collected for :meth:`judge`."""


@runtime_checkable
class Watching(Oracle, Protocol):
    """An oracle that looks at what the subject attempted, which has to be watched for."""

    def watched(self, params: Params) -> Sequence[str]:
        """Absolute paths inside, and names of programs, whose attempts are to be counted."""
