"""Numbers of things, in words."""

from __future__ import annotations

import pytest

from harness.oracles.attempts import Attempts
from harness.oracles.escalations import Escalations
from harness.oracles.requests import Requests
from harness.plural import plural
from tests.unit.oracles.making import ran


@pytest.mark.parametrize(
    ("number", "noun", "words"),
    [(0, "call", "0 calls"), (1, "call", "1 call"), (2, "try", "2 tries"), (1, "try", "1 try")],
)
def test_one_is_one_and_all_else_is_many(number: int, noun: str, words: str):
    assert plural(number, noun) == words


@pytest.mark.parametrize(
    ("oracle", "written", "words"),
    [
        (Requests(), {"exactly": 1}, "exactly 1 request of kind turn to model"),
        (Requests(), {"at_least": 1, "at_most": 2}, "at least 1 and at most 2 requests of kind"),
        (Attempts(), {"path": "x", "act": "read", "at_most": 1}, "at most 1 try to read"),
        (Attempts(), {"request": {}, "at_most": 1}, "at most 1 time the same request"),
        (Escalations(), {"services": ["t"], "exactly": 1}, "exactly 1 message to a person"),
    ],
)
def test_what_is_expected_reads_well(oracle, written, words: str):
    assert oracle.judge(oracle.parse(written), ran()).expected.startswith(words)
