"""Prints ``docs/verdicts.md``: the truth table, asked of the code that judges.

``python -m harness.report.truth > docs/verdicts.md`` writes it anew; a test compares.
Situations with the same verdict are put together where they fill a column, so that every
situation is in exactly one row.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence

from harness.case.model import Expectation
from harness.evidence.model import FaultRecord
from harness.judge.exitcode import Outcome, judge_run
from harness.judge.judging import CONTAINMENT, HOME, Facts, Kind, Looked, Trouble, judge_trial
from harness.judge.known import Mark
from harness.oracles.base import Finding, broken, held, unseen
from verifiers.verdicts import LIMIT, Reason, Verdict, broke, rank

Columns = Mapping[str, Sequence[str]]
Situation = tuple[str, ...]
Row = tuple[frozenset[str], ...]
_ANY = "any"

TRIAL: Columns = {
    "subject": ("started", "not started"),
    "stages": ("went well", "lacked something", "broke"),
    "faults": ("all landed", "one did not"),
    "stimulus": ("met", "unmet"),
    "script": ("played", "left over"),
    "time": ("enough", "limit reached"),
    "expectations": (
        "all held",
        "none written",
        "one not seen",
        "one broken",
        "a lasting one broken",
    ),
    "home, secrets, containment": ("held", "not seen", "broken"),
    "seal": ("made", "could not be made"),
}

WEIGHT: Columns = {
    "verdict": tuple(verdict.value for verdict in Verdict),
    "mark": ("none", "known", "known-fixed"),
    "repeats": ("agree", "differ"),
    "quarantine": ("no", "in force"),
}

SABOTAGE: Columns = {
    "verdict": tuple(verdict.value for verdict in Verdict),
    "what broke": ("nothing", "exactly what it names", "less", "more"),
    "script": TRIAL["script"],
    "stages": TRIAL["stages"],
}

_INTRO = """\
# Verdicts and exit codes

This page is printed by the code that judges: `python -m harness.report.truth`.

A trial is **passed**, **failed**, **timed_out**, **unavailable** or **error**. Whatever stands
against a pass is a reason, and a verdict lists every reason; the worst decides:
failed > timed_out > error > unavailable > passed.

| verdict | reasons |
| --- | --- |
"""

_TRIAL = """
## A trial

A case without a stimulus has it met. `lasting`: more time could not mend it (`home`, `files`, `secrets`, `network`, every `at_most`,
`lacks`, `absent`). After the limit was reached only those are judged; where a fault did not
land or a stimulus is unmet, only `home`, `secrets` and containment are, the rest is recorded
as `not_judged`, and the limit decides nothing. Controls and sabotaged trials are judged by the same table; a
sabotaged trial is never attested as passed. What cannot be sealed has not passed, whatever else it has.

"""

_EXIT = """
## The exit code of a run

130 if it was interrupted; else 4 if something could not be sealed, or if `shakeout judge` finds
a broken seal, or another verdict than the one on record; else by the worst that a trial weighs: failed and timed_out give 1, error gives 4, unavailable gives 3, passed gives 0.
If every trial is left out, the code is 0 where one of them failed within a known defect, and
3 otherwise; so is the code of an empty selection. `--fail-on` makes what it names weigh as
failed, and nothing weigh less. A known defect covers breaks alone: other reasons of the same
trial still weigh. Where teeth are asked for, a case without a sabotage, and a sabotage that no
case notices, counts as failed.

A program that is known not to be there, or not to be executable, does not make a case invalid: a
run of it is unavailable (`tool-missing`). `shakeout check`, which runs nothing, ends with 2 there,
as for any path that is absent, and says the same words at the same place.

"""

_SABOTAGED = """
A sabotaged trial weighs by whether exactly what it names broke, and nothing else is the matter
with it, but for steps of the script that are left over. One that is unavailable, or in which the
sabotage changed nothing, has shown no teeth. Off the diagonal of `shakeout teeth --full`, where a
sabotage is tried on another case than its own, it is left out.

