"""Files that are longer than anybody can read."""

from __future__ import annotations

import json
import time

SPARSE = """
import os
for number in range(3):
    with open("/home/agent/sparse%d" % number, "wb") as file:
        file.truncate(1 << 50)
os.truncate("/home/agent/.profile", 1 << 50)
"""


def test_files_of_a_petabyte_without_contents_are_listed_at_once(verdict_of):
    begun = time.monotonic()

    code, trial = verdict_of(
        "sparse",
        f"title: t\nsubject: {{command: [python3, -c, {json.dumps(SPARSE)}]}}\n"
        "expect: [{home: {untouched: true, allow: ['sparse*']}}, {exit: 0}]\n",
    )

    assert (code, trial["reasons"]) == (1, ["broke:home"])
    assert "changed .profile" in trial["message"]
    assert time.monotonic() - begun < 30


def test_the_contents_of_a_file_that_was_too_long_are_not_judged(verdict_of):
    code, trial = verdict_of(
        "unread",
        "title: t\nsubject: {command: [truncate, -s, 100T, big]}\n"
        "expect: [{file: {path: big, equals: x}}]\n",
    )

    assert (code, trial["reasons"]) == (3, ["not-observed"])


LONG_PATHS = """
import os
for folder in range(900):
    os.mkdir("d" * 250)
    os.chdir("d" * 250)
for number in range(2000):
    open(str(number), "w").close()
"""


def test_half_a_gigabyte_of_paths_is_an_error_and_no_flood(verdict_of):
    code, trial = verdict_of(
        "paths",
        f"title: t\nsubject: {{command: [python3, -c, {json.dumps(LONG_PATHS)}]}}\n"
        "expect: [{home: untouched}]\n",
    )

    assert code == 4
    assert "cannot be listed" in trial["message"]
