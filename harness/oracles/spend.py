"""``spend``: what the model cost."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

from harness.case.model import Params
from harness.evidence.model import Evidence, Request
from harness.extension import Schema
from harness.oracles.base import Finding, broken, held, unseen
from harness.oracles.prices import price_of
from harness.oracles.seen import NOTHING_RAN, some, unrecorded, was_run
from sandboxes.base import Root

_EVIDENCE = "requests.jsonl"
_MILLION = 1_000_000


class Spend:
    """Adds up tokens and dollars as the model counted them, whatever the subject says.

    A request to a model without a price makes the sum unknown, unless what is known of it
    is too much already.
    """

    name = "spend"
    summary = "All requests to the model together cost no more than so much."
    schema: ClassVar[Schema] = {
        "type": "object",
        "properties": {
            "usd_at_most": {
                "type": "number",
                "minimum": 0,
                "description": "US dollars, by the case's `prices` or the default ones.",
            },
            "tokens_at_most": {
                "type": "integer",
                "minimum": 0,
                "description": "Tokens, input and output together.",
            },
        },
        "minProperties": 1,
        "additionalProperties": False,
    }

    def parse(self, value: Any) -> Params:
        return dict(value)

    def judge(self, params: Params, evidence: Evidence) -> Finding:
        asked = [r for r in evidence.requests if r.service == "model" and _tokens(r)]
        tokens = sum(map(_tokens, asked))
        usd, unpriced = _dollars(asked, evidence)
        expected = _in_words(params)
        seen = f"{tokens} tokens"
        if "usd_at_most" in params:
            seen += f", ${usd:.6f}"
        # a sum of floats that is right to the millionth is not above its limit
        if (
            tokens > params.get("tokens_at_most", tokens)
            or round(usd - params.get("usd_at_most", usd), 6) > 0
        ):
            return broken(expected, seen, _EVIDENCE)
        if not was_run(evidence):
            return unseen(expected, NOTHING_RAN, _EVIDENCE)
        if why := unrecorded(evidence):
            return unseen(expected, why, _EVIDENCE)
        if "usd_at_most" in params and unpriced:
            return unseen(expected, f"no price for {some(unpriced)}", _EVIDENCE)
        return held(expected, seen, _EVIDENCE)

    def final(self, params: Params) -> bool:
        return True

    def wants(self, params: Params) -> Sequence[tuple[Root, str]]:
        return ()


def _tokens(request: Request) -> int:
    return request.tokens_in + request.tokens_out


def _dollars(asked: Sequence[Request], evidence: Evidence) -> tuple[float, Sequence[str]]:
    """What is known of the sum, and the models that have no price."""
    millionths: list[float] = []
    unpriced = dict[str, None]()
    for request in asked:
        price = price_of(request.model, evidence.prices)
        if price is None:
            unpriced[request.model or "a request that names no model"] = None
        else:
            millionths += request.tokens_in * price[0], request.tokens_out * price[1]
    return math.fsum(millionths) / _MILLION, tuple(unpriced)


def _in_words(params: Params) -> str:
    parts = []
    if "usd_at_most" in params:
        parts.append(f"at most ${params['usd_at_most']:g}")
    if "tokens_at_most" in params:
        parts.append(f"at most {params['tokens_at_most']} tokens")
    return f"{' and '.join(parts)} spent at the model"
