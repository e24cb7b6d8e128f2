"""``escalations``: how often the subject turned to a person."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Final

from harness.case.grammar import REGEX, GrammarError, regex
from harness.case.model import Params
from harness.evidence.model import Evidence
from harness.extension import Schema
from harness.oracles import counting
from harness.oracles.base import Finding, broken, held, unseen
from harness.oracles.file import locate
from harness.search import search
from sandboxes.base import Root
from verifiers.verdicts import Verdict

FILE: Final = "file:"
_SHOWN: Final = 80


class Escalations:
    """Counts messages that reached a person, as the service has them on its own record.

    A message that was refused, or that a fault answered instead of the service, reached
    nobody; one whose reply was lost did. A file of the subject proves nothing but itself: each
    of its lines that is not blank counts as one, and it has to be right as well as the record.
    """

    name = "escalations"
    summary = "The subject turned to a person so often, by messages that reached a chat service."
    schema: ClassVar[Schema] = {
        "type": "object",
        "properties": {
            "count": {**counting.BOUNDS["exactly"], "description": "How many, exactly."},
            "at_least": {**counting.BOUNDS["at_least"], "description": "How many at least."},
            "at_most": {**counting.BOUNDS["at_most"], "description": "How many at most."},
            "reason": {
                **REGEX,
                "description": "Only messages in which this is found.",
                "examples": ["(?i)need approval"],
            },
            "sinks": {
                "type": "array",
                "items": {
                    "type": "string",
                    "description": "A chat service, or `file:PATH`.",
                    "minLength": 1,
                    "examples": ["telegram", "file:escalations.jsonl"],
                },
                "minItems": 1,
                "uniqueItems": True,
                "description": "Where they go: chat services of the case, by default all; and "
                "beside one of these, files in which the subject keeps its own record, as "
                "`file:PATH`, each of which has to show as many.",
            },
            "distinct": {
                "type": "boolean",
                "default": False,
                "description": "Whether what is said again to the same sink counts once.",
            },
        },
        "anyOf": [{"required": [name]} for name in ("count", "at_least", "at_most")],
        "additionalProperties": False,
    }

    def parse(self, value: Any) -> Params:
        if "reason" in value:
            regex(value["reason"])
        sinks = value.get("sinks", ())
        files = [sink for sink in sinks if sink.startswith(FILE)]
        for sink in files:
            locate(sink.removeprefix(FILE))
        if files and len(files) == len(sinks):
            hint = "name a chat service of the case beside it"
            raise GrammarError("alone would have the subject believed", files[0], hint)
        bounds = {"exactly": value["count"]} if "count" in value else {}
        return {
            **bounds,
            **counting.bounds(value),
            "reason": value.get("reason", ""),
            "services": [sink for sink in sinks if sink not in files],
            "files": [sink.removeprefix(FILE) for sink in files],
            "distinct": value.get("distinct", False),
        }

    def judge(self, params: Params, evidence: Evidence) -> Finding:
        expected = _in_words(params)
        taken = _taken(params, evidence)
        seen = _seen(taken)
        outside = counting.judged(params, len(taken), evidence, expected, seen, counting.REQUESTS)
        if outside.verdict is not Verdict.PASSED:
            return outside
        return _beside(params, evidence, outside)

    def final(self, params: Params) -> bool:
        return counting.none_needed(params)

    def wants(self, params: Params) -> Sequence[tuple[Root, str]]:
        return [locate(path) for path in params["files"]]


def _taken(params: Params, evidence: Evidence) -> Sequence[tuple[str, str]]:
    """The messages on record that count, each with its service."""
    found = [
        (request.service, request.message)
        for request in evidence.requests
        if request.message is not None and _asked_for(params["services"], request.service)
    ]
    return _counted(params, found)


def _asked_for(services: Sequence[str], service: str) -> bool:
    return not services or service in services


def _counted(params: Params, said: Sequence[tuple[str, str]]) -> Sequence[tuple[str, str]]:
    chosen = [(sink, text) for sink, text in said if _found(params["reason"], text)]
    return list(dict.fromkeys(chosen)) if params["distinct"] else chosen


def _found(pattern: str, text: str) -> bool:
    return not pattern or search(pattern, text) is not None


def _beside(params: Params, evidence: Evidence, outside: Finding) -> Finding:
    """What holds outside, and whether the subject's own files fit it: one that does not decides."""
    seen, unread = outside.seen, ""
    for path in params["files"]:
        data = _contents(path, evidence)
        if data is None:
            seen, unread = f"{seen}; {path} could not be read", unread or path
            continue
        count = len(_counted(params, [(path, text) for text in _entries(data)]))
        seen = f"{seen}; {count} in {path}"
        if not counting.within(params, count):
            return broken(outside.expected, seen, f"files.json#{path}")
    if unread:
        return unseen(outside.expected, seen, f"files.json#{unread}")
    return held(outside.expected, seen, outside.evidence)


def _contents(path: str, evidence: Evidence) -> bytes | None:
    """Of a file; one that is not there has none, ``None`` is what could not be read."""
    key = locate(path)
    if key in evidence.paths and evidence.paths[key] is None:
        return b""
    return evidence.contents.get(key)


def _entries(data: bytes) -> Iterator[str]:
    """What each line says: the texts of a JSON map, or the line itself."""
    for line in data.decode("utf-8", "replace").split("\n"):
        if not line.strip():
            continue
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            entry = None
        yield "\n".join(_texts(entry)) if isinstance(entry, dict) else line


def _texts(entry: Any) -> Iterator[str]:
    waiting = [entry]
    while waiting:
        inner = waiting.pop()
        if isinstance(inner, str):
            yield inner
        elif isinstance(inner, dict | list):
            waiting += reversed(list(inner.values() if isinstance(inner, dict) else inner))


def _seen(taken: Sequence[tuple[str, str]]) -> str:
    if not taken:
        return "0 on record"
    service, text = taken[0]
    first = f"{text[:_SHOWN]!r}{'…' if len(text) > _SHOWN else ''}"
    return f"{len(taken)} on record, the first to {service}: {first}"


def _in_words(params: Params) -> str:
    words = (
        f"{counting.in_words(params, 'different ' * params['distinct'] + 'message')} to a person"
    )
    sinks = [*params["services"], *params["files"]]
    words += f" ({', '.join(sinks)})" if sinks else ""
    return words + (f" that match {params['reason']!r}" if params["reason"] else "")
