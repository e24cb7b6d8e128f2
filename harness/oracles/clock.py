"""``clock``: what became of the wall clocks, inside and outside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from harness.case.model import Params
from harness.evidence.model import Evidence
from harness.extension import Schema
from harness.oracles import counting
from harness.oracles.base import Finding, broken, held, unseen
from harness.oracles.seen import NOTHING_RAN, some, was_run
from sandboxes.base import Root
from verifiers.verdicts import Verdict

_EVIDENCE: Final = "evidence.json#/clocks"
#: What a daemon that keeps time may set the host's clock by, seconds.
TOLERANCE: Final = 0.1


class Clock:
    """Looks at the host's clock, which no trial may move, and at reads of the one shown inside.

    A daemon that slews the host's clock moves both clocks that are compared, so only setting it
    shows. Reads by programs that are linked statically are not seen: they read the kernel's clock.
    """

    name = "clock"
    summary = "The host's clock stayed as it was; programs inside read the clock that was set."
    schema: ClassVar[Schema] = {
        "type": "object",
        "properties": {
            "isolated": {
                "const": True,
                "description": f"The host's wall clock was not set, by more than {TOLERANCE:g} s, "
                "while the trial lived.",
            },
            "read": {
                "type": "object",
                "description": "How often the clock that the case set or a fault moved was read.",
                "properties": {
                    **counting.BOUNDS,
                    "program": {
                        "type": "string",
                        "minLength": 1,
                        "maxLength": 15,
                        "description": "Only by the program of this name; the kernel knows the "
                        "first 15 letters of it.",
                    },
                },
                "anyOf": counting.ONE_BOUND,
                "additionalProperties": False,
            },
        },
        "anyOf": [{"required": ["isolated"]}, {"required": ["read"]}],
        "additionalProperties": False,
    }

    def parse(self, value: Any) -> Params:
        return dict(value)

    def judge(self, params: Params, evidence: Evidence) -> Finding:
        findings = []
        if "isolated" in params:
            findings.append(_isolated(evidence))
        if "read" in params:
            findings.append(_read(params["read"], evidence))
        return _all(findings)

    def final(self, params: Params) -> bool:
        return "read" not in params or counting.none_needed(params["read"])

    def wants(self, params: Params) -> Sequence[tuple[Root, str]]:
        return ()


def _isolated(evidence: Evidence) -> Finding:
    expected, moved = "the host's wall clock not set", evidence.clocks.host_moved
    if moved is None:
        return unseen(expected, "nobody looked at the host's wall clock", _EVIDENCE)
    if moved > TOLERANCE:
        return broken(expected, f"set by {moved:.3f} s", _EVIDENCE)
    if not was_run(evidence):
        return unseen(expected, NOTHING_RAN, _EVIDENCE)
    return held(expected, f"set by {moved:.3f} s", _EVIDENCE)


def _read(params: Mapping[str, Any], evidence: Evidence) -> Finding:
    reads, program = evidence.clocks.reads, params.get("program")
    expected = f"{counting.in_words(params, 'read')} of the clock inside"
    expected += f" by {program}" if program else ""
    if reads is None:
        return unseen(expected, "no clock was set inside", _EVIDENCE)
    count = reads.get(program, 0) if program else sum(reads.values())
    seen = some([f"{name} {number}x" for name, number in sorted(reads.items())]) or "none"
    return counting.judged(params, count, evidence, expected, seen, _EVIDENCE)


def _all(findings: Sequence[Finding]) -> Finding:
    """One finding for all: what broke decides, then what was not seen."""
    expected = " and ".join(finding.expected for finding in findings)
    seen = "; ".join(finding.seen for finding in findings)
    verdicts = {finding.verdict for finding in findings}
    if Verdict.FAILED in verdicts:
        return broken(expected, seen, _EVIDENCE)
    return (unseen if Verdict.UNAVAILABLE in verdicts else held)(expected, seen, _EVIDENCE)
