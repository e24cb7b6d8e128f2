"""Checks a log: every line signed, in its place, and holding the digest of the one before."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from securesystemslib.signer import Key

from verifiers.seals.envelope import Statement, Unsound, opened
from verifiers.seals.form import seconds

#: ``prev`` of a first line.
NOTHING = "0" * 64
#: Seconds that a clock may go back between two lines: what keeps it right may do so.
TOLERANCE = 2.0
#: Unsound lines after which a log is not read on: it is something else.
MOST_UNSOUND = 1000


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that is not as it was sealed.

    Attributes:
        file: relative to the run's folder, or absolute where it lies elsewhere.
        expected: what should be there.
        seen: what is.
        record: number of the line in a log; ``None`` where it is no matter of one.
    """

    file: str
    expected: str
    seen: str
    record: int | None = None

    def __str__(self) -> str:
        place = self.file if self.record is None else f"{self.file}, record {self.record}"
        return f"{place}: expected {self.expected}; there is {self.seen}"

    @property
    def document(self) -> dict[str, str | int | None]:
        """As ``--json`` prints it."""
        return {
            "file": self.file,
            "record": self.record,
            "expected": self.expected,
            "seen": self.seen,
        }


@dataclass(slots=True)
class Chain:
    """A log that was read.

    Attributes:
        lines: as they are, without their ends.
        torn: what comes after the last end of a line.
        records: the statements in them; ``None`` where a line is unsound.
        problems: everything that is wrong with it.
    """

    lines: list[bytes] = field(default_factory=list)
    torn: bytes = b""
    records: list[Statement | None] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    @property
    def head(self) -> str:
        """SHA-256 of the last line."""
        return sha256(self.lines[-1]) if self.lines else NOTHING


def sha256(data: bytes) -> str:
    """64 hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def read(data: bytes, key: Key, file: str, mends: Sequence[str] = ()) -> Chain:
    """Check a log.

    Args:
        data: all of it.
        key: with which every line was signed.
        file: how to call it.
        mends: events that take the clock as it is: the time may go back with them.
    """
    chain = Chain()
    for line in io.BytesIO(data):
        if not line.endswith(b"\n"):
            chain.torn = line
        elif len(chain.problems) == MOST_UNSOUND:
            chain.problems.append(_unread(chain, file))
            break
        else:
            _take(line[:-1], chain, key, file)
    chain.problems += _displaced(chain, file)
    chain.problems += _back_in_time(chain, file, mends)
    if chain.torn:
        seen = f"{len(chain.torn)} bytes without"
        chain.problems.append(Problem(file, "a line with its end", seen, len(chain.lines)))
    chain.problems.sort(key=lambda problem: problem.record or 0)
    return chain


def _take(line: bytes, chain: Chain, key: Key, file: str) -> None:
    try:
        chain.records.append(opened(line, key))
    except Unsound as error:
        chain.records.append(None)
        chain.problems.append(Problem(file, error.expected, error.seen, len(chain.lines)))
    chain.lines.append(line)


def _unread(chain: Chain, file: str) -> Problem:
    seen = f"{MOST_UNSOUND} others before it; from here on it was not read"
    return Problem(file, "signed lines", seen, len(chain.lines))


def _displaced(chain: Chain, file: str) -> Iterator[Problem]:
    """Lines that are not where they were, and lines of which the next one knows another form."""
    awaited, prev = 0, NOTHING
    for line, record in zip(chain.lines, chain.records, strict=True):
        seq, before = place_of(record) if record else (awaited, prev)
        if seq != awaited:
            yield Problem(file, f"record {awaited} here", f"record {seq}", awaited)
        elif before != prev:
            wanted = f"a line with SHA-256 {before}, as record {awaited} says"
            yield Problem(file, wanted, f"one with {prev}", max(awaited - 1, 0))
        awaited, prev = seq + 1, sha256(line)


def place_of(record: Statement) -> tuple[int, str]:
    """The number of a line, and the SHA-256 of the one before it."""
    place = record["predicate"]["log"]
    return place["seq"], place["prev"]


def _back_in_time(chain: Chain, file: str, mends: Sequence[str]) -> Iterator[Problem]:
    latest = ""
    for number, record in enumerate(chain.records):
        if record is None:
            continue
        at = record["predicate"]["log"]["at"]
        mended = record["predicate"].get("event") in mends
        if latest and not mended and seconds(at) < seconds(latest) - TOLERANCE:
            yield Problem(file, f"a time from {latest} on", at, number)
        latest = at


def went_back(last: float, now: float) -> bool:
    """Whether the clock stands before what is on record, by more than it may."""
    return now < last - TOLERANCE
