"""Output made to keep the judge searching for ever."""

from __future__ import annotations

import json
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


@pytest.mark.long
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


#: Says what a tool is to have answered, and takes whatever comes of it.
ASKS = """\
import json, os, urllib.request
messages = [{"role": "tool", "tool_call_id": "1", "content": "a" * 60}]
body = json.dumps({"model": "m", "messages": messages}).encode()
url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
try:
    urllib.request.urlopen(urllib.request.Request(url, body), timeout=40)
except OSError:
    pass
"""


@pytest.mark.long
def test_a_condition_of_the_script_that_takes_too_long_ends_too(verdict_of):
    begun = time.monotonic()

    code, trial = verdict_of(
        "condition",
        "title: t\n"
        "subject: {command: [python3, ask.py]}\n"
        f"workspace: {{files: {{ask.py: {json.dumps(ASKS)}}}}}\n"
        "script: [{if: '(a+)+b', say: x}]\n"
        "expect: [{home: untouched}]\n",
    )

    assert (code, trial["reasons"]) == (3, ["not-observed", "script-not-finished"])
    assert "/(a+)+b/ was searched for" in trial["message"]
    assert time.monotonic() - begun < SECONDS + 20
