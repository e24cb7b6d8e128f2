"""How often the subject tried, counted from outside."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.case.model import Expectation
from harness.evidence.model import Evidence
from harness.oracles.base import Watching
from harness.oracles.look import watched
from harness.oracles.registry import ORACLES
from sandboxes.base import Act, Depth
from tests.unit.oracles.making import judge, ran, request, verdict

WATCHED = {
    "/workspace/meter": {"on.run": 3, "on.read": 3, "on.look": 2},
    "/home/agent/.ssh": {"on.run": 1, "in.read": 2, "below.write": 1},
    "curl": {"on.run": 2, "on.look": 5},
    "gone": None,
}
SEEN = ran(
    attempts=WATCHED,
    requests=[
        request("up", seq=1, method="POST", path="/pay", body_sha256="a" * 64),
        request("up", seq=2, method="POST", path="/pay", body_sha256="a" * 64),
        request("up", seq=3, method="POST", path="/pay", body_sha256="b" * 64),
        request("up", seq=4, method="GET", path="/list?page=2"),
    ],
)

FOUND = [
    ({"path": "meter", "act": "run", "exactly": 3}, "passed"),
    ({"path": "meter", "act": "run", "at_most": 2}, "failed"),
    ({"path": "/workspace/meter", "exactly": 6}, "passed"),
    ({"path": "meter", "act": "look", "exactly": 2}, "passed"),
    ({"path": "meter", "act": "write", "exactly": 0}, "passed"),
    ({"path": "~/.ssh", "act": "read", "exactly": 0}, "passed"),
    ({"path": "~/.ssh", "act": "read", "beneath": True, "at_most": 1}, "failed"),
    ({"path": "~/.ssh", "beneath": True, "exactly": 4}, "passed"),
    ({"path": "other", "at_most": 5}, "unavailable"),
    ({"program": "curl", "exactly": 2}, "passed"),
    ({"program": "curl", "at_least": 3}, "failed"),
    ({"program": "gone", "exactly": 0}, "unavailable"),
    ({"request": {"service": "up"}, "at_most": 2}, "passed"),
    ({"request": {"service": "up"}, "at_most": 1}, "failed"),
    ({"request": {"service": "up", "same": "target"}, "exactly": 3}, "passed"),
    ({"request": {"service": "up", "method": "GET"}, "exactly": 1}, "passed"),
    ({"request": {"service": "up", "path": "/pay", "same": "target"}, "at_most": 2}, "failed"),
    ({"request": {"service": "up", "path": "/none"}, "exactly": 0}, "passed"),
    ({"request": {"service": "other"}, "at_least": 1}, "failed"),
]


@pytest.mark.parametrize(("written", "found"), FOUND, ids=str)
def test_tries_are_held_against_the_bounds(written, found):
    assert verdict("attempts", written, SEEN) == found


def test_what_was_tried_is_told_even_where_it_does_not_count():
    assert judge("attempts", {"path": "meter", "act": "run", "exactly": 3}, SEEN).seen == (
        "3 (look 2x, read 3x, run 3x)"
    )
    assert "2 times POST /pay, of 3 different ones" in (
        judge("attempts", {"request": {"service": "up"}, "at_most": 1}, SEEN).seen
    )


def test_without_a_run_only_too_many_can_be_told():
    nothing = Evidence(attempts=WATCHED)

    assert verdict("attempts", {"program": "curl", "exactly": 2}, nothing) == "unavailable"
    assert verdict("attempts", {"program": "curl", "at_most": 1}, nothing) == "failed"


@pytest.mark.parametrize(
    ("bound", "final"),
    [
        ({"at_most": 3}, True),
        ({"exactly": 0}, True),
        ({"exactly": 1}, False),
        ({"at_least": 1}, False),
        ({"at_least": 0, "at_most": 3}, True),
        ({"at_least": 1, "at_most": 3}, False),
    ],
)
def test_only_too_many_cannot_be_mended(bound, final):
    for oracle, written in (("attempts", {"path": "a"}), ("requests", {})):
        assert ORACLES[oracle].final(ORACLES[oracle].parse({**written, **bound})) is final


def test_what_has_to_be_watched_is_what_is_asked_about():
    oracles = ORACLES["attempts"], ORACLES["events"], ORACLES["claims"]
    tries = {"attempts": {"path": "~/x", "at_most": 1}}
    written = (
        tries["attempts"],
        {"file": "log", "exactly": 1, "beside": tries},
        {"says": "x", "yet": tries},
    )

    for oracle, value in zip(oracles, written, strict=True):
        assert isinstance(oracle, Watching)
        assert list(oracle.watched(oracle.parse(value))) == ["/home/agent/x"]
    asked = Expectation(
        "again", "attempts", oracles[0].parse({"request": {"service": "up"}, "exactly": 1})
    )
    assert watched([asked]) == ()


counts = st.dictionaries(
    st.tuples(st.sampled_from(Depth), st.sampled_from(Act)).map(".".join), st.integers(1, 9)
)


@given(counts, st.sampled_from([act.value for act in Act]), st.booleans())
def test_the_count_is_that_of_the_act_at_the_depths_asked_about(found, act, beneath):
    depths = list(Depth) if beneath else [Depth.ON]
    count = sum(found.get(f"{depth}.{act}", 0) for depth in depths)
    evidence = ran(attempts={"/workspace/x": found})
    written = {"path": "x", "act": act, "beneath": beneath}

    assert verdict("attempts", {**written, "exactly": count}, evidence) == "passed"
    assert verdict("attempts", {**written, "exactly": count + 1}, evidence) == "failed"
    assert verdict("attempts", {**written, "at_least": count + 1}, evidence) == "failed"
