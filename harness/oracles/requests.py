"""``requests``: how often a service was asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from harness.case.model import Params
from harness.evidence.model import Evidence, Request
from harness.extension import Schema
from harness.oracles import asked, counting
from harness.oracles.base import Finding
from sandboxes.base import Root


class Requests:
    """Counts the requests on record, retries, cut and refused ones among them.

    Requests beyond the model's script count only where ``kind: beyond`` asks for them.
    """

    name = "requests"
    summary = "A service was asked so often."
    schema: ClassVar[Schema] = {
        "type": "object",
        "properties": {"service": asked.SERVICE, **counting.BOUNDS, **asked.FILTER},
        "anyOf": counting.ONE_BOUND,
        "additionalProperties": False,
    }

    def parse(self, value: Any) -> Params:
        return {**counting.bounds(value), **asked.parse(value)}

    def judge(self, params: Params, evidence: Evidence) -> Finding:
        counted = [request for request in evidence.requests if asked.fits(params, request)]
        words = asked.in_words(params, one=counting.is_one(params))
        expected = f"{counting.in_words(params)} {words}"
        seen = f"{len(counted)}{_which(counted)}"
        return counting.judged(params, len(counted), evidence, expected, seen, counting.REQUESTS)

    def final(self, params: Params) -> bool:
        return counting.none_needed(params)

    def wants(self, params: Params) -> Sequence[tuple[Root, str]]:
        return ()


def _which(counted: Sequence[Request]) -> str:
    if not counted:
        return ""
    ends = sorted({request.ended for request in counted} - {"whole"})
    numbers = f"numbers {counted[0].seq} to {counted[-1].seq}"
    return f" ({numbers}{', some ' + ' and '.join(ends) if ends else ''})"
