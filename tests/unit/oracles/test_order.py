"""What came before what, and how long after, on one time line."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.evidence.model import Evidence, FaultRecord, Happening
from harness.oracles.registry import ORACLES
from harness.oracles.timeline import timeline
from tests.unit.oracles.making import judge, ran, request, verdict

UP: dict[str, Any] = {"request": {"service": "up"}}
MODEL: dict[str, Any] = {"request": {}}


def up(seq: int, t: float, **facts: object):
    made = {"kind": "turn", "method": "GET", "path": "/a", **facts}
    return request("up", seq=seq, t=t, **made)


SEEN = ran(
    requests=[
        request(seq=1, t=0.5),
        up(2, 1.0, fault="slow,cut", status=429),
        up(3, 3.25, path="/b?x=1"),
        request(seq=4, t=4.0, kind="side"),
        request(seq=5, t=5.0, tool_result="refused by the guard"),
    ],
    timeline=[
        Happening(0.0, "step", "start", 1),
        Happening(0.1, "started"),
        Happening(0.2, "step", "wait", 2),
        Happening(1.1, "armed", "cut"),
        Happening(2.0, "healed", "cut"),
        Happening(6.0, "ended"),
    ],
)

HOLDS = [
    [MODEL, UP],
    [UP, UP],
    [{"step": 1}, {"process": "started"}, {"step": "wait"}, {"process": "ended"}],
    [{"request": {"service": "up", "status": 429}}, {"fault": "cut"}, {"fault": {"id": "cut", "was": "healed"}}],
    [{"fault": "cut"}, {"fault": {"id": "cut", "was": "landed"}}, UP],
    [{"request": {"service": "up", "fault": "slow"}}, {"request": {"service": "up", "path": "/b"}}],
    [UP, {**UP, "after": {"at_least": "2s", "at_most": "3s"}}],
    [MODEL, {"request": {"tool_result": "(?i)refused"}}],
    [{"request": {"number": 2}}, {"process": "ended"}],
    {"of": [UP, UP], "within": "2250ms"},
    {"of": [{"fault": "cut"}], "never_after": {"request": {"service": "up", "status": 429}}},
    {"of": [{"process": "ended"}], "never_after": MODEL},
    {"of": [UP, UP], "never_after": {"request": {"service": "up", "number": 2}}},
    {"of": [UP], "never_after": {"request": {"service": "up", "number": 3}}},
]  # fmt: skip
BREAKS = [
    ([UP, {"request": {"number": 1}}], "after that no request"),
    ([UP, UP, UP], "only request 3"),
    ([{"step": 3}, UP], "no step 3"),
    ([{"fault": "slow"}, UP], "no fault slow armed"),
    ([{"process": "ended"}, UP], "only request 3"),
    ([UP, {**UP, "after": {"at_least": "3s"}}], "sooner than 3 s"),
    ([UP, {**UP, "after": {"at_most": "2s"}}], "later than 2 s"),
    ({"of": [UP, UP], "within": "2s"}, "2.250 s in all"),
    ({"of": [{"fault": "cut"}], "never_after": UP}, "and then request 3"),
    ({"of": [UP], "never_after": {"request": {"service": "up", "number": 2}}}, "then request 3"),
    ([{"request": {"number": 3}}, UP], "no request of kind turn to model (number 3)"),
]


@pytest.mark.parametrize("written", HOLDS, ids=str)
def test_what_came_in_this_order_holds(written):
    assert verdict("order", written, SEEN) == "passed"


@pytest.mark.parametrize(("written", "seen"), BREAKS, ids=lambda value: str(value)[:60])
def test_what_did_not_is_broken_and_says_where(written, seen):
    finding = judge("order", written, SEEN)

    assert finding.verdict.value == "failed"
    assert seen in finding.seen


def test_a_retry_that_came_too_soon_is_not_excused_by_a_later_one():
    evidence = ran(requests=[up(1, 1.0), up(2, 1.1), up(3, 9.0)])

    assert verdict("order", [UP, {**UP, "after": {"at_least": "2s"}}], evidence) == "failed"


def test_a_fault_landed_with_its_earliest_hit():
    late, early = request(t=0.9, fault="cut"), request(t=0.2, fault="cut")
    evidence = ran(
        requests=[late, early],
        timeline=[Happening(0.1, "armed", "cut"), Happening(0.5, "step", "wait", 1)],
    )

    landed = {"fault": {"id": "cut", "was": "landed"}}
    assert verdict("order", [landed, {"step": 1}], evidence) == "passed"


def test_when_a_fault_of_the_place_landed_is_not_on_record():
    landed = [{"fault": {"id": "full", "was": "landed"}}, {"process": "ended"}]
    record = FaultRecord("full", "filesystem.full", True, True, 1, "it was met")
    happened = [Happening(0.1, "armed", "full"), Happening(6.0, "ended")]

    assert verdict("order", landed, ran(timeline=happened, faults=[record])) == "unavailable"
    assert verdict("order", landed, ran(timeline=happened)) == "failed"

    never = {"of": [{"fault": "full"}], "never_after": landed[0]}
    assert verdict("order", never, ran(timeline=happened, faults=[record])) == "unavailable"
    assert verdict("order", never, ran(timeline=happened)) == "passed"


def test_where_nothing_was_run_nothing_came_in_order():
    assert verdict("order", [UP, UP], Evidence(requests=SEEN.requests)) == "unavailable"


def test_the_first_entry_comes_after_nothing():
    with pytest.raises(ValueError, match="nothing comes before the first entry"):
        ORACLES["order"].parse([{**UP, "after": {"at_least": "1s"}}, UP])


def test_more_time_could_still_bring_what_is_missing():
    parsed = ORACLES["order"].parse({"of": [UP], "never_after": UP})

    assert ORACLES["order"].final(parsed) is False


times = st.floats(0, 100).map(lambda t: round(t, 3))


@given(st.lists(times, min_size=1, max_size=12))
def test_as_many_as_came_are_found_in_order_and_not_one_more(moments):
    evidence = ran(requests=[up(n, t) for n, t in enumerate(sorted(moments), 1)])

    if len(moments) > 1:
        assert verdict("order", [UP] * len(moments), evidence) == "passed"
    assert verdict("order", [UP] * (len(moments) + 1), evidence) == "failed"


@given(st.lists(times, max_size=8), st.lists(times, max_size=8))
def test_the_time_line_is_in_order_and_a_landing_never_before_its_fault(asked, armed):
    evidence = ran(
        requests=[up(n, t, fault="cut") for n, t in enumerate(sorted(asked), 1)],
        timeline=[Happening(t, "armed", "cut") for t in armed],
    )
    points = timeline(evidence)
    landings = [point.t for point in points if point.what == "landed"]

    assert [point.t for point in points] == sorted(point.t for point in points)
    assert len(points) == len(asked) + len(armed) + len(landings)
    assert len(landings) == (len(armed) if asked else 0)
    assert all(landing >= min(armed) for landing in landings)
