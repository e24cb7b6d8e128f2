"""Which trials the exit code leaves out: known defects, and quarantine.

A known defect is one of somebody else's agent, written in the case with a range of versions.
It covers exactly the expectations that it names, on exactly those versions; a run in which
it did not show is marked ``known-fixed``, so that a stale entry is removed.
"""

from __future__ import annotations

import datetime
import enum
import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from harness.case.model import Known, Quarantine
from harness.judge.judging import Kind, TrialVerdict
from verifiers.verdicts import Verdict


class Mark(enum.StrEnum):
    """What a known defect means for a trial."""

    KNOWN = "known"
    FIXED = "known-fixed"


@dataclass(frozen=True, slots=True)
class KnownMark:
    """A mark with the entries that it comes from."""

    mark: Mark
    entries: Sequence[Known]


def known_mark(
    judged: TrialVerdict, kind: Kind, entries: Sequence[Known], subject: str, version: str
) -> KnownMark | None:
    """How the case's ``known`` entries mark a trial; ``None``: not at all.

    Only a failed trial whose every break is named is known, and only a passed one is fixed:
    an entry never speaks of timed_out, unavailable or error. A control or a sabotage is
    never marked, since the defect is one of the case as it stands.
    """
    fitting = [
        entry
        for entry in entries
        if entry.subject == subject and version_within(version, entry.version)
    ]
    if not fitting or kind is not Kind.TRIAL:
        return None
    named = frozenset[str]().union(*(entry.breaks for entry in fitting))
    if judged.verdict is Verdict.FAILED and judged.broken and judged.broken <= named:
        showing = [entry for entry in fitting if entry.breaks & judged.broken]
        return KnownMark(Mark.KNOWN, tuple(showing))
    if judged.verdict is Verdict.PASSED:
        return KnownMark(Mark.FIXED, tuple(fitting))
    return None


def quarantined(entry: Quarantine | None, today: datetime.date) -> bool:
    """Whether a case is in quarantine on that day; the last day counts."""
    return entry is not None and today <= entry.until


def version_within(version: str, versions: str) -> bool:
    """Whether ``version`` lies in a PEP 440 range; one that cannot be read lies in none.

    Semantic versions are read too: a pre-release that PEP 440 does not know
    (``0.31.0-nightly.20261101``) counts as one before its release.
    """
    try:
        return SpecifierSet(versions).contains(_version(version), prereleases=True)
    except (InvalidSpecifier, InvalidVersion):
        return False


_SEMANTIC = re.compile(r"v?([0-9]+(?:\.[0-9]+)*)(-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?")


@functools.lru_cache(maxsize=256)
def _version(text: str) -> Version:
    try:
        return Version(text)
    except InvalidVersion:
        match = _SEMANTIC.fullmatch(text.strip())
        if match is None:
            raise
        return Version(f"{match[1]}.dev0" if match[2] else match[1])
