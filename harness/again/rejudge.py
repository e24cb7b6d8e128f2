"""Judges stored evidence again: every trial of a run's folder, or the one of a trial's folder.

The verdict comes from the files alone. Where it is not the one on record the two do not belong
together, and the trial is an error also.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from harness.again.kept import Kept, read_kept
from harness.again.run_folder import Listed, RunFolder
from harness.evidence.planned import Planned
from harness.judge.exitcode import Outcome
from harness.judge.facts import facts_of
from harness.judge.judging import Facts, Judged, Kind, TrialVerdict, Trouble, judge_trial
from harness.judge.known import KnownMark, known_mark, quarantined
from verifiers.verdicts import Reason


@dataclass(frozen=True, slots=True)
class Rejudged:
    """A trial that was judged again.

    Attributes:
        id: of the trial.
        dir: its folder, relative to the one that was named; empty where it never began.
        kind: what it was for.
        group: the id without the number of its repeat.
        stored: the verdict on record; ``None`` where there is none.
        stored_reasons: its reasons.
        judged: the verdict now.
        differences: in words; none where the verdict is the one on record.
        known: how known defects mark it.
        then: how they marked it in the run.
        quarantined: whether it was, when it ran.
        breaks: of a sabotage: ids that must break.
        decides: whether it counts at all.
        harness: what wrote the evidence: version and digest; empty where that is not known.
    """

    id: str
    dir: str
    kind: Kind
    group: str
    stored: str | None
    stored_reasons: Sequence[str]
    judged: TrialVerdict
    differences: Sequence[str]
    known: KnownMark | None
    then: KnownMark | None
    quarantined: bool
    breaks: Sequence[str] = ()
    decides: bool = True
    harness: tuple[str, str] = ("", "")

    @property
    def outcome(self) -> Outcome:
        """What the exit code depends on."""
        return Outcome(
            repeated=self.group,
            verdict=self.judged.verdict,
            reasons=self.judged.reasons,
            kind=self.kind,
            known=self.known.mark if self.known else None,
            quarantined=self.quarantined,
            breaks=frozenset(self.breaks),
            broken=self.judged.broken,
            decides=self.decides,
        )


def rejudge(run: RunFolder, *, known: bool) -> Sequence[Rejudged]:
    """Judge every trial of a folder again.

    Args:
        run: the folder.
        known: whether known defects are marked.
    """
    return [
        _again(listed, _kept(run, listed), run, known=known) if listed.dir else _not_begun(listed)
        for listed in run.trials
    ]


def _kept(run: RunFolder, listed: Listed) -> Kept:
    """What is in a trial's folder; nothing where something else is in its place."""
    folder = run.folder / listed.dir
    if listed.astray:
        return Kept(folder, troubles=[Trouble(Reason.EVIDENCE_LOST, listed.astray)])
    return read_kept(folder)


def _again(listed: Listed, kept: Kept, run: RunFolder, *, known: bool) -> Rejudged:
    planned, case = kept.planned, kept.case
    kind = planned.kind if planned else listed.kind
    kept.troubles += [Trouble(Reason.EVIDENCE_LOST, why) for why in _misplaced(listed, kept)]
    facts = _facts(kept, kind)
    found = judge_trial(facts)
    differences = [*_against_run(listed, found), *_against_verdict(kept.verdict, found)]
    stored = listed.entry or kept.verdict or {}
    mark = None
    if planned and case:
        mark = known_mark(found, kind, case.known, planned.subject, planned.version)
    quarantine = case is not None and _was_quarantined(kept)
    if listed.entry and planned:
        then = mark.mark.value if mark and run.known else None
        differences += _against_entry(listed.entry, planned, then, quarantine=quarantine)
    return Rejudged(
        id=listed.id or (planned.trial if planned else kept.folder.name),
        dir=listed.dir,
        kind=kind,
        group=planned.group if planned else listed.id,
        stored=stored.get("verdict"),
        stored_reasons=tuple(stored.get("reasons", ())),
        judged=_with(differences, facts, found),
        differences=tuple(differences),
        known=mark if known else None,
        then=mark if run.known else None,
        quarantined=quarantine,
        breaks=planned.breaks if planned else (),
        decides=planned is None or planned.decides,
        harness=(planned.harness, planned.harness_digest) if planned else ("", ""),
    )


