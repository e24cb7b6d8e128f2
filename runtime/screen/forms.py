"""The forms in which a text is searched: as written, escapes undone, lines joined, decoded."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from runtime.screen.spans import MARK, MARK_HEAD
from runtime.screen.views import Piece, View, rewritten

BOUND = "\ue000"
"""Stands for a mark while a text is searched: no rule's find starts with it."""

_LAYERS = 4  # escapes within escapes that are undone
_DEPTH = 3  # encodings within encodings that are read
_RUN = 20  # characters of base64 from which on it is read
_SPACE = r"[ \t]{0,40}"

_INVISIBLE = (
    r"\x00\x08\x7f\xad\u034f\u061c\u115f\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    r"\ufe00-\ufe0f\ufeff\U000e0000-\U000e007f"
)
# One class in front, then a look back at which it was: `re` skips what cannot begin a match.
_ESCAPES = re.compile(
    rf"[\x1b%\\&\"'`{_INVISIBLE}](?:"
    r"(?<=\x1b)(?:\[[0-?]{0,32}[ -/]{0,4}[@-~]|\][^\x07\x1b]{0,512}(?:\x07|\x1b\\)|[@-Z^_])"
    rf"|(?<=[{_INVISIBLE}])"
    r"|(?<=%)(?:25)*(?P<percent>[0-9A-Fa-f]{2})"
    r"|(?<=\\)\\{0,7}(?:u\{?(?P<unicode>[0-9A-Fa-f]{4,6}(?=\})|[0-9A-Fa-f]{4})\}?"
    r"|x(?P<hex>[0-9A-Fa-f]{2})|(?P<octal>[0-3][0-7]{2})|(?P<letter>[nrt\"'/])|\r?\n[ \t]*)"
    r"|(?<=&)(?:#[xX]0{0,6}(?P<entity>[0-9A-Fa-f]{2,4})|#0{0,6}(?P<number>[0-9]{2,5})"
    r"|(?P<name>quot|apos|amp|lt|gt));"
    rf"|(?<=[\"'`]){_SPACE}[+.&]?{_SPACE}(?:\\?\r?\n{_SPACE})?[+.&]?{_SPACE}[bfru]?[\"'`])"
)
_BASES = {"percent": 16, "unicode": 16, "hex": 16, "octal": 8, "entity": 16, "number": 10}
_LETTERS = {"n": "\n", "r": "\r", "t": "\t"}
_NAMES = {"quot": '"', "apos": "'", "amp": "&", "lt": "<", "gt": ">"}
_QUOTED_PRINTABLE = re.compile(r"=(?:\r?\n|([0-9A-F]{2}))")
_IS_QUOTED_PRINTABLE = re.compile(r"=(?:\r?\n|3D|[0-9A-F]{2}=[0-9A-F]{2})")
_LINE_ENDS = re.compile(r"[ \t]{0,3}[\r\n]\s*+")
_BASE64 = re.compile(rf"[A-Za-z0-9+/_-]{{{_RUN},}}")
_HEX = re.compile(r"[2-7][0-9A-Fa-f](?:[\s:,-]{0,3}+(?:0[xX])?[0-9A-Fa-f]{2}){7,}+[0-9A-Fa-f]?")
_PAIR = re.compile(r"(?:0[xX])?([0-9A-Fa-f])[\s:,-]{0,3}(?:0[xX])?([0-9A-Fa-f])")
_STANDARD = str.maketrans("-_", "+/")
_READABLE = re.compile(rb"[\x00\t\n\r -~]{7,}")

_Read = Callable[[str, int], Iterator[list[Piece]]]


class Form(NamedTuple):
    """A form of the text."""

    view: View
    joined: bool = False
    """Its lines were joined, so that what stands at their ends touches."""
    unread: bool = False
    """It was not looked into, as too much was decoded before it."""


def forms(text: str) -> Iterator[Form]:
    """Every form of ``text`` to search; what is decoded is at most 8 times its length."""
    return _Reader(len(text)).forms(_without_marks(View.of(text)), 0)


