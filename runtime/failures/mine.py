"""Classifies a corpus and counts: how often each class, and what the unclassified look like."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from runtime.failures.masks import masked
from runtime.failures.records import BadLine, Record
from runtime.recovery.classes import Classified, Failure, FailureClass
from runtime.recovery.classify import classify

KINDS: Final = 50_000  # of unclassified failures that are told apart; bounds the memory
END: Final = 4096  # characters in which a line is looked for
SILENT: Final = "(no output)"

Screen = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Cluster:
    """Unclassified failures that look alike.

    Attributes:
        looks: their line, masked.
        count: how many there are.
        example: the id of the first.
    """

    looks: str
    count: int
    example: str


@dataclass(slots=True)
class Mine:
    """What was found so far.

    Attributes:
        counts: records by class.
        bad: lines that are no records.
        other: unclassified records beyond the kinds that are told apart.
    """

    counts: Counter[FailureClass] = field(default_factory=Counter)
    bad: int = 0
    other: int = 0
    _looks: Counter[str] = field(default_factory=Counter)
    _first: dict[str, str] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """How many records there were."""
        return self.counts.total()

    def share(self, cls: FailureClass) -> float:
        """A class's part of all records, from 0 to 1."""
        return self.counts[cls] / self.total if self.total else 0.0

    def clusters(self, most: int) -> list[Cluster]:
        """The largest clusters of unclassified failures, the larger first, equals by their looks."""
        ordered = sorted(self._looks.items(), key=lambda item: (-item[1], item[0]))
        return [Cluster(looks, count, self._first[looks]) for looks, count in ordered[:most]]

    def take(self, record: Record, found: Classified) -> None:
        """Count a record."""
        self.counts[found.cls] += 1
        if found.cls is not FailureClass.UNKNOWN:
            return
        looks = masked(_line(record.failure, found)) or SILENT
        if looks not in self._looks and len(self._looks) >= KINDS:
            self.other += 1
            return
        self._looks[looks] += 1
        self._first.setdefault(looks, record.id)


def mined(
    lines: Iterable[Record | BadLine], into: Mine
) -> Iterator[tuple[Record, Classified] | BadLine]:
    """Classify records as they come, and count them.

    Args:
        lines: of the corpus.
        into: what to count them in.

    Yields:
        Each record with its class, each bad line as it is.
    """
    for line in lines:
        if isinstance(line, BadLine):
            into.bad += 1
            yield line
            continue
        found = classify(line.failure)
        into.take(line, found)
        yield line, found


def document(record: Record, found: Classified, screen: Screen = masked) -> dict[str, object]:
    """A record's class for machines; the text that decided is screened."""
    span = found.span
    return {
        "id": record.id,
        "class": found.cls.value,
        "span": span
        and {
            "stream": span.stream,
            "start": span.start,
            "end": span.end,
            "text": screen(span.text),
        },
        "rule": found.rule,
    }


def _line(failure: Failure, found: Classified) -> str:
    """The line that decided, or the last one that says something."""
    if span := found.span:
        stream = str(failure.error if span.stream == "error" else failure.output)
        begin = stream.rfind("\n", max(span.start - END, 0), span.start) + 1
        return stream[begin : begin + END].split("\n", 1)[0]
    for given in (failure.error, failure.output):
        if said := [line for line in str(given[-END:]).splitlines() if line.strip()]:
            return said[-1]
    return ""
