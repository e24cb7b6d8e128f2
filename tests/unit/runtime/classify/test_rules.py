"""What the tables may hold, and that no text makes the search slow."""

from __future__ import annotations

import re
import time

import pytest

from runtime.recovery.classes import Failure, FailureClass
from runtime.recovery.classify import classify
from runtime.recovery.classify.rules import Pattern
from runtime.recovery.classify.table import RULES, WRAPPERS, read

SECONDS = 0.25


def found(written: str, line: str) -> bool:
    return Pattern.read(written).match(line, 0, 0, len(line)) is not None


def test_rules_have_names_of_their_own():
    names = [rule.name for rule in RULES]

    assert len(names) == len(set(names))


def test_every_class_has_rules():
    assert {rule.cls for rule in RULES} == set(FailureClass)


def test_patterns_can_match_text_in_lower_case():
    words = [word for rule in RULES for word in (*rule.written, *rule.without, *rule.near)]

    assert [word for word in words if word != word.lower() or not word.strip("~*^$ ")] == []


def test_no_pattern_is_written_twice_in_a_rule():
    assert [rule.name for rule in RULES if len(set(rule.written)) < len(rule.written)] == []


def test_a_literal_is_not_so_short_that_everything_has_it():
    keys = [pattern.key for rule in RULES for pattern in rule.patterns]
    keys += [pattern.key for pattern in WRAPPERS]

    assert [key for key in keys if key.isascii() and len(key) < 3] == []


@pytest.mark.parametrize(
    ("written", "line", "expected"),
    [
        ("one*two", "one and two", True),
        ("one*two", "two and one", False),
        ("^one", "one", True),
        ("^one", "no one", False),
        ("one$", "one", True),
        ("one$", "one.", True),
        ("one$", "one more", False),
        ("~429~", "http 429 here", True),
        ("~429~", "14290", False),
        ("~429~", "14290 429", True),
        ("err*~13~", "err 113 13", True),
    ],
)
def test_a_pattern_means_what_it_says(written: str, line: str, expected: bool):
    assert found(written, line) is expected


def test_a_table_is_read():
    rules = read("# About.\n\n[a.b] network 2\none | two\nthree\n! four\n& five | six\n")

    assert [(r.name, r.cls, r.rank, r.written, r.without, r.near) for r in rules] == [
        ("a.b", FailureClass.NETWORK, 2, ("one", "two", "three"), ("four",), ("five", "six"))
    ]


def test_a_table_with_a_class_there_is_none_of_is_refused():
    with pytest.raises(ValueError, match="weather"):
        read("[a.b] weather 2\none\n")


ENDLESS = [
    pytest.param(text, id=name)
    for name, text in {
        "marks": "error: " * 30_000,
        "one letter": "a" * 200_000,
        "escapes": "\x1b[" * 100_000,
        "unended escapes": "\x1b]" + "0;" * 100_000,
        "spaces": " " * 200_000,
        "line ends": "\n" * 200_000,
        "returns": "\r" * 200_000,
        "digits": "1:" * 100_000,
        "frames": '  File "x", line 1\n' * 10_000,
        "quotes": 'exec: "' * 30_000,
        "stars": "oci runtime exec: cannot find could not find " * 4_000,
        "nearly": "permission denie" * 12_000,
        "short lines": "env: no such file\n" * 10_000,
        "retries": "retrying, attempt 1 failed: connection refused\n" * 4_000,
        "brackets": "[(" * 100_000,
        "dots": "a." * 100_000,
        "words with colons": "x::" * 60_000,
    }.items()
]


@pytest.mark.parametrize("text", ENDLESS)
def test_hostile_text_takes_no_longer_than_other_text(text: str):
    assert _seconds(text) < SECONDS


@pytest.mark.parametrize("between", ["\n", " "], ids=["lines", "one line"])
def test_text_that_has_what_every_rule_looks_for_takes_no_more_than_a_moment(between: str):
    keys = between.join(pattern.key for rule in RULES for pattern in rule.patterns)

    assert _seconds(f"{keys}{between}" * 4) < 10 * SECONDS


def _seconds(text: str) -> float:
    """What the processor spends, which a busy machine does not change much."""
    began = time.process_time()
    classify(Failure("bash", 1, text, text))
    return time.process_time() - began


def test_the_words_of_a_rule_are_found_in_a_line_that_marks_it_as_an_error():
    silent = [
        rule.name
        for rule in RULES
        if not rule.near and not any(_speaks(written, rule.name) for written in rule.written)
    ]

    assert silent == []


def _speaks(written: str, name: str) -> bool:
    words = re.sub(r"[~^$]", "", written).replace("*", " x ")
    return classify(Failure("tool", 1, "", f"error: {words}\n")).rule == name
