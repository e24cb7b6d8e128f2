"""What a run found wrong, and what kept it from finding anything; made from ``run.json`` alone.

Every trial that raises the exit code gives at least one of either, and so does everything about
the run as a whole that does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from harness.judge.judging import CONTAINMENT
from harness.report.plain import plain, short

Document = Mapping[str, Any]

RED: Final = frozenset({"failed", "timed_out"})
LACKING: Final = frozenset({"unavailable", "error"})
#: Findings that are of no oracle, each with what it means.
OTHER_RULES: Final[Mapping[str, str]] = {
    CONTAINMENT: "Something outside the sandbox was touched, or something of it was left.",
    "limit": "The subject was stopped by the time limit of its case.",
    "known-fixed": "A known defect did not show; its entry is to be removed from the case.",
    "flaky": "Repeats of a trial came to different verdicts.",
    "teeth": "A sabotage did not break exactly what it names.",
    "raised": "Something was asked to count as failed.",
}
_WHOLE: Final = {
    3: ("nothing-ran", "nothing in this run counts as tried"),
    4: ("not-sealed", "the evidence of this run could not be sealed"),
    130: ("interrupted", "the run was interrupted before its end"),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong with what was tested.

    Attributes:
        rule: the oracle, or one of :data:`OTHER_RULES`.
        trial: as in ``run.json``.
        about: id of the expectation; the rule's where it is of none.
        message: what was expected, and what was seen.
        where: its place in the case; ``None`` where no case is written.
        accepted: why it is left out of the exit code; empty where it is not.
    """

    rule: str
    trial: Document
    about: str
    message: str
    where: Document | None
    accepted: str = ""


@dataclass(frozen=True, slots=True)
class Notice:
    """One thing that kept the run from looking.

    Attributes:
        reason: of the run's reasons.
        message: for people.
        trial: as in ``run.json``; ``None``: the whole run.
        accepted: as for a finding.
    """

    reason: str
    message: str
    trial: Document | None
    accepted: str = ""


def findings(run: Document) -> Iterator[Finding]:
    """Everything that is wrong with what was tested, trial by trial."""
    for trial in run["trials"]:
        yield from _of_trial(trial)


def notices(run: Document) -> Iterator[Notice]:
    """Everything that kept the run from looking, the run as a whole last."""
    for trial in run["trials"]:
        accepted = left_out(trial) if trial["weighs"] is None else ""
        if trial["weighs"] in LACKING or (accepted and trial["verdict"] in LACKING):
            message = short(plain(trial["message"]))
            yield Notice(trial["reasons"][0], message, trial, accepted)
    if (reason := whole(run)) is not None:
        yield Notice(*reason, None)


def whole(run: Document) -> tuple[str, str] | None:
    """What makes the exit code other than 0 beside the trials; reason and sentence."""
    weights = {trial["weighs"] for trial in run["trials"]}
    raised = bool(weights & (RED | LACKING))
    if run["exit"] == 0 or (raised and run["exit"] not in {4, 130}):
        return None
    if raised and run["exit"] == 4 and "not-sealed" not in run["reasons"]:
        return None
    return _WHOLE.get(run["exit"], ("harness-bug", f"exit code {run['exit']}, by no trial"))


def left_out(trial: Document) -> str:
    """Why the exit code leaves a trial out."""
    if trial["quarantine"]:
        entry = trial["quarantine"]
        return plain(f"in quarantine until {entry['until']}: {entry['reason']}")
    entries = trial["known"]["entries"] if trial["known"] else ()
    return plain("known: " + "; ".join(entry["because"] for entry in entries))


def details(trial: Document) -> Iterator[str]:
    """What broke, line by line."""
    for broken in trial["broke"]:
        yield told(broken)


def told(broken: Document) -> str:
    """A broken expectation in a line."""
    expected, seen = short(plain(broken["expected"])), short(plain(broken["seen"]))
    return f"{broken['id']}: expected {expected}; saw {seen}"


def _of_trial(trial: Document) -> Iterator[Finding]:
    accepted = left_out(trial) if trial["weighs"] is None else ""
    if trial["kind"] == "sabotage":
        if trial["weighs"] in RED:
            yield _other("teeth", trial, f"{trial['id']}: {trial['message']}")
        return
    found = False
    for broken in trial["broke"]:
        found = True
        where = broken["where"] or trial["where"]
        yield Finding(broken["oracle"], trial, broken["id"], told(broken), where, accepted)
    if trial["verdict"] == "timed_out":
        found = True
        yield _other("limit", trial, trial["message"], accepted)
    if trial["weighs"] in RED and not found:
        yield _other(_why(trial), trial, trial["message"])


def _why(trial: Document) -> str:
    if trial["known"] and trial["known"]["mark"] == "known-fixed":
        return "known-fixed"
    return "flaky" if trial["flaky"] else "raised"


def _other(rule: str, trial: Document, message: str, accepted: str = "") -> Finding:
    text = f"{OTHER_RULES[rule]} {short(plain(message))}"
    return Finding(rule, trial, rule, text, trial["where"], accepted)
