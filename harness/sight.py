"""Whether what is tested stays, from before a trial until after it, what its digest says.

A digest is of contents, and says nothing of what was there in between: somebody could put another
file in a place and the first one back. That leaves other times or another inode behind, so all
that a digest was taken of is also looked at as it stands on disk.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.errors import Lack, Unavailable
from harness.plan import Trial
from harness.subjects import tree
from harness.subjects.command import Command
from verifiers.verdicts import Reason


@dataclass(frozen=True, slots=True)
class Sight:
    """How all of a trial's subject stood before anything of it was shown in the sandbox.

    Attributes:
        mounts: digest of each mount that is no part of the subject itself.
        stood: how each path stood.
    """

    trial: Trial
    mounts: Mapping[Path, str]
    stood: Mapping[Path, tree.Stamp]

    def lost(self) -> str:
        """What of it is not, or was meanwhile not, as it was before, in words; empty: nothing."""
        try:
            with tree.noted() as stands:
                if not _as_planned(self.trial) or _mounts(self.trial) != self.mounts:
                    return "the subject was changed while it was tested"
        except OSError as error:
            return f"the subject was changed while it was tested: {error}"
        for path, stamp in self.stood.items():
            if path not in stands or not stands[path].same(stamp):
                return f"{path} was changed while it was tested, and put back"
        return ""


def look(trial: Trial) -> Sight:
    """Look at all of a trial's subject, just before it is shown.

    Raises:
        Unavailable: it is no longer what was planned.
    """
    try:
        with tree.noted() as stood:
            mounts = _mounts(trial)
            if _as_planned(trial):
                return Sight(trial, mounts, stood)
        what = "the subject was changed since its digest was taken"
        lack = Lack(Reason.WRONG_CODE, what, "run it again")
    except OSError as error:
        lack = Lack(Reason.TOOL_MISSING, f"the mount cannot be read: {error}", "make it readable")
    raise Unavailable([lack])


def _as_planned(trial: Trial) -> bool:
    """Whether the subject, and what its sabotage brings, is what it was when planned."""
    if trial.identity and trial.subject.identify(trial.ref, trial.case) != trial.identity:
        return False
    return trial.sabotaged is None or not trial.sabotaged.changed_meanwhile(trial.case)


def _mounts(trial: Trial) -> Mapping[Path, str]:
    """What is mounted beside the subject; of a command, the mounts are the subject."""
    if trial.ref.name == Command.name:
        return {}
    return {source: tree.digest(source) for source in trial.case.workspace.mounts}
