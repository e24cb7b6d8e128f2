"""The screen for a text that arrives in pieces, as a model's words and a program's output do.

What was given out cannot be taken back. So the end of what has come is held back while it can
still become a part of a secret: the last word, with the words that it touches over the ends of
lines; what announces a secret; a secret that goes on to the end. The rest is given out.
"""

from __future__ import annotations

import re

from runtime.screen.naming import folded
from runtime.screen.screen import Screen
from runtime.screen.spans import Span, replaced

_SLICE = 1 << 14  # characters that are taken in at once
_HELD = 1 << 14  # characters that are held back at most, and more for long given secrets
_HEAD = 1 << 9  # what is kept of a secret without an end: how it begins,
_TAIL = 1 << 12  # and where it is now
_NAME = 1 << 7  # in front of that, what tells how it is meant
_WIDEST = 8  # characters that one of a given secret can be written with

_SPACE = re.compile(r"\s")
_HEX = re.compile(r"(?:(?:0[xX])?[0-9A-Fa-f]{1,4}[:,-]?){0,64}(?:0[xX])?\Z")
_OPERATOR_BEFORE = re.compile(r"(?:[\"'`][+.&:]?|(?:\A|\s)[+.&]|\\)\Z")
_OPERATOR_AFTER = ("+", ".", "&", '"', "'", "`")
_ANNOUNCED = re.compile(
    r"(?:pass|pwd|secret|token|credential|key)[\w.-]{0,40}[\"'\])]{0,3}[ \t]*"
    r"(?:(?:=>|:=|==?|:|>)[ \t]*(?:[bfru]?\"(?:[^\"\\\n]|\\.)*+|[bfru]?'(?:[^'\\\n]|\\.)*+|`[^`\n]*+"
    r"|[^\s\"'`]*+)?|[^\s\"'`]*+)\Z"
    r"|(?:cookie|authorization|api-?key|-token)[\"']?[ \t]*[:=,].*\Z"
    r"|(?:bearer|basic)[ \t]*\S*\Z|\b(?:login|curl)\b.*\Z"
)
_KEY_LINE = re.compile(r"-{2}|BEGIN|PRIVATE|PuTTY|<RSA")
_KEY_LINE_LENGTH = 128


class StreamScreen:
    """Screens one text piece by piece.

    Args:
        screen: Finds the secrets.
    """

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._held = ""
        self._most = _HELD + _WIDEST * screen.longest_known

    def feed(self, piece: str) -> str:
        """Takes the next piece; returns what can be given out by now."""
        slices = range(0, len(piece), _SLICE)
        return "".join([self._take(piece[at : at + _SLICE]) for at in slices])

    def finish(self) -> str:
        """Returns what was held back; the text has ended."""
        held, self._held = self._held, ""
        return self._screen.text(held)

    def _take(self, piece: str) -> str:
        self._held += piece
        if len(self._held) <= self._most and not _SPACE.search(piece):
            return ""
        cut = settled(self._held, self._most)
        if cut == 0 and len(self._held) <= self._most:
            return ""
        return self._give(cut)

    def _give(self, cut: int) -> str:
        held = self._held
        spans = self._screen.spans(held)
        over = len(held) - cut > self._most
        if over and not _straddling(spans, len(held) - self._most // 2):
            cut = len(held) - self._most // 2
        while across := _straddling(spans, cut):
            cut = held.rfind("\n", 0, across.start) + 1  # what announces it stays with it
        self._held = held[cut:]
        if over and len(self._held) > self._most:
            self._shorten(spans, len(held) - self._most // 2, cut)
        given = replaced(held[:cut], [span for span in spans if span.end <= cut])
        return self._screen.text(given)

    def _shorten(self, spans: list[Span], at: int, cut: int) -> None:
        """Drops the middle of the secret that goes over ``at``: it will be one mark anyway."""
        across = _straddling(spans, at)
        if across is None:
            return
        start, end = across.start - cut + _HEAD, across.end - cut - _TAIL
        if start < end:
            self._held = self._held[:start] + self._held[end:]


def _straddling(spans: list[Span], at: int) -> Span | None:
    return next((span for span in spans if span.start < at <= span.end), None)


def settled(text: str, most: int) -> int:
    """Up to where no secret can begin that goes on past the end of the text.

    Args:
        text: What has come.
        most: Characters from the end that are looked at for words that touch.
    """
    at = _touching(text, most)
    line = max(text.rfind("\n", 0, at) + 1, at - 2 * most)
    if announced := _ANNOUNCED.search(folded(text[line:at])):
        start = line + announced.start()
        at = line if start - line <= _NAME else start - _NAME
    near = max(0, at - _KEY_LINE_LENGTH)
    key_line = _KEY_LINE.search(text, near, at)
    return key_line.start() if key_line else at


def _touching(text: str, most: int) -> int:
    """Where the last word begins, or the first of those that it touches."""
    at = _word(text, len(text))
    while at > 0 and len(text) - at <= most:
        end = len(text[max(0, at - most) : at].rstrip()) + max(0, at - most)
        start = _word(text, end)
        if not _touch(text[start:end], text[end:at], text[at : at + 64]):
            break
        at = start
    return at


def _word(text: str, end: int) -> int:
    """Where the word begins that ends at ``end``."""
    at = end
    while at > 0 and not text[at - 1].isspace():
        at -= 1
    return at


def _touch(before: str, gap: str, after: str) -> bool:
    if "\n" in gap or "\r" in gap or not before:
        return True
    word = after.split(maxsplit=1)[0] if after else ""
    if _HEX.match(before) and _HEX.match(word):
        return True
    return bool(_OPERATOR_BEFORE.search(before)) or word.startswith(_OPERATOR_AFTER)
