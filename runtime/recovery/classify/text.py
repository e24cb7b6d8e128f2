"""The ends of a stream, as clean text whose places lead back into the stream.

Whatever the size of the stream, at most ``HEAD + TAIL`` characters or bytes of it are looked at.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import Final

from runtime.recovery.classes import Stream

HEAD: Final = 8 * 1024
TAIL: Final = 24 * 1024

# Escape sequences of terminals, and what UTF-16 and overstriking leave between the letters. The
# repeated sets exclude what follows them, so that no input is read twice.
_NOISE: Final = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[()][0-9A-Z]|[@-Z\\-_])"
    r"|[\x00\x08\ufeff]+"
)
_ALIKE: Final = str.maketrans(
    {"\r": "\n", "\xa0": " ", "\u202f": " ", "\t": " ", "\u2019": "'", "\u2018": "'"}
)


@dataclass(frozen=True, slots=True)
class Text:
    """Clean text and the way back.

    Attributes:
        clean: the windows without noise, joined by a line end.
        lower: the same in lower case, as long.
        starts: where in `clean` each run without a gap begins.
        origins: for each of them where it begins in the stream, its text, whether that was bytes.
    """

    clean: str
    lower: str
    starts: tuple[int, ...]
    origins: tuple[tuple[int, str, bool], ...]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where a part of `clean`, which is not empty, begins and ends in the stream."""
        return self._origin(start, 0), self._origin(end - 1, 1)

    def _origin(self, place: int, letters: int) -> int:
        index = max(bisect_right(self.starts, place) - 1, 0)
        begin, piece, encoded = self.origins[index]
        inside = min(place - self.starts[index] + letters, len(piece))
        return begin + (width(piece[:inside]) if encoded else inside)


def width(text: str) -> int:
    """Bytes that a decoded text took."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogateescape"))


def taken(stream: Stream) -> Text:
    """Take the ends of a stream and clean them."""
    starts: list[int] = []
    origins: list[tuple[int, str, bool]] = []
    parts: list[str] = []
    length = 0
    for base, window, encoded in _windows(stream):
        if parts:
            parts.append("\n")
            length += 1
        at, origin = 0, base
        for start, piece in _clean_pieces(window):
            origin += width(window[at:start]) if encoded else start - at
            at = start
            starts.append(length)
            origins.append((origin, piece, encoded))
            parts.append(piece)
            length += len(piece)
    clean = "".join(parts).translate(_ALIKE)
    return Text(clean, _lowered(clean), tuple(starts) or (0,), tuple(origins) or ((0, "", False),))


def _windows(stream: Stream) -> list[tuple[int, str, bool]]:
    size = len(stream)
    cuts = [(0, size)] if size <= HEAD + TAIL else [(0, HEAD), (size - TAIL, size)]
    if isinstance(stream, str):
        return [(start, stream[start:end], False) for start, end in cuts if end]
    view = stream.cast("B") if isinstance(stream, memoryview) else stream
    return [
        (start, bytes(view[start:end]).decode("utf-8", "surrogateescape"), True)
        for start, end in cuts
        if end
    ]


def _clean_pieces(window: str) -> list[tuple[int, str]]:
    if "\x1b" not in window and not _NOISE.search(window):
        return [(0, window)]
    pieces = []
    at = 0
    for noise in _NOISE.finditer(window):
        if noise.start() > at:
            pieces.append((at, window[at : noise.start()]))
        at = noise.end()
    if at < len(window):
        pieces.append((at, window[at:]))
    return pieces


def _lowered(text: str) -> str:
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(low if len(low := letter.lower()) == 1 else letter for letter in text)