def _without_marks(view: View) -> View:
    return rewritten(view, MARK, lambda _: BOUND) if MARK_HEAD in view.text else view


class _Reader:
    def __init__(self, length: int) -> None:
        self._left = 8 * length + 4096
        self._seen: set[tuple[str, _Read]] = set()

    def forms(self, view: View, depth: int) -> Iterator[Form]:
        for form in written(view):
            yield form
            if depth < _DEPTH:
                for match, read in _runs(form.view):
                    yield from self._read(form.view, match, read, depth + 1)

    def _read(self, view: View, run: re.Match[str], read: _Read, depth: int) -> Iterator[Form]:
        if (run[0], read) in self._seen:
            return
        self._seen.add((run[0], read))
        for pieces in read(run[0], run.start()):
            decoded = View.made(pieces, view)
            self._left -= len(decoded.text)
            if self._left < 0:
                yield Form(decoded, unread=True)
            else:
                yield from self.forms(decoded, depth)


def written(view: View) -> Iterator[Form]:
    """The view as it is, with escapes undone layer by layer, and with its lines joined."""
    yield Form(view)
    last = view
    for _ in range(_LAYERS):
        undone = rewritten(last, _ESCAPES, _undo)
        if undone is last:
            break
        last = undone
        yield Form(last)
    if _IS_QUOTED_PRINTABLE.search(view.text):
        quoted = rewritten(view, _QUOTED_PRINTABLE, _unquote)
        yield Form(quoted)
        yield Form(_joined(quoted), joined=True)
    joined = _joined(last)
    if joined is not last:
        yield Form(joined, joined=True)


def _joined(view: View) -> View:
    return rewritten(view, _LINE_ENDS, _nothing) if "\n" in view.text or "\r" in view.text else view


def _nothing(_: re.Match[str]) -> str:
    return ""


def _undo(match: re.Match[str]) -> str:
    which = match.lastgroup
    if which is None:
        return ""
    written = match[which]
    if which == "letter":
        return _LETTERS.get(written, written)
    if which == "name":
        return _NAMES[written]
    return _character(int(written, _BASES[which]))


def _unquote(match: re.Match[str]) -> str:
    return chr(int(match[1], 16)) if match[1] else ""


def _character(code: int) -> str:
    """The character, where it is one that stays and is no sign of ours."""
    return chr(code) if code and code < 0x110000 and chr(code) != BOUND else ""


def _runs(view: View) -> Iterator[tuple[re.Match[str], _Read]]:
    for start, end in view.words:
        yield from ((match, _from_base64) for match in _BASE64.finditer(view.text, start, end))
    yield from ((match, _from_hex) for match in _HEX.finditer(view.text))


def _from_base64(run: str, at: int) -> Iterator[list[Piece]]:
    """What a run of base64 can mean, by where in it the first group of four begins."""
    run = run.translate(_STANDARD)
    for first in range(4):
        rest = (len(run) - first) % 4
        whole = len(run) - rest
        data = base64.b64decode(run[first:whole] + _padded(run[whole:]))
        if _READABLE.search(data):
            size = (whole - first) // 4 * 3
            text = data.decode("latin-1")
            start = at + first
            yield [
                (text[:size], start, at + whole),
                (text[size:], at + whole, at + len(run)),
            ]


def _padded(rest: str) -> str:
    return "" if len(rest) < 2 else rest + "=" * (4 - len(rest))


def _from_hex(run: str, at: int) -> Iterator[list[Piece]]:
    """What a run of hex digits can mean, by which of them the first pair begins with."""
    for first in range(2):
        pairs = list(_PAIR.finditer(run, first))
        data = bytes.fromhex("".join(pair[1] + pair[2] for pair in pairs))
        if _READABLE.search(data):
            text = data.decode("latin-1")
            yield [
                (char, at + pair.start(), at + pair.end())
                for char, pair in zip(text, pairs, strict=True)
            ]