"""


def page() -> str:
    """The page, whole."""
    parts = [
        _INTRO,
        *(_line([verdict.value, ", ".join(_reasons(verdict)) or "none"]) for verdict in Verdict),
        _TRIAL,
        _table(TRIAL, _verdict_of, "verdict"),
        _EXIT,
        _table(WEIGHT, _weight_of, "weighs as"),
        _SABOTAGED,
        _table(SABOTAGE, _weight_of_sabotage, "weighs as"),
    ]
    return "".join(parts)


def _reasons(verdict: Verdict) -> list[str]:
    own = {Verdict.FAILED: [broke("<id>")], Verdict.TIMED_OUT: [LIMIT]}.get(verdict, [])
    return [f"`{reason}`" for reason in (*own, *(r for r in Reason if r.verdict is verdict))]


def _verdict_of(situation: Situation) -> str | None:
    subject, stages, faults, stimulus, script, time, expectations, harm, seal = situation
    troubles = {
        "went well": [],
        "lacked something": [Trouble(Reason.CAPABILITY_MISSING, "")],
        "broke": [Trouble(Reason.EVIDENCE_LOST, "")],
    }
    facts = Facts(
        ran=subject == "started",
        faults=[FaultRecord("cut", "model.cut", True, faults == "all landed", 0, "")],
        stimulus=[_looked("asked", "requests", held if stimulus == "met" else broken)],
        expectations=[*_expectations(expectations), *_harm(harm)],
        left=int(script == "left over"),
        ended_by="deadline" if time == "limit reached" else "exit",
        troubles=troubles[stages],
        sealed=seal == "made",
    )
    return judge_trial(facts).verdict.value


def _expectations(what: str) -> Iterator[Looked]:
    if what == "none written":
        return
    yield _looked("plain", "output", {"one not seen": unseen, "one broken": broken}.get(what, held))
    lasting = broken if what == "a lasting one broken" else held
    yield _looked("lasting", "network", lasting, final=True)


def _harm(what: str) -> Iterator[Looked]:
    find = {"held": held, "not seen": unseen, "broken": broken}[what]
    yield _looked(HOME, HOME, find, final=True, implied=True)
    yield _looked(CONTAINMENT, CONTAINMENT, held, final=True, implied=True)


def _looked(
    name: str,
    oracle: str,
    find: Callable[[str, str], Finding],
    *,
    final: bool = False,
    implied: bool = False,
) -> Looked:
    return Looked(Expectation(name, oracle, {}), find("", ""), final=final, implied=implied)


def _weight_of(situation: Situation) -> str | None:
    verdict, mark, repeats, quarantine = situation
    marks = {"known": Mark.KNOWN, "known-fixed": Mark.FIXED}
    fitting = {"known": "failed", "known-fixed": "passed"}.get(mark, verdict)
    if verdict != fitting:
        return None
    other = Verdict.FAILED if verdict == "passed" else Verdict.PASSED
    trial = _outcome(Verdict(verdict), marks.get(mark), quarantined=quarantine == "in force")
    again = [_outcome(other, None, quarantined=trial.quarantined)] if repeats == "differ" else []
    return _weighed(trial, *again)


def _outcome(verdict: Verdict, mark: Mark | None, *, quarantined: bool) -> Outcome:
    reasons = (broke("home"),) if verdict is Verdict.FAILED else ()
    return Outcome("trial", verdict, reasons, known=mark, quarantined=quarantined)


def _weight_of_sabotage(situation: Situation) -> str | None:
    verdict, what, script, stages = situation
    if (verdict == "failed") == (what == "nothing") or (
        verdict != "failed" and (script, stages) != ("played", "went well")
    ):
        return None
    left = (str(Reason.SCRIPT_NOT_FINISHED),) if script == "left over" else ()
    reasons = {
        "went well": (),
        "lacked something": (str(Reason.NOT_OBSERVED),),
        "broke": (str(Reason.SABOTAGE_NOT_APPLIED),),
    }
    names = {"nothing": "", "exactly what it names": "ab", "less": "a", "more": "abc"}
    return _weighed(
        Outcome(
            "trial",
            Verdict(verdict),
            (*left, *reasons[stages]),
            kind=Kind.SABOTAGE,
            breaks=frozenset("ab"),
            broken=frozenset(names[what]),
        )
    )


def _weighed(*outcomes: Outcome) -> str:
    weight = judge_run(outcomes).weights[0]
    return "left out" if weight is None else weight.value


def _table(columns: Columns, judge: Callable[[Situation], str | None], result: str) -> str:
    """A table of every situation that can be; ``judge`` gives ``None`` for one that cannot."""
    judged = {s: judge(s) for s in itertools.product(*columns.values())}
    rows: dict[Row, str] = {
        tuple(frozenset({value}) for value in s): what for s, what in judged.items() if what
    }
    while len(fewer := _put_together(rows, len(columns))) < len(rows):
        rows = fewer
    lines = [_line([*columns, result]), _line(["---"] * (len(columns) + 1))]
    for row, what in sorted(rows.items(), key=lambda item: _order(item[1])):
        cells = [
            _ANY if len(cell) == len(values) else " or ".join(v for v in values if v in cell)
            for cell, values in zip(row, columns.values(), strict=True)
        ]
        lines.append(_line([*cells, f"**{what}**"]))
    return "".join(lines)


def _put_together(rows: Mapping[Row, str], width: int) -> dict[Row, str]:
    """Rows that differ in one column only, and not in the result, as one row."""
    for column in reversed(range(width)):
        together: dict[tuple[Row, Row, str], frozenset[str]] = {}
        for row, what in rows.items():
            rest = (row[:column], row[column + 1 :], what)
            together[rest] = together.get(rest, frozenset()) | row[column]
        rows = {(*before, cell, *after): what for (before, after, what), cell in together.items()}
    return dict(rows)


def _order(what: str) -> int:
    return rank(Verdict(what)) if what in {v.value for v in Verdict} else -1


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |\n"


if __name__ == "__main__":
    sys.stdout.write(page())
