"""Weigh the evidence of both streams and name one class.

The error stream decides before the normal output, the cause before what wraps it, the last error
before earlier ones. What nothing speaks for, or an error that nobody knows, is unknown.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from runtime.recovery.classes import ESCALATES, Classified, Failure, FailureClass, Span
from runtime.recovery.classify.exits import by_exit
from runtime.recovery.classify.index import Index
from runtime.recovery.classify.lines import Line, Role, line_at, lines_of
from runtime.recovery.classify.rules import Rule, places
from runtime.recovery.classify.table import RULES, WRAPPERS
from runtime.recovery.classify.text import Text, taken

_INDEX: Final = Index(RULES)
NEIGHBOURS: Final = 3  # lines that tell of the same event
FAR: Final = 8  # lines after which a later error is an event of its own

_WENT_WELL: Final = re.compile(
    r"\b(?:ok|done|connected|succeeded|success|is up|is ready|ready|recovered|passed|established|went through)\b"
)
_NOT: Final = re.compile(r"\b(?:not|no|isn't|never|un\w+)\b")
_NAMES: Final = re.compile(r"\b(?:name|titled?|called|named|text|label|test|page|rule|key|case) $")
_QUOTES: Final = "\"'`"
_ANOTHER: Final = "during handling of the above exception"


@dataclass(frozen=True, slots=True)
class Evidence:
    """A rule that found its words."""

    rule: Rule
    line: Line
    start: int
    end: int

    @property
    def score(self) -> int:
        """How much it weighs in its stream."""
        return self.rule.rank + self.line.role


def classify(failure: Failure) -> Classified:
    """Name the class of a failed tool call.

    Args:
        failure: the call; its streams are neither copied nor decoded beyond their ends.

    Returns:
        The class, with the text that decided where text did.
    """
    error = taken(failure.error)
    lines = lines_of(error, searched=False)
    if found := _in_error(error, lines):
        return found
    told = any(line.role > Role.WARNING and not _wraps(line) for line in lines)
    return _in_output(taken(failure.output), told=told) or by_exit(failure)


def _in_error(text: Text, lines: Sequence[Line]) -> Classified | None:
    evidence = _evidence(text, searched=False)
    best = _best(evidence, lines)
    stranger = _stranger(lines, evidence)
    if best is None:
        return _unnamed(stranger, "error")
    if stranger and _overrules(stranger, best, lines):
        return _unnamed(stranger, "error")
    return _told(best, "error")


def _in_output(text: Text, *, told: bool) -> Classified | None:
    """What the normal output says: in what it marks, in what names a cause, or at its end.

    Args:
        text: the output.
        told: whether the error stream said something that no rule knows.
    """
    evidence = _evidence(text, searched=True)
    if not evidence:
        return None
    lines = lines_of(text, searched=True)
    end = len(text.lower) if told else lines[-FAR].start if len(lines) > FAR else 0
    sound = [found for found in evidence if _sound(found, end)]
    best = _best(sound, lines)
    if best is None:
        return None
    stranger = _stranger(lines, evidence)
    plain = best.line.role is not Role.MARKED
    if stranger and (plain or _ANOTHER in text.lower) and stranger.start > best.line.start:
        return _unnamed(stranger, "output")
    return _told(best, "output")


def _sound(found: Evidence, end: int) -> bool:
    """Whether a line of normal output states a failure and does not just speak of one."""
    if found.line.role is Role.MARKED or found.rule.rank > 2:
        return True
    quoted = found.start > 0 and found.line.text.lower[found.start - 1] in _QUOTES
    return found.start >= end and not quoted


def _evidence(text: Text, *, searched: bool) -> list[Evidence]:
    """The best rule of each line that has one, in the order of the lines."""
    by_line: dict[int, Evidence] = {}
    for rule, pattern in _INDEX.possible(text.lower):
        for place in places(pattern.key, text.lower):
            line = line_at(text, place, searched=searched)
            hit = pattern.match(text.lower, line.start, line.body, line.end)
            if hit and _allowed(rule, line) and not _named(text.lower, *hit):
                _keep(by_line, Evidence(rule, line, *hit))
    return [by_line[end] for end in sorted(by_line) if by_line[end].line.role is not Role.NARRATION]


def _allowed(rule: Rule, line: Line) -> bool:
    lower = line.text.lower
    if any(piece.find(lower, line.start, line.end) >= 0 for piece in rule.barred):
        return False
    return not rule.near or any(word in lower for word in rule.near)


def _named(lower: str, start: int, end: int) -> bool:
    """Whether the words stand in quotes as the name of something: ``the page "access denied"``."""
    return (
        start > 0
        and lower[start - 1] in _QUOTES
        and lower[end : end + 1] == lower[start - 1]
        and _NAMES.search(lower[max(start - 12, 0) : start - 1]) is not None
    )


def _keep(by_line: dict[int, Evidence], found: Evidence) -> None:
    kept = by_line.get(found.line.end)
    if kept is None or kept.rule.weight < found.rule.weight:
        by_line[found.line.end] = found


def _best(evidence: Sequence[Evidence], lines: Sequence[Line]) -> Evidence | None:
    """The heaviest that is no story of something that went on; the last of equals."""
    over = _over(lines)
    standing = [
        found
        for found in evidence
        if found.score > 0 and (found.line.role is Role.MARKED or found.line.start > over)
    ]
    if not standing:
        return None
    heaviest = max(found.score for found in standing)
    equals = [found for found in standing if found.score == heaviest]
    return _escalating(equals, lines)


def _escalating(equals: Sequence[Evidence], lines: Sequence[Line]) -> Evidence:
    """The last, or one beside it that weighs the same and escalates."""
    last = equals[-1]
    if last.rule.cls in ESCALATES:
        return last
    for found in equals[-NEIGHBOURS - 1 : -1]:
        near = _distance(found.line, last.line, lines) <= NEIGHBOURS
        if near and found.rule.cls in ESCALATES:
            return found
    return last


def _over(lines: Sequence[Line]) -> int:
    """Where the last success stands that an error came after; statements before it are over."""
    failed = False
    for line in reversed(lines):
        words = line.text.lower[line.body : line.end]
        if line.role is Role.MARKED:
            failed = True
        elif failed and _WENT_WELL.search(words) and not _NOT.search(words):
            return line.start
    return -1


def _stranger(lines: Sequence[Line], evidence: Sequence[Evidence]) -> Line | None:
    """The last marked error that no rule knows and that wraps no other."""
    known = {found.line.end for found in evidence}
    for line in reversed(lines):
        if line.end not in known and line.role is Role.MARKED and not _wraps(line):
            return line
    return None


def _wraps(line: Line) -> bool:
    lower = line.text.lower
    return any(
        pattern.key in lower and pattern.match(lower, line.start, line.body, line.end)
        for pattern in WRAPPERS
    )


def _overrules(stranger: Line, best: Evidence, lines: Sequence[Line]) -> bool:
    """Whether an unknown error came later, as an event of its own."""
    if stranger.start < best.line.start:
        return False
    between = stranger.text.lower[best.line.end : stranger.start]
    if _ANOTHER in between:
        return True
    if best.line.role is Role.MARKED or best.rule.rank > 2:
        return False
    return _distance(best.line, stranger, lines) > FAR


def _distance(one: Line, other: Line, lines: Sequence[Line]) -> int:
    """How many lines the second is behind the first."""
    place = bisect_right(lines, one.start, key=_start)
    return bisect_right(lines, other.start, key=_start) - place


def _start(line: Line) -> int:
    return line.start


def _told(found: Evidence, stream: Literal["error", "output"]) -> Classified:
    span = _span(found.line.text, stream, found.start, found.end)
    return Classified(found.rule.cls, span, found.rule.name)


def _unnamed(line: Line | None, stream: Literal["error", "output"]) -> Classified | None:
    if line is None:
        return None
    span = _span(line.text, stream, line.body, line.end)
    return Classified(FailureClass.UNKNOWN, span, "error.of-its-own")


def _span(text: Text, stream: Literal["error", "output"], start: int, end: int) -> Span:
    return Span(stream, *text.span(start, end), text.clean[start:end])
