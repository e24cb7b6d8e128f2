"""The picture of what happened: everything is in it, in its place, and it stays readable."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.report.html.events import Event, Lane, lanes
from harness.report.html.stored import Stored, read_stored
from harness.report.html.timeline import SLOTS, Timeline, timeline
from tests.unit.report.folders import journal, request, write_trial

TIMES = st.floats(-10, 1e6, allow_nan=False)


def stored(tmp_path: Path, **files: Any) -> Stored:
    write_trial(tmp_path / "trials/t", **files)
    return read_stored(tmp_path, "trials/t")


def drawn(tmp_path: Path, **files: Any) -> Timeline:
    picture = timeline(lanes(stored(tmp_path, **files)))
    assert picture is not None
    return picture


def lane(tmp_path: Path, name: str, **files: Any) -> Lane:
    return {one.name: one for one in lanes(stored(tmp_path, **files))}[name]


def test_a_plain_trial_has_its_steps_requests_process_and_harness(tmp_path: Path):
    picture = drawn(tmp_path)

    assert [strip.name for strip in picture.strips] == ["steps", "→ model", "processes", "harness"]
    assert [span.label for span in picture.strips[0].spans] == ["", "wait"]
    assert [len(strip.marks) for strip in picture.strips] == [0, 2, 0, 5]
    assert picture.untold == 0


def test_times_count_from_the_first_step(tmp_path: Path):
    (first, second) = lane(tmp_path, "steps").events

    assert [first.t, second.t] == pytest.approx([0.0, 0.02])
    assert second.end == pytest.approx(1.0)


def test_requests_that_went_wrong_look_other_than_those_that_did_not(tmp_path: Path):
    seen = lane(
        tmp_path,
        "→ model",
        requests_jsonl=[
            request(1, 0.1),
            request(2, 0.2, kind="probe", turn=None),
            request(3, 0.3, fault="cut", ended="cut"),
            request(4, 0.4, ended="reset"),
            request(5, 0.5, status=500),
        ],
    )

    assert [event.shape for event in seen.events] == ["turn", "minor", "hit", "bad", "bad"]
    assert seen.note == "5 requests, 1 hit by a fault, 2 not whole"
    assert "POST /v1/messages · 200, cut · turn 3 · hit by cut" in seen.events[2].words
    assert seen.events[2].file == "requests/3.body"


def test_a_fault_is_drawn_while_it_was_in_force_and_where_it_hit(tmp_path: Path):
    fault = {
        "id": "cut",
        "fault": "model.truncate",
        "armed": True,
        "landed": True,
        "count": 1,
        "proof": "request 1 was cut",
    }
    events = [
        *journal()[:5],
        {"t": 0.2, "event": "armed", "fault": "cut", "injector": "model.truncate"},
        {"t": 0.6, "event": "healed", "fault": "cut"},
        *journal()[5:],
    ]
    seen = lane(
        tmp_path,
        "cut",
        verdict_json={"faults": [fault]},
        journal_jsonl=events,
        requests_jsonl=[request(1, 0.3, fault="cut", ended="cut")],
    )

    assert seen.note == "model.truncate, landed once"
    assert [event.shape for event in seen.events] == ["fault", "hit"]
    assert [seen.events[0].t, seen.events[0].end] == pytest.approx([0.1, 0.5])


def test_a_fault_without_effect_says_so(tmp_path: Path):
    fault = {
        "id": "cut",
        "fault": "model.truncate",
        "armed": True,
        "landed": False,
        "count": 0,
        "proof": "request 2 never came",
    }
    armed = {"t": 0.2, "event": "armed", "fault": "cut", "injector": "model.truncate"}
    seen = lane(
        tmp_path, "cut", verdict_json={"faults": [fault]}, journal_jsonl=[*journal(), armed]
    )

    assert seen.note == "model.truncate, armed, did not land"
    assert [event.shape for event in seen.events] == ["missed"]


def test_processes_that_were_left_over_and_changes_of_files_and_clocks_are_in_it(tmp_path: Path):
    live = {"pid": 9, "ppid": 1, "state": "S", "argv": ["sleep", "1000"]}
    change = {"root": "home", "path": "x", "change": "added", "before": None, "by": "other"}
    picture = drawn(
        tmp_path,
        processes_json={
            "after": [{"seconds": 0.0, "live": [live]}, {"seconds": 0.5, "live": [live]}]
        },
        files_json=[{**change, "after": None}],
        evidence_json={"clocks": {"host_moved": 3.5}},
        case_yaml={"sandbox": {"clock": {"zone": "Asia/Kathmandu"}}},
    )
    strips = {strip.name: strip for strip in picture.strips}

    assert "9 still ran: sleep 1000" in strips["processes"].spans[-1].words
    assert strips["processes"].note == "1 left at the end"
    assert "1 added in home" in strips["files"].marks[0].words
    assert [mark.shape for mark in strips["clock"].marks] == ["point", "alarm"]


def test_the_journal_of_a_harness_that_was_killed_is_drawn_as_far_as_it_goes(tmp_path: Path):
    torn = b'{"t": 0.1, "event": "step", "number": 1, "kind": "start"}\n{"t": 0.2, "eve'
    missing = dict.fromkeys(
        ("evidence_json", "verdict_json", "files_json", "processes_json", "network_json", "stdout")
    )
    picture = drawn(tmp_path, journal_jsonl=torn, requests_jsonl=None, **missing)

    assert [strip.name for strip in picture.strips] == ["steps"]


def test_nothing_at_all_is_no_picture(tmp_path: Path):
    assert timeline(lanes(read_stored(tmp_path, "trials/none"))) is None


@pytest.mark.parametrize("number", [1, 3, 200, 5000])
def test_any_number_of_requests_is_drawn_in_a_bounded_picture(tmp_path: Path, number: int):
    requests = [request(n, 0.1 + n / number, kind="turn") for n in range(1, number + 1)]
    picture = drawn(tmp_path, requests_jsonl=requests)
    (strip,) = [strip for strip in picture.strips if strip.name == "→ model"]

    assert sum(mark.count for mark in strip.marks) == number
    assert len(strip.marks) <= SLOTS
    assert len(picture.told) <= 200
    assert len(picture.told) + picture.untold >= number


@given(st.lists(st.tuples(TIMES, st.floats(0, 100)), min_size=1, max_size=80))
def test_whenever_something_happened_it_is_inside_the_picture(times: list[tuple[float, float]]):
    moments = [Event(t, "turn", "x", "f") for t, _ in times]
    spans = [Event(t, "step", "x", "f", t + lasted, "label") for t, lasted in times]
    picture = timeline([Lane("moments", "", moments), Lane("spans", "", spans)])
    assert picture is not None
    dots, bars = picture.strips

    assert all(0 <= mark.x <= 100 for mark in dots.marks)
    assert sum(mark.count for mark in dots.marks) == len(times)
    assert all(bar.width > 0 and bar.x >= 0 and bar.x + bar.width <= 100 for bar in bars.spans)
    told = [float(line.at.removesuffix(" s")) for line in picture.told]
    assert told == sorted(told)


@given(TIMES, st.floats(0.001, 1e5))
def test_the_axis_has_a_few_labels_that_do_not_touch(low: float, length: float):
    ends = [Event(low, "turn", "x", "f"), Event(low + length, "turn", "x", "f")]
    picture = timeline([Lane("moments", "", ends)])
    assert picture is not None
    places = [tick.x for tick in picture.ticks]
    labels = [tick.label for tick in picture.ticks]

    assert len(places) <= 8
    assert all(b - a >= 11 for a, b in itertools.pairwise(places))
    assert len(set(labels)) == len(labels)


def test_marks_say_their_number_only_where_there_is_room():
    crowd = [Event(t / 60, "turn", "x", "f") for t in range(61) for _ in range(3)]
    lonely = [Event(0.5, "turn", "x", "f"), Event(0.5, "bad", "x", "f")]
    picture = timeline([Lane("crowd", "", crowd), Lane("lonely", "", lonely)])
    assert picture is not None

    labelled = [mark.x for mark in picture.strips[0].marks if mark.label]
    assert len(labelled) > 8
    assert all(b - a >= 8 for a, b in itertools.pairwise(labelled))
    (pair,) = picture.strips[1].marks
    assert (pair.label, pair.shape) == ("2", "bad")


def test_a_span_says_what_it_is_only_where_nothing_lies_on_it():
    span = Event(0.0, "process", "x", "f", 10.0, "subject")
    lanes = [
        Lane("free", "", [span, Event(9.0, "point", "x", "f")]),
        Lane("taken", "", [span, Event(1.0, "point", "x", "f")]),
        Lane("short", "", [Event(0.0, "process", "x", "f", 1.0, "subject")]),
    ]
    picture = timeline(lanes)
    assert picture is not None

    assert [strip.spans[0].label for strip in picture.strips] == ["subject", "", ""]
