"""Rules: what a line of evidence looks like, and what class it speaks for.

A pattern is a row of literals in lower case that stand in one line in this order, with ``*``
between them for anything. ``^`` in front ties the first to the start of the line (behind its
marks), ``$`` the last to its end, and ``~`` beside a literal keeps letters and digits off there.
Finding one takes a few searches for literals, so the cost grows with the text and never faster.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from runtime.recovery.classes import ESCALATES, FailureClass

REACH: Final = 600  # letters of a line that are looked at, on each side of the literal found
LAST: Final = 8  # places at which a literal is looked for, from the end of the text
FIRST: Final = 2  # and from its start


@dataclass(frozen=True, slots=True)
class Piece:
    """One literal of a pattern."""

    text: str
    free_before: bool
    free_after: bool

    @classmethod
    def read(cls, written: str) -> Piece:
        """Read a part of what a table says."""
        return cls(written.strip("~"), written.startswith("~"), written.endswith("~"))

    def find(self, lower: str, start: int, end: int) -> int:
        """Where it stands first between two places, or -1."""
        at = lower.find(self.text, start, end)
        while at >= 0 and not self._free(lower, at):
            at = lower.find(self.text, at + 1, end)
        return at

    def _free(self, lower: str, at: int) -> bool:
        behind = at + len(self.text)
        return not (
            (self.free_before and at and lower[at - 1].isalnum())
            or (self.free_after and behind < len(lower) and lower[behind].isalnum())
        )


@dataclass(frozen=True, slots=True)
class Pattern:
    """Literals in a row."""

    pieces: tuple[Piece, ...]
    at_start: bool
    at_end: bool
    key: str

    @classmethod
    def read(cls, written: str) -> Pattern:
        """Read what a table says."""
        body = written.removeprefix("^").removesuffix("$")
        pieces = tuple(Piece.read(part) for part in body.split("*") if part)
        key = max((piece.text for piece in pieces), key=len)
        return cls(pieces, written.startswith("^"), written.endswith("$"), key)

    def match(self, lower: str, start: int, body: int, end: int) -> tuple[int, int] | None:
        """Where it stands in a line, whose text behind its marks begins at `body`."""
        first = self.pieces[0]
        if self.at_start:
            at = next((p for p in (body, start) if lower.startswith(first.text, p)), -1)
        else:
            at = first.find(lower, start, end)
        if at < 0:
            return None
        behind = at + len(first.text)
        for piece in self.pieces[1:]:
            found = piece.find(lower, behind, end)
            if found < 0:
                return None
            behind = found + len(piece.text)
        if self.at_end and lower[behind:end].strip(" .;)'\""):
            return None
        return at, behind


@dataclass(frozen=True, slots=True)
class Rule:
    """What speaks for a class.

    Attributes:
        name: unique among all rules, ``theme.what``.
        cls: the class.
        rank: 3 names the cause, 2 is an ordinary message, 1 is a word that others use as well.
        written: the patterns; one is enough.
        without: literals that must not stand in the line.
        near: literals of which one must stand anywhere in the text.
    """

    name: str
    cls: FailureClass
    rank: int
    written: tuple[str, ...]
    without: tuple[str, ...] = ()
    near: tuple[str, ...] = ()
    patterns: tuple[Pattern, ...] = field(init=False)
    barred: tuple[Piece, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "patterns", tuple(map(Pattern.read, self.written)))
        object.__setattr__(self, "barred", tuple(map(Piece.read, self.without)))

    @property
    def weight(self) -> tuple[int, bool, bool]:
        """What decides between rules for one line: rank, what stands near, that it escalates."""
        return self.rank, bool(self.near), self.cls in ESCALATES


def places(key: str, lower: str) -> Iterator[int]:
    """Where a literal stands: the last places and the first ones, each once."""
    seen: set[int] = set()
    at = len(lower)
    for _ in range(LAST):
        at = lower.rfind(key, 0, at + len(key) - 1) if at else -1
        if at < 0:
            return
        seen.add(at)
        yield at
    at = -1
    for _ in range(FIRST):
        at = lower.find(key, at + 1)
        if at < 0 or at in seen:
            return
        yield at
