"""Places of secrets in a text, and the marks that stand for them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

MARK = re.compile(r"\[redacted:[a-z0-9-]{1,40}\]")
MARK_HEAD = "[redacted:"


@dataclass(frozen=True, slots=True)
class Span:
    """Where a secret is written, in characters of the text, and what kind it is of."""

    start: int
    end: int
    kind: str

    @property
    def mark(self) -> str:
        """What is written in its place."""
        return mark(self.kind)


class Rank(NamedTuple):
    """Whose kind names a place that several rules found: the lowest."""

    rank: int
    kind: str


PRIVATE_KEY = Rank(0, "private-key")
KNOWN = 1
TOKEN = 2
CONTEXT = 3


class Found(NamedTuple):
    """A find, still in characters of the form of the text that was looked at."""

    start: int
    end: int
    what: Rank


def mark(kind: str) -> str:
    """What is written in place of something of this kind."""
    return f"{MARK_HEAD}{kind}]"


def merged(found: Iterable[Found]) -> list[Span]:
    """The finds as spans in order, those that overlap made one."""
    return [Span(start, end, what.kind) for start, end, what in _unions(sorted(found))]


def _unions(found: list[Found]) -> Iterator[Found]:
    last: Found | None = None
    for each in found:
        if last is not None and each.start < last.end:
            last = Found(last.start, max(last.end, each.end), min(last.what, each.what))
            continue
        if last is not None:
            yield last
        last = each
    if last is not None:
        yield last


def replaced(text: str, spans: Iterable[Span]) -> str:
    """The text with a mark in place of each span."""
    out: list[str] = []
    at = 0
    for span in spans:
        out += (text[at : span.start], span.mark)
        at = span.end
    return "".join((*out, text[at:]))
