"""All that the verdict of a trial depends on, of its case and its evidence.

The same for a trial that has just ended and for one that is judged again out of its files.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.case.model import Case
from harness.evidence.model import Evidence
from harness.judge.judging import Facts, Kind, Trouble
from harness.oracles.look import look, look_at_implied


def facts_of(
    case: Case, kind: Kind, evidence: Evidence | None, troubles: Sequence[Trouble]
) -> Facts:
    """Let the oracles look, and gather all that the verdict depends on.

    Args:
        case: as the trial had it; of a control, the control.
        kind: what the trial is for.
        evidence: ``None`` where the subject was not started.
        troubles: what the stages could not do.
    """
    planted = bool(case.secrets)
    return Facts(
        ran=evidence is not None,
        faults=evidence.faults if evidence else (),
        declared=case.faults,
        stimulus=look(case.stimulus, evidence),
        expectations=[
            *look(case.expect, evidence),
            *look_at_implied(evidence, case.expect, planted=planted),
        ],
        left=evidence.model.left if evidence else 0,
        leftover=case.leftover,
        ended_by=evidence.ended_by if evidence else "exit",
        troubles=troubles,
        kind=kind,
        aside=_aside(evidence) if evidence else "",
        beyond=evidence.model.beyond if evidence else 0,
    )


def _aside(evidence: Evidence) -> str:
    """How a subject ended that did not end well, and its last word on stderr if it had one."""
    said = b"" if evidence.stderr.capped else evidence.stderr.data  # else its end is not there
    lines = said.decode("utf-8", "replace").strip().splitlines()
    last = lines[-1][:200] if lines else ""
    if evidence.ended_by not in {"exit", "signal", "oom"} or evidence.exit_code == 0:
        return f"the subject's last line on stderr: {last}" if last else ""
    how = f"the subject ended with exit code {evidence.exit_code}"
    return f"{how}: {last}" if last else how
