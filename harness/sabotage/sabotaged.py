"""A sabotage as a trial has it: of which case it is, what it is by its digest, who stands in."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.case.model import Case, Sabotage, SubjectRef
from harness.errors import Lack
from harness.sabotage.changing import wrong_change
from harness.subjects import tree
from harness.subjects.base import Identity
from harness.subjects.registry import SUBJECTS
from verifiers.verdicts import Reason

REPLACE = "replace_subject"
PATCH = "patch"
WITH = "with"
CHANGE = "change"
_COMMAND = "command"


@dataclass(frozen=True, slots=True)
class Sabotaged:
    """What a sabotaged trial has beside its case.

    Attributes:
        sabotage: as the case says it.
        of: id of the case that it is of.
        folder: of that case's file, for the file named by ``with``.
        own: whether the trial is of that case; only then it decides anything.
        stand_in: what is started instead of the subject; ``None``: the subject.
        digest: of the sabotage, with all the files that it brings.
        lacks: why it cannot change anything, as far as that is known before.
    """

    sabotage: Sabotage
    of: str
    folder: Path
    own: bool
    stand_in: SubjectRef | None
    digest: str
    lacks: tuple[Lack, ...] = ()

    @property
    def label(self) -> str:
        """Its part of the name of the trial's folder."""
        whose = "" if self.own else f"{self.of}."
        return f"sabotage-{whose}{self.sabotage.name}"

    def changed_meanwhile(self, case: Case) -> bool:
        """Whether what it brings to a case is no longer what it was."""
        try:
            now = digest_of(self.sabotage, case, self.folder, self.stand_in)
        except OSError:
            return not self.lacks
        return now != self.digest


def sabotaged(sabotage: Sabotage, case: Case, owner: Case) -> Sabotaged:
    """A sabotage of ``owner``, to be tried on ``case``."""
    folder, own, stand_in = owner.source.parent, case.id == owner.id, None
    if REPLACE in sabotage.params:
        stand_in = SubjectRef(_COMMAND, argv=_words(sabotage))
    problem, hint = idle(sabotage, case) or ("", "")
    try:
        digest = digest_of(sabotage, case, folder, stand_in)
    except OSError as error:
        digest, problem, hint = "", str(error), ""
    what = f"the sabotage {sabotage.name} changes nothing: {problem}"
    where = sabotage.where if own else None
    lacks = (Lack(Reason.SABOTAGE_NOT_APPLIED, what, hint, where),) if problem else ()
    return Sabotaged(sabotage, owner.id, folder, own, stand_in, digest, lacks)


def idle(sabotage: Sabotage, case: Case) -> tuple[str, str] | None:
    """Why a sabotage is known to change nothing of a case, and what to write instead."""
    if CHANGE in sabotage.params:
        return wrong_change(sabotage.params[CHANGE], case)
    if REPLACE in sabotage.params and any(_words(sabotage) == ref.argv for ref in case.subjects):
        return "the subject is started with these words anyway", "name another program"
    return None


def _words(sabotage: Sabotage) -> tuple[str, ...]:
    return tuple(sabotage.params[REPLACE]["command"])


def digest_of(sabotage: Sabotage, case: Case, folder: Path, stand_in: SubjectRef | None) -> str:
    """``sha256:…`` of what is done to the subject, and of every file that it is done with.

    Raises:
        OSError: a file of it is not there.
    """
    return tree.digest_of(_parts(sabotage, case, folder, stand_in))


def _parts(
    sabotage: Sabotage, case: Case, folder: Path, stand_in: SubjectRef | None
) -> Iterator[bytes]:
    yield json.dumps(sabotage.params, sort_keys=True, default=str).encode()
    if WITH in sabotage.params:
        yield tree.digest(folder / function_file(sabotage)).encode()
    if stand_in is not None:
        found = SUBJECTS[stand_in.name].identify(stand_in, case)
        if not isinstance(found, Identity):
            raise FileNotFoundError(f"{found.reason}; {found.remedy}")
        yield found.digest.encode()


def function_file(sabotage: Sabotage) -> str:
    """The file of ``with``, relative to the case's."""
    return str(sabotage.params[WITH]).rpartition(":")[0]
