"""Default prices of models, for ``spend`` where a case brings none.

List prices in US dollars per million tokens, input and output, without discounts for caches
or batches, as of November 2026: those on which the makers' price pages
(platform.claude.com/docs/en/about-claude/pricing, developers.openai.com/api/docs/pricing)
and independent tables made from them agreed. They are there so that a case can say "at most
one dollar", not to check a bill; a model that is not listed has no price, and a case that
needs one gives it under ``prices``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

Price = tuple[float, float]

DEFAULT_PRICES: Mapping[str, Price] = {
    "claude-opus-4-1": (15.0, 75.0),
    "claude-opus-4-5": (5.0, 25.0),
    "claude-sonnet-4": (3.0, 15.0),
    "claude-sonnet-4-5": (3.0, 15.0),
    "claude-sonnet-5": (2.0, 10.0),
    "claude-haiku-4-5": (1.0, 5.0),
    "gpt-4.1": (2.0, 8.0),
    "gpt-4.1-mini": (0.4, 1.6),
    "gpt-4o": (2.5, 10.0),
    "gpt-4o-mini": (0.15, 0.6),
    "gpt-5": (1.25, 10.0),
    "gpt-5.2": (1.75, 14.0),
    "gpt-5-mini": (0.25, 2.0),
    "gpt-5-nano": (0.05, 0.4),
}

_DATED = re.compile(r"-(?:[0-9]{8}|[0-9]{4}-[0-9]{2}-[0-9]{2})$")


def price_of(model: str | None, prices: Mapping[str, Price]) -> Price | None:
    """The price of a model: the case's own, else the default, a date in its name ignored."""
    if model is None:
        return None
    plain = _DATED.sub("", model)
    for table in (prices, DEFAULT_PRICES):
        for name in (model, plain):
            if name in table:
                return table[name]
    return None
