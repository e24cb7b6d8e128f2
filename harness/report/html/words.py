"""What reasons mean, for people."""

from __future__ import annotations

from harness.commands.glossary import OTHER_REASONS, REASONS
from verifiers.verdicts import LIMIT, Reason, Verdict

_BROKE = "broke:"
_KNOWN = frozenset(Reason)


def reason_in_words(reason: str) -> str:
    """What a reason says, in a sentence; empty where it is not one of ours."""
    if reason.startswith(_BROKE):
        return OTHER_REASONS[Verdict.FAILED].meaning.partition("; ")[0]
    if reason == LIMIT:
        return OTHER_REASONS[Verdict.TIMED_OUT].meaning
    return REASONS[Reason(reason)] if reason in _KNOWN else ""
