"""Why a pytest session that tried nothing, or could not try something, is not passed."""

from __future__ import annotations

import pytest

from harness.items.telling import none_tried, not_passed
from tests.unit.report.folders import run, trial


def lacking(name: str, reason: str) -> dict[str, object]:
    return trial(name, verdict="unavailable", reasons=[reason])


@pytest.mark.parametrize(
    ("deselected", "why"),
    [
        (0, "no case was found; name case files, or a folder that holds some"),
        (1, "1 trial was found and left out by -k, -m or --deselect"),
        (2, "2 trials were found and left out by -k, -m or --deselect"),
    ],
)
def test_where_nothing_was_tried_it_says_why(deselected: int, why: str):
    told = f"no case was tried, which shows nothing, so pytest ends with 5: {why}"

    assert none_tried(5, deselected) == told


def test_what_was_unavailable_is_named_with_its_reason():
    one = run(trial("good"), lacking("a", "tool-missing"))
    many = run(*(lacking(name, "nothing-expected") for name in "abcde"))

    assert not_passed(0, run(trial("good"), trial("bad", verdict="failed"))) == ""
    assert not_passed(1, one) == (
        "1 trial could not be tried or observed here, which is no pass, so pytest ends with 1: "
        "a (tool-missing)"
    )
    assert not_passed(1, many).endswith("c (nothing-expected), 2 more")
    assert not_passed(1, many).startswith("5 trials could not be tried")
