"""Text of a trial, made harmless for readers that show it as it is."""

from __future__ import annotations

from typing import Final

_LONGEST: Final = 2000


def plain(text: str, keep: str = "\n\t") -> str:
    """The text without what a terminal, a browser or a parser would obey or choke on.

    Control characters, direction marks and halves of characters become U+FFFD.
    """
    return "".join(c if c.isprintable() or c in keep else "\ufffd" for c in text)


def short(text: str, most: int = _LONGEST) -> str:
    """A text of at most so many characters, the cut said."""
    return text if len(text) <= most else f"{text[:most]} [cut: {len(text)} characters in all]"
