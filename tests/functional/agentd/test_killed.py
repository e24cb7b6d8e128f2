"""A daemon that is killed at any moment leaves a ledger that adds up, and begins again."""

from __future__ import annotations

import random

import pytest

from ci.measure.killed import folder_of_kills

KILLS = 5


@pytest.mark.long
def test_after_kills_at_moments_of_chance_the_ledger_is_what_the_service_saw():
    problems, seen = folder_of_kills(KILLS, random.Random(5))
    assert not problems
    assert seen["attempts seen"]
    assert seen["attempts settled"]
    assert seen["hand-offs"]
