"""Containment: nothing outside the sandbox was touched, and nothing of it is left.

Judged in every trial; a case cannot ask for it and cannot do without it. It reads
``notes["containment"]``: ``{"touched": [words], "left": [words], "home": words}``, what the trial
found when it looked at the places outside that the subject must not reach, and for residue of
the sandbox, and how it was looked at whether the user's real home was changed. A missing note is no clean one.
"""

from __future__ import annotations

from harness.evidence.model import Evidence
from harness.oracles.base import Finding, broken, held, unseen
from harness.oracles.seen import some
from verifiers.verdicts import Reason, Verdict

NOTE = "containment"
_EXPECTED = "nothing outside the sandbox touched, nothing of it left"


def judge_containment(evidence: Evidence) -> Finding:
    """What was found outside; residue is our own error, a touch is a break."""
    note = evidence.notes.get(NOTE)
    if note is None:
        return unseen(_EXPECTED, "nobody looked", "journal.jsonl")
    if note["touched"]:
        return broken(_EXPECTED, f"touched: {some(note['touched'])}", "journal.jsonl")
    if note["left"]:
        seen = f"left: {some(note['left'])}"
        return Finding(Verdict.ERROR, _EXPECTED, seen, Reason.RESIDUE, "journal.jsonl")
    home = f"; changes in the real home {note['home']}" if note.get("home") else ""
    return held(_EXPECTED, f"neither{home}", "journal.jsonl")
