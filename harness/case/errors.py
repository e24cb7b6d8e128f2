"""What is wrong with a file, and where: all of it at once.

Every error names its place, says what was expected and what came, and what to write instead.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from harness.case.model import Where


@dataclass(frozen=True, slots=True, order=True)
class CaseError:
    """One thing that is wrong.

    Attributes:
        where: the place.
        message: what is wrong.
        hint: what to write instead; empty where nothing useful can be said.
    """

    where: Where
    message: str
    hint: str = ""

    def __str__(self) -> str:
        return f"{self.where}: {self.message}" + (f"; {self.hint}" if self.hint else "")

    def document(self) -> dict[str, Any]:
        """The error as an entry of ``errors`` in what ``--json`` prints."""
        return {
            "file": self.where.file,
            "line": self.where.line,
            "column": self.where.column,
            "message": self.message,
            "hint": self.hint,
        }


class CaseErrors(Exception):
    """Files that cannot be used; carries every error of every file, in order of place."""

    def __init__(self, errors: Iterable[CaseError]) -> None:
        self.errors = tuple(sorted(set(errors)))
        super().__init__("\n".join(str(error) for error in self.errors))


def closest(name: str, known: Iterable[str]) -> str | None:
    """The known name that ``name`` most likely stands for, if any is near enough."""
    folded = {candidate.casefold(): candidate for candidate in sorted(known)}
    close = difflib.get_close_matches(name.casefold()[:80], folded, n=1, cutoff=0.6)
    return folded[close[0]] if close else None


def nearest(name: str, known: Iterable[str], *, say: str = "write", most: int = 12) -> str:
    """A hint: the known name that ``name`` most likely stands for, else all, or ``most`` of them."""
    names = sorted(known)
    if close := closest(name, names):
        return f"did you mean {close}?"
    if not names:
        return "nothing can be written here"
    shown = ", ".join(names[:most]) + (", …" if len(names) > most else "")
    return f"{say} {shown}" if len(names) == 1 else f"{say} one of {shown}"


def quoted(value: object, limit: int = 60) -> str:
    """A value as it is shown in a message: one line, not too long, always printable."""
    if isinstance(value, bool):
        return str(value).lower()
    text = ascii(value) if isinstance(value, str) and not value.isprintable() else repr(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"
