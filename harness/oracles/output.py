"""``output``: what the subject printed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from harness.case.grammar import REGEX, regex, wanted
from harness.case.model import Params
from harness.evidence.model import Evidence, Output
from harness.extension import Schema
from harness.oracles.base import Finding, broken, held, unseen
from harness.oracles.seen import NOTHING_RAN, was_run
from harness.search import search
from sandboxes.base import Root

_SHOWN = 80
_AFTER_A_CUT = ("x", " ", "\n")


class Printed:
    """Searches one stream. What was cut off at the cap was not seen, so it proves nothing."""

    name = "output"
    summary = "A pattern is in the subject's output, or is not."
    schema: ClassVar[Schema] = {
        "type": "object",
        "properties": {
            "stream": {
                "enum": ["stdout", "stderr"],
                "default": "stdout",
                "description": "The stream to search.",
            },
            "matches": {**REGEX, "description": "A regular expression that must be found."},
            "lacks": {**REGEX, "description": "A regular expression that must not be found."},
        },
        "anyOf": [{"required": ["matches"]}, {"required": ["lacks"]}],
        "additionalProperties": False,
    }

    def parse(self, value: Any) -> Params:
        checks = {key: value[key] for key in ("matches", "lacks") if key in value}
        if "matches" in checks:
            wanted(checks["matches"])
        if "lacks" in checks:
            regex(checks["lacks"])
        return {"stream": value.get("stream", "stdout"), **checks}

    def judge(self, params: Params, evidence: Evidence) -> Finding:
        stream = params["stream"]
        output = evidence.stdout if stream == "stdout" else evidence.stderr
        expected = _in_words(params)
        if not was_run(evidence):
            return unseen(expected, NOTHING_RAN, stream)
        text = output.data.decode("utf-8", "replace")
        if "lacks" in params and (match := _found(params["lacks"], output, text)) is not None:
            return broken(expected, f"it has {match[:_SHOWN]!r}", stream)
        found = "matches" not in params or _found(params["matches"], output, text) is not None
        if output.capped and not (found and "lacks" not in params):
            seen = f"only the first {len(output.data)} of {output.total} bytes were kept"
            return unseen(expected, seen, stream)
        return (held if found else broken)(expected, _seen(output, text), stream)

    def final(self, params: Params) -> bool:
        return "lacks" in params

    def wants(self, params: Params) -> Sequence[tuple[Root, str]]:
        return ()


def _found(pattern: str, output: Output, text: str) -> str | None:
    """A match; before a cut, one that is there whether a letter, a blank or a line's end follows.

    So ``$`` and a word's end do not take the cut for an end. What a pattern looks ahead for
    further on is not known.
    """
    match = search(pattern, text)
    if match is None or not output.capped:
        return match
    sure = all(search(pattern, text + more) is not None for more in _AFTER_A_CUT)
    return match if sure else None


def _seen(output: Output, text: str) -> str:
    if not text:
        return "nothing was printed"
    return f"{output.total} bytes ending in {text[-_SHOWN:]!r}"


def _in_words(params: Params) -> str:
    parts = []
    if "matches" in params:
        parts.append(f"matches /{params['matches']}/")
    if "lacks" in params:
        parts.append(f"lacks /{params['lacks']}/")
    return f"{params['stream']} {' and '.join(parts)}"
