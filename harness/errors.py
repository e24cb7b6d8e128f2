"""Errors of the harness; only ``harness/cli.py`` turns them into exit codes.

::

    ShakeoutError
    ├── UsageError        exit 2: the command line or a path is wrong
    ├── Unavailable       the trial cannot be tried here; carries the reasons
    ├── EvidenceLost      evidence could not be taken or written
    ├── SabotageNotApplied  the sabotage of a trial changed nothing
    └── Interrupted       the user stopped the run

An invalid case file is :class:`harness.case.load.CaseErrors`; a broken sandbox is
:class:`sandboxes.errors.SandboxError`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.case.model import Where
from verifiers.verdicts import Reason


class ShakeoutError(Exception):
    """Something that the harness expected to be able to do, and could not."""


class UsageError(ShakeoutError):
    """The command line is wrong; the message says what to write."""


@dataclass(frozen=True, slots=True)
class Lack:
    """One thing that is missing: the reason, what it is, what mends it, and what asks for it."""

    reason: Reason
    what: str
    remedy: str = ""
    where: Where | None = None

    def __str__(self) -> str:
        return f"{self.what}; {self.remedy}" if self.remedy else self.what


class Unavailable(ShakeoutError):
    """A trial cannot be tried here.

    Attributes:
        lacks: every missing thing.
    """

    def __init__(self, lacks: Sequence[Lack]) -> None:
        super().__init__(". ".join(str(lack) for lack in lacks))
        self.lacks = tuple(lacks)


class EvidenceLost(ShakeoutError):
    """Evidence could not be taken or written; what is left proves nothing."""


class SabotageNotApplied(ShakeoutError):
    """The sabotage of a trial changed nothing, so what became of the trial shows nothing."""


class Interrupted(ShakeoutError):
    """The user stopped the run."""
