"""Text of a trial, made harmless to look at: nothing in it is markup, and nothing is invisible.

What cannot be seen (controls, directions, joiners, fillers, odd spaces, half characters, piled-up
accents) is spelled out: as a mark where elements can stand, in brackets where only text can.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from markupsafe import Markup, escape

_SPELLED = {"\0": "\\0", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
#: Printable by Unicode's categories, and yet nothing is to be seen.
_BLANK = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"
    "\U000e0100-\U000e01ef]"
)
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff]")
#: Runs that may hold such; all else is printable, and no accent.
_ODD = re.compile("[^ -~\u00a1-\u00ac\u00ae-\u02ff\u2010-\u2027\u2030-\u205e\u2190-\u23ff]+")
_ACCENTS = 2


@dataclass(frozen=True, slots=True)
class Folded:
    """A text of any length: what is shown at once, what is behind a fold, what is left out.

    Attributes:
        head: shown at once; all of a short text.
        rest: behind the fold.
        left: how many characters are not in the report.
    """

    head: str
    rest: str = ""
    left: int = 0


def fold(text: str, head: int, most: int) -> Folded:
    """Fold a text after ``head`` characters, and cut it after ``most``."""
    if len(text) <= head:
        return Folded(text)
    return Folded(text[:head], text[head:most], max(0, len(text) - most))


def cut(text: str, most: int) -> str:
    """The text on at most ``most`` characters and a note of what is left out."""
    return text if len(text) <= most else f"{text[:most]}… ({len(text) - most} characters more)"


def plain(value: object) -> str:
    """The text with what is invisible in brackets: for attributes, and wherever only text goes."""
    text = str(value)
    return text if _harmless(text) else _ODD.sub(_bracketed, text)


def seen(value: object, keep: str = "") -> Markup:
    """The same as elements: what is invisible is a mark that no text can imitate.

    Args:
        value: anything that has a text.
        keep: characters that stay as they are, such as the line feed.
    """
    text = str(value)
    if _harmless(text):
        return escape(text)
    shown = _ODD.sub(partial(_marked, keep), str(escape(text)))
    turned = _RIGHT_TO_LEFT.search(shown) is not None
    return Markup(f"<bdi>{shown}</bdi>" if turned else shown)  # noqa: S704 - it was escaped


def lines(value: object) -> Markup:
    """The same for text of several lines."""
    return seen(value, keep="\n\t")


def _harmless(text: str) -> bool:
    return text.isascii() and text.isprintable()


def _bracketed(odd: re.Match[str]) -> str:
    return "".join(f"⟨{_name(char)}⟩" if hidden else char for char, hidden in _hidden(odd))


def _marked(keep: str, odd: re.Match[str]) -> str:
    return "".join(
        f'<b class="ch">{_name(char)}</b>' if hidden and char not in keep else char
        for char, hidden in _hidden(odd)
    )


def _hidden(odd: re.Match[str]) -> Iterator[tuple[str, bool]]:
    """Each character of an odd run, and whether it would not be seen."""
    piled = 0 if odd.start() else _ACCENTS  # an accent that comes first has nothing to stand on
    for char in odd[0]:
        accent = unicodedata.category(char) in {"Mn", "Me"}
        piled = piled + 1 if accent else 0
        yield char, not char.isprintable() or bool(_BLANK.match(char)) or piled > _ACCENTS


def _name(char: str) -> str:
    code = ord(char)
    return _SPELLED.get(char) or (f"\\x{code:02x}" if char.isascii() else f"U+{code:04X}")
