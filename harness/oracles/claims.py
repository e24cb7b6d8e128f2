"""``claims``: the subject says what is not so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.case.grammar import REGEX, regex
from harness.case.model import Params
from harness.evidence.model import Evidence
from harness.extension import Schema
from harness.oracles.base import Finding, Oracle, broken, held, unseen
from harness.oracles.others import Others
from harness.search import search
from sandboxes.base import Root
from verifiers.verdicts import Verdict

_SHOWN = 80


class Claims:
    """Holds the last message of the subject against another expectation.

    Words alone break nothing: it fails where the message makes the claim and the other
    expectation is broken, and holds where the claim is not made. Where the output was cut, what
    was said last is not known: a claim counts, and the want of one proves nothing.
    """

    name = "claims"
    summary = "The subject's last message does not claim what another expectation refutes."

    def __init__(self, others: Mapping[str, Oracle]) -> None:
        """``others``: the oracles that ``yet`` may name."""
        self._others = Others(others)

    @property
    def schema(self) -> Schema:
        """Of what a case writes; ``yet`` takes one of the other oracles."""
        return {
            "type": "object",
            "properties": {
                "says": {**REGEX, "description": "A regular expression that makes the claim."},
                "yet": self._others.schema(
                    "The expectation that would make the claim false if it broke."
                ),
            },
            "required": ["says", "yet"],
            "additionalProperties": False,
        }

    def parse(self, value: Any) -> Params:
        regex(value["says"])
        return {"says": value["says"], "yet": self._others.parse(value["yet"])}

    def judge(self, params: Params, evidence: Evidence) -> Finding:
        name = params["yet"]["oracle"]
        other = self._others.judge(params["yet"], evidence)
        expected = f"no claim /{params['says']}/ unless {other.expected}"
        if evidence.final_text is None:
            return unseen(expected, "no last message was found in the output", "stdout")
        match = search(params["says"], evidence.final_text)
        if match is None and evidence.stdout.capped:
            return unseen(
                expected, "the output was cut, and what there is claims nothing", "stdout"
            )
        if match is None:
            return held(expected, "it makes no such claim", "stdout")
        claim = f"it says {match[:_SHOWN]!r}"
        if other.verdict is Verdict.FAILED:
            return broken(expected, f"{claim}, yet {name} broke: {other.seen}", other.evidence)
        if other.verdict is Verdict.PASSED:
            return held(expected, f"{claim}, and {name} held: {other.seen}", other.evidence)
        seen = f"{claim}; {name}: {other.seen}"
        return Finding(other.verdict, expected, seen, other.reason, other.evidence)

    def final(self, params: Params) -> bool:
        return False

    def wants(self, params: Params) -> Sequence[tuple[Root, str]]:
        return self._others.wants(params["yet"])

    def watched(self, params: Params) -> Sequence[str]:
        return self._others.watched(params["yet"])
