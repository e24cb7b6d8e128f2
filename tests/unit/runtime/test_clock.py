"""Moments are kept as they were, and the system's clock is the system's."""

from __future__ import annotations

import datetime

import freezegun
from hypothesis import given
from hypothesis import strategies as st

from runtime.clock import SystemClock, micros, moment


@given(st.datetimes(timezones=st.just(datetime.UTC)))
def test_a_moment_comes_back_to_the_microsecond(at: datetime.datetime):
    assert moment(micros(at)) == at


def test_the_system_s_clock_tells_the_system_s_time():
    with freezegun.freeze_time("2031-02-03T04:05:06Z"):
        assert SystemClock().now() == datetime.datetime(2031, 2, 3, 4, 5, 6, tzinfo=datetime.UTC)
