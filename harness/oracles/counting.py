"""What oracles share that hold a count against bounds: exactly, at least, at most."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from harness.case.grammar import GrammarError
from harness.case.model import Params
from harness.evidence.model import Evidence
from harness.oracles.base import Finding, broken, held, unseen
from harness.oracles.seen import NOTHING_RAN, unrecorded, was_run
from harness.plural import plural

#: Where the record of requests is.
REQUESTS: Final = "requests.jsonl"

_COUNT: Final = {"type": "integer", "minimum": 0}
_HINT: Final = "write at_least: 1 or more, or another bound"
#: Beside one of these even a lower bound of 0 can be broken.
_OTHERS: Final = frozenset({"exactly", "at_most", "beside", "count"})
_WORDS: Final = {"exactly": "exactly", "at_least": "at least", "at_most": "at most"}

#: Properties of a schema; :data:`ONE_BOUND` says that one of them must be written.
BOUNDS: Final[Mapping[str, Any]] = {
    "exactly": {**_COUNT, "description": "How often, exactly."},
    "at_least": {**_COUNT, "description": "How often at least."},
    "at_most": {**_COUNT, "description": "How often at most."},
}
ONE_BOUND: Final[list[Any]] = [{"required": [name]} for name in BOUNDS]


def bounds(value: Mapping[str, Any]) -> Params:
    """Those that a case wrote.

    Raises:
        GrammarError: every count is within them, and no second count stands beside.
    """
    if value.get("at_least") == 0 and not _OTHERS & value.keys():
        raise GrammarError(
            "every count is at least 0, so nothing could break it", "at_least", _HINT
        )
    return {name: value[name] for name in BOUNDS if name in value}


def too_many(params: Params, count: int) -> bool:
    """Whether there are more than may be, so that no more of them can make it right."""
    limits = [params[name] for name in ("exactly", "at_most") if name in params]
    return any(count > limit for limit in limits)


def within(params: Params, count: int) -> bool:
    """Whether a count is right."""
    least = max(params.get("at_least", 0), params.get("exactly", 0))
    return least <= count and not too_many(params, count)


def judged(
    params: Params, count: int, evidence: Evidence, expected: str, seen: str, shown: str
) -> Finding:
    """What comes of a count: too many break it whatever was run, too few only if something was.

    Args:
        params: with the bounds.
        count: of what is on record.
        evidence: of the trial.
        expected: in words.
        seen: in words.
        shown: where in the evidence it is seen.
    """
    if too_many(params, count):
        return broken(expected, seen, shown)
    if not was_run(evidence):
        return unseen(expected, NOTHING_RAN, shown)
    if shown == REQUESTS and (why := unrecorded(evidence)):
        return unseen(expected, why, shown)
    return (held if within(params, count) else broken)(expected, seen, shown)


def none_needed(params: Params) -> bool:
    """Whether 0 is right: then only too many can break it, which more time cannot mend."""
    return within(params, 0)


def in_words(params: Params, noun: str = "") -> str:
    """The bounds, as ``at least 1 and at most 3``, and of what: as ``exactly 1 message``."""
    written = [name for name in BOUNDS if name in params]
    numbers = [str(params[name]) for name in written]
    if noun:
        numbers[-1] = plural(params[written[-1]], noun)
    return " and ".join(f"{_WORDS[name]} {n}" for name, n in zip(written, numbers, strict=True))


def is_one(params: Params) -> bool:
    """Whether what follows the bounds in words is of one thing."""
    return bool([params[name] for name in BOUNDS if name in params][-1] == 1)
