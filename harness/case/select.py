"""``-k EXPR``: which cases are meant, by parts of their id, tags and title.

``and``, ``or``, ``not`` and parentheses, as in pytest; a word is found anywhere in any of
the texts, whatever the letter case.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from harness.case.errors import quoted
from harness.case.model import Case
from harness.errors import UsageError

Test = Callable[[Sequence[str]], bool]

_TOKEN: Final = re.compile(r"\s*(?:([()])|([^\s()]+))")
_MAX_DEPTH: Final = 50


def matches(case: Case, test: Test) -> bool:
    """Whether a case is meant."""
    return test((case.id, case.title, *case.tags))


def select(cases: Iterable[Case], expression: str | None) -> tuple[Case, ...]:
    """The cases that ``expression`` means; all of them without one.

    Raises:
        UsageError: it is no expression.
    """
    if expression is None:
        return tuple(cases)
    test = parse(expression)
    return tuple(case for case in cases if matches(case, test))


def no_match(expression: str) -> str:
    """What to say where an expression means no case."""
    return f"-k {quoted(expression)} matches no id, tag or title"


def parse(expression: str) -> Test:
    """The test that an expression stands for; it is given a case's texts.

    Raises:
        UsageError: it is no expression.
    """
    parser = _Parser(expression, _TOKEN.findall(expression))
    test = parser.any_of(0)
    if parser.at < len(parser.tokens):
        raise parser.wrong("and, or, or its end")
    return test


@dataclass(slots=True)
class _Parser:
    text: str
    tokens: list[tuple[str, str]]
    at: int = 0

    def next(self) -> str:
        bracket, word = self.tokens[self.at] if self.at < len(self.tokens) else ("", "")
        return bracket or word

    def take(self, token: str) -> bool:
        if self.next() != token:
            return False
        self.at += 1
        return True

    def wrong(self, expected: str) -> UsageError:
        came = quoted(self.next()) if self.next() else "its end"
        return UsageError(
            f"-k {quoted(self.text)}: expected {expected}, came {came}; "
            "write words with and, or, not and parentheses"
        )

    def any_of(self, depth: int) -> Test:
        tests = [self.all_of(depth)]
        while self.take("or"):
            tests.append(self.all_of(depth))
        return lambda texts: any(test(texts) for test in tests)

    def all_of(self, depth: int) -> Test:
        tests = [self.one(depth)]
        while self.take("and"):
            tests.append(self.one(depth))
        return lambda texts: all(test(texts) for test in tests)

    def one(self, depth: int) -> Test:
        if depth > _MAX_DEPTH:
            raise self.wrong("less nesting")
        if self.take("not"):
            inner = self.one(depth + 1)
            return lambda texts: not inner(texts)
        if self.take("("):
            inner = self.any_of(depth + 1)
            if not self.take(")"):
                raise self.wrong("a closing parenthesis")
            return inner
        word = self.next()
        if word in {"", ")", "and", "or"}:
            raise self.wrong("a word")
        self.at += 1
        return lambda texts: any(word.casefold() in text.casefold() for text in texts)
