"""A terminal, as far as the live area uses one: whatever else is written to it is a failure."""

from __future__ import annotations

import io
import re

from rich.cells import cell_len

_PIECE = re.compile(r"\x1b\[(?P<args>[?0-9;]*)(?P<what>[A-Za-z])|(?P<plain>[^\x1b])", re.DOTALL)


class Screen(io.StringIO):
    """What somebody sees who looks at it, and whether the cursor is shown."""

    def __init__(self, columns: int) -> None:
        super().__init__()
        self.columns = columns
        self.rows = [""]
        self.cursor = True
        self.writes: list[str] = []
        self._y = self._x = 0

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self.writes.append(text)
        at = 0
        while at < len(text):
            piece = _PIECE.match(text, at)
            assert piece, f"a control sequence that nobody expects: {text[at : at + 20]!r}"
            at = piece.end()
            if piece["plain"]:
                self._put(piece["plain"])
            else:
                self._obey(piece["what"], piece["args"])
        return len(text)

    def lines(self) -> list[str]:
        """Without what is blank at the end."""
        return "\n".join(row.rstrip() for row in self.rows).rstrip("\n").split("\n")

    def _put(self, char: str) -> None:
        if char == "\r":
            self._x = 0
        elif char == "\n":
            self._down()
        else:
            assert char.isprintable(), f"a control character: {char!r}"
            if cell_len(self.rows[self._y][: self._x]) + cell_len(char) > self.columns:
                self._down()
            row = self.rows[self._y].ljust(self._x)
            self.rows[self._y] = row[: self._x] + char + row[self._x + 1 :]
            self._x += 1

    def _down(self) -> None:
        self._x, self._y = 0, self._y + 1
        if self._y == len(self.rows):
            self.rows.append("")

    def _obey(self, what: str, args: str) -> None:
        if what == "A":
            self._y -= int(args or 1)
            assert self._y >= 0, "above the first line"
        elif (what, args) == ("K", "2"):
            self.rows[self._y] = ""
        elif args == "?25":
            self.cursor = what == "h"
        else:
            assert what == "m", f"a control sequence that nobody expects: {args}{what}"
