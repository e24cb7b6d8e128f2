"""All rules, a file for each theme.

``[theme.what] class rank`` begins a rule. Its patterns follow, with `` | `` between those of one
line. A line after ``!`` lists literals that the line of evidence must not have, one after ``&``
literals of which one must stand anywhere in the text. How patterns are written is in `rules.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from runtime.recovery.classes import FailureClass
from runtime.recovery.classify.rules import Pattern, Rule

_FOLDER: Final = Path(__file__).parent
_HEAD: Final = re.compile(r"\[([a-z.-]+)\] ([a-z_]+) ([1-3])")
_WRAPPING: Final = "wrapping.txt"


def read(text: str) -> list[Rule]:
    """The rules of one file; a word that no rule owns, or a class there is none of, is an error."""
    rules: list[Rule] = []
    head: re.Match[str] | None = None
    parts: dict[str, list[str]] = {}
    for line in [*_lines(text), "[end.end] unknown 1"]:
        if begins := _HEAD.fullmatch(line):
            if head:
                rules.append(_rule(head, parts))
            head, parts = begins, {"": [], "!": [], "&": []}
            continue
        kind = line[0] if line[:2] in {"! ", "& "} else ""
        parts[kind] += line.removeprefix(f"{kind} ").split(" | ")
    return rules


def _lines(text: str) -> Iterator[str]:
    return (line for line in text.splitlines() if line.strip() and not line.startswith("# "))


def _rule(head: re.Match[str], parts: dict[str, list[str]]) -> Rule:
    name, cls, rank = head.groups()
    written, without, near = (tuple(parts[kind]) for kind in ("", "!", "&"))
    return Rule(name, FailureClass(cls), int(rank), written, without, near)


RULES: Final[tuple[Rule, ...]] = tuple(
    rule
    for path in sorted(_FOLDER.glob("*.txt"))
    if path.name != _WRAPPING
    for rule in read(path.read_text(encoding="utf-8"))
)
WRAPPERS: Final[tuple[Pattern, ...]] = tuple(
    Pattern.read(written)
    for line in _lines((_FOLDER / _WRAPPING).read_text(encoding="utf-8"))
    for written in line.split(" | ")
)
