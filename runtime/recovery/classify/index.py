"""Finds quickly which patterns can stand in a text at all.

Each pattern is filed under four letters of its longest literal, the ones that fewest others have.
A text that lacks them cannot have the pattern, so a text is cut into its runs of four letters
once, and only the patterns filed under one of these are looked for.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

from runtime.recovery.classify.rules import Pattern, Rule

RUN: Final = 4


class Index:
    """Patterns of rules by a run of letters."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        entries = [(rule, pattern) for rule in rules for pattern in rule.patterns]
        common = Counter(run for _, pattern in entries for run in _runs(pattern.key))
        self._filed: defaultdict[str, list[int]] = defaultdict(list)
        self._short: list[int] = []
        self._entries: Sequence[tuple[Rule, Pattern]] = entries
        for number, (_, pattern) in enumerate(entries):
            runs = _runs(pattern.key)
            if runs:
                self._filed[min(sorted(runs), key=common.__getitem__)].append(number)
            else:
                self._short.append(number)

    def possible(self, lower: str) -> list[tuple[Rule, Pattern]]:
        """The patterns whose longest literal stands in a text, in the order of the rules."""
        numbers = [n for run in self._filed.keys() & _runs(lower) for n in self._filed[run]]
        return [
            self._entries[number]
            for number in sorted(numbers + self._short)
            if self._entries[number][1].key in lower
        ]


def _runs(text: str) -> set[str]:
    return {text[at : at + RUN] for at in range(len(text) - RUN + 1)}
