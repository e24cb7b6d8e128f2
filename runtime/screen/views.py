"""Other forms of a text, each of which knows where its characters come from."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from functools import cached_property, partial
from itertools import accumulate

Piece = tuple[str, int, int]
"""Characters of the form, and where the part starts and ends that they were made of."""

_LONG_WORD = 20  # characters


class View:
    """A form of a text: what is written in it, and the way back.

    A piece of *n* characters that stands for *m* of the origin maps in proportion, rounded
    outwards. This is exact for what was copied, for an escape, for base64 and for hex.
    """

    def __init__(self, text: str, pieces: Callable[[], list[Piece]], origin: View | None) -> None:
        self.text = text
        self._origin = origin
        self._make_pieces = pieces

    @classmethod
    def of(cls, text: str) -> View:
        """The text as it is."""
        return cls(text, lambda: [(text, 0, len(text))], None)

    @classmethod
    def made(cls, pieces: list[Piece], origin: View) -> View:
        """What the pieces are together, of a form of a text."""
        return cls("".join(written for written, _, _ in pieces), lambda: pieces, origin)

    def source(self, start: int, end: int) -> tuple[int, int]:
        """What part of the first text became the characters from ``start`` to ``end``."""
        first = self._back(start, start)[0]
        last = self._back(end - 1, end)[1]
        return self._origin.source(first, last) if self._origin else (first, last)

    def joint(self, start: int, end: int) -> int | None:
        """Where the last piece begins that starts inside of ``start`` to ``end``."""
        at = self._at[bisect_right(self._at, end - 1) - 1]
        return at if at > start else None

    @cached_property
    def words(self) -> list[tuple[int, int]]:
        """Where the words are that are long enough to be a token, or to encode one."""
        found = []
        at = 0
        for word in self.text.split():
            if len(word) >= _LONG_WORD:
                at = self.text.index(word, at)
                found.append((at, at + len(word)))
                at += len(word)
        return found

    @cached_property
    def _pieces(self) -> list[Piece]:
        """Made only where something was found."""
        return [piece for piece in self._make_pieces() if piece[0]]

    @cached_property
    def _at(self) -> list[int]:
        return [0, *accumulate(len(written) for written, _, _ in self._pieces)][:-1]

    def _back(self, at: int, end: int) -> tuple[int, int]:
        number = bisect_right(self._at, at) - 1
        written, first, last = self._pieces[number]
        length, size, offset = len(written), last - first, self._at[number]
        return first + (at - offset) * size // length, first - (offset - end) * size // length


def rewritten(view: View, pattern: re.Pattern[str], undo: Callable[[re.Match[str]], str]) -> View:
    """The view with every match written as ``undo`` says; the same view if that is nothing new."""
    text = view.text
    new = pattern.sub(undo, text)
    return view if new == text else View(new, partial(_rewriting, text, pattern, undo), view)


def _rewriting(
    text: str, pattern: re.Pattern[str], undo: Callable[[re.Match[str]], str]
) -> list[Piece]:
    pieces: list[Piece] = []
    at = 0
    for match in pattern.finditer(text):
        start, end = match.span()
        pieces += ((text[at:start], at, start), (undo(match), start, end))
        at = end
    return [*pieces, (text[at:], at, len(text))]
