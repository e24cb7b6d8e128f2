"""The host's clock stays as it was; the one inside was read."""

from __future__ import annotations

import itertools

import pytest

from harness.evidence.model import Clocks, Evidence
from harness.live.witness import HostClock
from harness.oracles.registry import ORACLES
from sandboxes import clock
from tests.unit.oracles.making import judge, ran, verdict

READ = Clocks(reads={"date": 2, "python3": 1}, host_moved=0.0)

FOUND = [
    ({"isolated": True}, Clocks(host_moved=0.0), "passed"),
    ({"isolated": True}, Clocks(host_moved=0.05), "passed"),
    ({"isolated": True}, Clocks(host_moved=3600.0), "failed"),
    ({"isolated": True}, Clocks(), "unavailable"),
    ({"read": {"at_least": 3}}, READ, "passed"),
    ({"read": {"at_least": 4}}, READ, "failed"),
    ({"read": {"exactly": 2, "program": "date"}}, READ, "passed"),
    ({"read": {"exactly": 0, "program": "node"}}, READ, "passed"),
    ({"read": {"at_least": 1}}, Clocks(reads={}), "failed"),
    ({"read": {"exactly": 0}}, Clocks(), "unavailable"),
    ({"isolated": True, "read": {"at_least": 1}}, READ, "passed"),
    ({"isolated": True, "read": {"at_least": 1}}, Clocks(reads={"date": 1}), "unavailable"),
    ({"isolated": True, "read": {"at_least": 9}}, Clocks(reads={}), "failed"),
]


@pytest.mark.parametrize(("written", "clocks", "found"), FOUND, ids=str)
def test_clocks_are_judged(written, clocks, found):
    assert verdict("clock", written, ran(clocks=clocks)) == found


def test_what_was_seen_is_told():
    seen = judge("clock", {"isolated": True, "read": {"at_least": 1}}, ran(clocks=READ)).seen

    assert seen == "set by 0.000 s; date 2x, python3 1x"


def test_clocks_without_a_run_prove_nothing():
    nobody = Evidence(clocks=READ)

    assert verdict("clock", {"isolated": True}, nobody) == "unavailable"
    assert verdict("clock", {"read": {"at_least": 4}}, nobody) == "unavailable"
    assert verdict("clock", {"read": {"at_most": 2}}, nobody) == "failed"


@pytest.mark.parametrize(
    ("written", "final"),
    [
        ({"isolated": True}, True),
        ({"read": {"at_least": 1}}, False),
        ({"read": {"at_most": 1}}, True),
        ({"isolated": True, "read": {"at_least": 1}}, False),
    ],
)
def test_a_clock_that_was_set_stays_so(written, final):
    assert ORACLES["clock"].final(ORACLES["clock"].parse(written)) is final


@pytest.fixture
def clocks(monkeypatch):
    """The host's clocks: set ``wall`` and ``running`` as a test likes."""
    now = {"wall": 1000.0, "running": 50.0, "between": 0.0}

    def running() -> float:
        now["running"] += now["between"]
        return now["running"]

    monkeypatch.setattr(clock, "wall", lambda: now["wall"])
    monkeypatch.setattr(clock, "running", running)
    return now


def test_a_clock_that_runs_was_not_set(clocks):
    host = HostClock()
    for _ in range(5):
        clocks["wall"] += 7.5
        clocks["running"] += 7.5
        host.look()

    assert host.moved == 0.0


def test_a_clock_that_was_set_and_set_back_was_set(clocks):
    host = HostClock()
    for step in (3600.0, -3600.0):
        clocks["wall"] += step
        host.look()

    assert host.moved == 3600.0


def test_a_look_that_was_interrupted_proves_nothing(clocks):
    host = HostClock()
    clocks["between"] = 5.0  # between its two looks at the other clock, and not at the wall's
    clocks["wall"] += 5.0
    host.look()

    assert host.moved == 0.0


def test_the_clock_of_this_machine_is_not_set_by_looking_at_it():
    host = HostClock()
    for _ in itertools.repeat(None, 1000):
        host.look()

    assert host.moved < 0.1
