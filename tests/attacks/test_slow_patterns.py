"""Output made to keep the judge searching for ever."""

from __future__ import annotations

import time

import pytest

from harness.search import SECONDS, TooSlow, search

#: Every place of one long line could be where an innocent pattern begins.
LONG_LINE = "error" * (1 << 19)


def test_an_innocent_pattern_on_a_hostile_line_is_given_up_in_time(verdict_of):
    begun = time.monotonic()

    code, trial = verdict_of(
        "hostile",
        "title: t\n"
        "subject: {command: [python3, -c, 'print(\"error\" * (1 << 19))']}\n"
        "expect: [{output: {lacks: 'error.*fatal'}}]\n",
    )

    assert (code, trial["reasons"]) == (3, ["not-observed"])
    assert "/error.*fatal/" in trial["message"]
    assert time.monotonic() - begun < SECONDS + 20


def test_a_search_that_was_given_up_does_not_spoil_the_next():
    with pytest.raises(TooSlow):
        search("(a+)+b", "a" * 60)

    assert search("^b+", "a\nbb") == "bb"
    assert search("^$", "a\n\nb") == ""
    assert search("é\ud800", "xé\ud800") == "é\ud800"
    assert search("fatal", LONG_LINE) is None


def test_a_trigger_that_takes_too_long_stops_nobody_else(verdict_of):
    begun = time.monotonic()

    code, trial = verdict_of(
        "trigger",
        "title: t\n"
        "subject: {command: [python3, -c, 'print(\"a\" * 60)']}\n"
        "faults: [{id: cut, fault: process.kill, when: {output: '(a+)+b'}}]\n"
        "expect: [{home: untouched}]\n",
    )

    assert (code, trial["reasons"]) == (3, ["fault-not-delivered"])
    assert time.monotonic() - begun < SECONDS + 20
