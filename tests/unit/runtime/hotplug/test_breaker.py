"""The circuit breaker: it opens, rests, lets one through, and closes."""

from __future__ import annotations

from runtime.tools.hotplug.breaker import Breaker
from tests.unit.runtime.clocks import Standing


def opened(clock: Standing) -> Breaker:
    breaker = Breaker(clock, failures=3, rest=30)
    for _ in range(3):
        assert breaker.admits()
        breaker.failed()
    return breaker


def test_it_opens_after_failures_in_a_row():
    clock = Standing()
    breaker = opened(clock)

    assert not breaker.admits()
    clock.advance(29)
    assert not breaker.admits()
    assert breaker.left == 1


def test_an_answer_begins_the_count_anew():
    breaker = Breaker(Standing(), failures=2)
    for _ in range(5):
        breaker.failed()
        breaker.worked()

    assert breaker.admits()


def test_after_its_rest_one_call_at_a_time_is_let_through():
    clock = Standing()
    breaker = opened(clock)
    clock.advance(30)

    assert breaker.admits()
    assert not breaker.admits()
    breaker.failed()
    assert not breaker.admits()
    clock.advance(30)
    assert breaker.admits()
    breaker.worked()
    assert breaker.admits()
    assert breaker.admits()
