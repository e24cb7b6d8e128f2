"""Asks oracles about evidence, for the truth table.

The one place where an oracle is called: one that raises has a bug, and a bug of ours is an
error of the trial, never a pass and never the subject's failure.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence

from harness.case.model import Expectation
from harness.evidence.model import Evidence
from harness.judge.judging import CONTAINMENT, SECRETS, Looked
from harness.oracles.base import Finding, Oracle, Watching, unseen
from harness.oracles.containment import judge_containment
from harness.oracles.registry import ORACLES
from harness.search import TooSlow
from sandboxes.base import Root
from verifiers.verdicts import Reason, Verdict


def look(
    expectations: Sequence[Expectation],
    evidence: Evidence | None,
    oracles: Mapping[str, Oracle] = ORACLES,
) -> list[Looked]:
    """What each expectation's oracle finds; ``evidence`` is ``None`` where there is none."""
    return [
        _look(expectation, evidence, oracles[expectation.oracle]) for expectation in expectations
    ]


def look_at_implied(
    evidence: Evidence | None, expectations: Sequence[Expectation], *, planted: bool
) -> list[Looked]:
    """What is judged though no case says so: containment, and secrets if any are planted."""
    finding = None if evidence is None else _guarded(judge_containment, evidence)
    containment = Expectation(CONTAINMENT, CONTAINMENT, {})
    implied = [Looked(containment, finding, final=True, implied=True)]
    if planted and not any(expectation.oracle == SECRETS for expectation in expectations):
        leaks = ORACLES[SECRETS]
        expectation = Expectation(SECRETS, SECRETS, leaks.parse("absent"))
        looked = _look(expectation, evidence, leaks)
        implied.append(Looked(expectation, looked.finding, final=True, implied=True))
    return implied


def wanted(
    expectations: Sequence[Expectation], oracles: Mapping[str, Oracle] = ORACLES
) -> tuple[tuple[Root, str], ...]:
    """Every path whose end state and contents must be collected, once each."""
    return tuple(
        dict.fromkeys(
            want
            for expectation in expectations
            for want in oracles[expectation.oracle].wants(expectation.params)
        )
    )


def watched(
    expectations: Sequence[Expectation], oracles: Mapping[str, Oracle] = ORACLES
) -> tuple[str, ...]:
    """Every path and program whose attempts are to be counted, once each."""
    return tuple(
        dict.fromkeys(
            path
            for expectation in expectations
            if isinstance(oracle := oracles[expectation.oracle], Watching)
            for path in oracle.watched(expectation.params)
        )
    )


def _look(expectation: Expectation, evidence: Evidence | None, oracle: Oracle) -> Looked:
    judge = functools.partial(oracle.judge, expectation.params)
    finding = None if evidence is None else _guarded(judge, evidence)
    return Looked(expectation, finding, final=oracle.final(expectation.params))


def _guarded(judge: Callable[[Evidence], Finding], evidence: Evidence) -> Finding:
    try:
        return judge(evidence)
    except TooSlow as slow:
        return unseen("an answer in time", str(slow))
    except Exception as error:  # noqa: BLE001 - whatever it is, it is our bug
        seen = f"the oracle raised {type(error).__name__}: {error}"
        return Finding(Verdict.ERROR, "an answer", seen, Reason.HARNESS_BUG)