def _not_begun(listed: Listed) -> Rejudged:
    """A trial that never began: its reasons are all that there is of it."""
    troubles = [_recorded(reason, listed) for reason in listed.entry.get("reasons", ())]
    facts = Facts(ran=False, troubles=troubles, kind=listed.kind)
    found = judge_trial(facts)
    differences = list(_against_run(listed, found))
    return Rejudged(
        id=listed.id,
        dir="",
        kind=listed.kind,
        group=listed.id,
        stored=listed.entry.get("verdict"),
        stored_reasons=tuple(listed.entry.get("reasons", ())),
        judged=_with(differences, facts, found),
        differences=differences,
        known=None,
        then=None,
        quarantined=listed.entry.get("quarantine") is not None,
    )


def _recorded(reason: str, listed: Listed) -> Trouble:
    try:
        return Trouble(Reason(reason), str(listed.entry.get("message", "")))
    except ValueError:
        return Trouble(Reason.EVIDENCE_LOST, f"{listed.id} has no evidence of {reason}")


def _facts(kept: Kept, kind: Kind) -> Facts:
    if kept.case is None:
        return Facts(ran=False, troubles=tuple(kept.troubles), kind=kind)
    return facts_of(kept.case, kind, kept.evidence, tuple(kept.troubles))


def _misplaced(listed: Listed, kept: Kept) -> Iterator[str]:
    """A folder that holds the files of another trial, or of several."""
    told = {
        "the journal": kept.planned.trial if kept.planned else None,
        "verdict.json": kept.verdict.get("trial") if kept.verdict else None,
    }
    wanted = listed.id or told["the journal"]
    for name, trial in told.items():
        if None not in (trial, wanted) and trial != wanted:
            yield f"{name} is of the trial {trial}, not of {wanted}"


def _with(differences: Sequence[str], facts: Facts, found: TrialVerdict) -> TrialVerdict:
    if not differences:
        return found
    trouble = Trouble(Reason.EVIDENCE_LOST, f"the record does not fit: {'; '.join(differences)}")
    return judge_trial(replace(facts, troubles=[*facts.troubles, trouble]))


def _against_run(listed: Listed, found: TrialVerdict) -> Iterator[str]:
    if listed.entry:
        yield from _compared("run.json", listed.entry, found)


def _against_entry(
    entry: Mapping[str, Any], planned: Planned, mark: str | None, *, quarantine: bool
) -> Iterator[str]:
    """What decides how a trial weighs, where ``run.json`` has it otherwise."""
    known, removed = entry["known"], entry["sabotage"]
    told = {
        "kind": (entry["kind"], planned.kind.value),
        "known": (known and known["mark"], mark),
        "quarantined": (entry["quarantine"] is not None, quarantine),
        "breaks": (sorted(removed["breaks"]) if removed else [], sorted(planned.breaks)),
        "decides": (removed is None or removed["of"] == entry["case"], planned.decides),
    }
    for name, (then, now) in told.items():
        if then != now:
            yield f"run.json says {name}: {then}, the trial's folder {now}"


def _against_verdict(document: Mapping[str, Any] | None, found: TrialVerdict) -> Iterator[str]:
    if document is None:
        return
    yield from _compared("verdict.json", document, found)
    for key, judged in (("expect", found.expectations), ("stimulus", found.stimulus)):
        then = {entry["id"]: (entry["verdict"], entry["reason"]) for entry in document[key]}
        now = {one.expectation.id: _standing(one) for one in judged}
        for name in sorted(then.keys() | now.keys()):
            if then.get(name) != now.get(name):
                said = f"{_worded(then.get(name))}, it is {_worded(now.get(name))}"
                yield f"verdict.json says of {name}: {said}"


def _compared(name: str, document: Mapping[str, Any], found: TrialVerdict) -> Iterator[str]:
    then = document.get("verdict"), sorted(document.get("reasons", ()))
    now = found.verdict.value, sorted(found.reasons)
    if then != now:
        yield f"{name} says {_reasoned(*then)}, the evidence {_reasoned(*now)}"


def _reasoned(verdict: object, reasons: Sequence[str]) -> str:
    return f"{verdict} ({', '.join(map(str, reasons))})" if reasons else str(verdict)


def _standing(judged: Judged) -> tuple[str, str | None]:
    return judged.standing.value, judged.reason


def _worded(standing: tuple[str, str | None] | None) -> str:
    if standing is None:
        return "nothing"
    return standing[0] if standing[1] is None else f"{standing[0]} ({standing[1]})"


def _was_quarantined(kept: Kept) -> bool:
    """Whether it was in quarantine when it ran; a day that cannot be read is none."""
    try:
        day = datetime.date.fromisoformat(kept.day)
    except ValueError:
        return False
    return kept.case is not None and quarantined(kept.case.quarantine, day)
