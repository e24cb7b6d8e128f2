"""In a replay a trigger comes at its recorded place, whatever the clock says."""

from __future__ import annotations

import pytest

from harness.case.model import Trigger
from harness.errors import EvidenceLost
from harness.live.cues import Cues
from harness.schedule import Moment, Turn, came_form, schedule_of
from sandboxes import clock

BEGIN = Turn("cut", "begin")
AFTER = Trigger("after", seconds=3.0)
OUTPUT = Trigger("output", pattern="x")
FILE = Trigger("file", path="x")
SECOND = Trigger("request", count=2)
HERE = Moment(2, {"model": 2}, 0.5)


class Time:
    now = 100.0


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> type[Time]:
    monkeypatch.setattr(Time, "now", 100.0)
    monkeypatch.setattr(clock, "monotonic", lambda: Time.now)
    return Time


def at(step: int, model: int, moment: Moment | None = HERE) -> Cues:
    cues = Cues({} if moment is None else {BEGIN: moment})
    cues.step(step)
    for number in range(1, model + 1):
        cues.request("model", number)
    return cues


def comes(cues: Cues, trigger: Trigger, *, by_itself: bool = False) -> bool:
    return cues.comes(BEGIN, trigger, by_itself=by_itself)


def test_without_a_replay_every_trigger_comes_by_itself(time: type[Time]):
    for trigger in (AFTER, OUTPUT, FILE, SECOND, Trigger()):
        cues = Cues(None)
        assert not comes(cues, trigger)
        assert comes(cues, trigger, by_itself=True)


@pytest.mark.parametrize("trigger", [Trigger(), SECOND])
def test_the_start_and_requests_need_no_record(trigger: Trigger, time: type[Time]):
    cues = at(1, 0, None)

    assert not comes(cues, trigger)
    assert comes(cues, trigger, by_itself=True)


def test_time_counts_from_the_last_request_before(time: type[Time]):
    cues = at(2, 2)

    assert not comes(cues, AFTER, by_itself=True)
    assert cues.wait(BEGIN, AFTER) == 0.5
    time.now += 0.4
    assert not comes(cues, AFTER)
    time.now += 0.11
    assert comes(cues, AFTER)
    assert cues.came == {BEGIN: Moment(2, {"model": 2}, 0.51)}
    assert list(cues.missed()) == []


@pytest.mark.parametrize(("step", "model"), [(1, 2), (2, 1)])
def test_it_comes_no_earlier_than_it_came(step: int, model: int, time: type[Time]):
    cues = at(step, model)
    time.now += 1000

    for trigger in (AFTER, OUTPUT, FILE):
        assert not comes(cues, trigger, by_itself=True)
        assert cues.wait(BEGIN, trigger) is None
    assert list(cues.missed()) == [(BEGIN, HERE)]


@pytest.mark.parametrize(("step", "model"), [(3, 2), (2, 3), (3, 0)])
@pytest.mark.parametrize("trigger", [AFTER, OUTPUT, FILE])
def test_it_comes_no_later_than_what_came_after_it(step, model, trigger, time: type[Time]):
    assert comes(at(step, model), trigger)


def test_the_first_request_of_another_service_is_one_that_came_after(time: type[Time]):
    cues = at(2, 2)
    cues.request("upstream", 1)

    assert comes(cues, AFTER)


@pytest.mark.parametrize("trigger", [OUTPUT, FILE])
def test_output_and_files_are_waited_for_and_remembered(trigger: Trigger, time: type[Time]):
    early, late = at(2, 1), at(2, 2)

    assert not comes(early, trigger, by_itself=True)
    early.request("model", 2)
    assert not comes(early, trigger)  # or it would hit the very request that it came after
    time.now += 0.6
    assert comes(early, trigger)
    assert not comes(late, trigger)
    assert comes(late, trigger, by_itself=True)


@pytest.mark.parametrize("trigger", [AFTER, OUTPUT, FILE])
def test_what_never_came_never_comes(trigger: Trigger, time: type[Time]):
    cues = at(9, 9, None)

    assert not comes(cues, trigger, by_itself=True)
    assert list(cues.missed()) == []


def test_a_schedule_is_read_as_it_was_written():
    events = [{"event": "armed", "fault": "cut"}, {"event": "came", **came_form(BEGIN, HERE)}]

    assert schedule_of(events) == {BEGIN: HERE}


@pytest.mark.parametrize("place", [None, {}, {"step": "x", "asked": {}, "since": 0}])
def test_a_schedule_in_another_form_is_lost(place: object):
    with pytest.raises(EvidenceLost, match="does not say when"):
        schedule_of([{"event": "came", "fault": "cut", "what": "begin", "place": place}])
