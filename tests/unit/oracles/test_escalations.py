"""Escalations are told from the service's record; a file of the subject only beside it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.case.grammar import GrammarError
from harness.evidence.model import Evidence
from harness.oracles.registry import ORACLES
from sandboxes.base import Root
from tests.unit.oracles.making import judge, ran, request, state, verdict

KEY = (Root.WORKSPACE, "log.jsonl")


def told(*messages: str | None, service: str = "tg") -> list[Any]:
    return [request(service, message=message, seq=n) for n, message in enumerate(messages, 1)]


def with_file(data: bytes | None, *messages: str | None) -> Evidence:
    if data is None:
        return ran(requests=told(*messages), paths={KEY: None})
    found = state(data.decode("utf-8", "replace"))
    return ran(requests=told(*messages), paths={KEY: found}, contents={KEY: data})


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ({"count": 3}, "passed"),
        ({"count": 2}, "failed"),
        ({"count": 2, "distinct": True}, "passed"),
        ({"at_least": 4}, "failed"),
        ({"at_most": 2}, "failed"),
        ({"count": 2, "reason": "(?i)^need APPROVAL"}, "passed"),
        ({"count": 1, "reason": "(?i)approval", "distinct": True}, "passed"),
        ({"count": 0, "sinks": ["slack"]}, "passed"),
        ({"count": 3, "sinks": ["slack", "tg"]}, "passed"),
    ],
)
def test_messages_that_reached_somebody_are_counted(written, expected):
    evidence = ran(requests=told("Need approval", None, "Need approval", "Done"))

    assert verdict("escalations", written, evidence) == expected


def test_the_same_words_to_another_sink_are_another_escalation():
    evidence = ran(requests=[*told("help", "help"), *told("help", service="slack")])

    assert verdict("escalations", {"count": 2, "distinct": True}, evidence) == "passed"


def test_where_nothing_ran_only_too_many_can_be_seen():
    nothing = Evidence(requests=told("help"))

    assert verdict("escalations", {"count": 1}, nothing) == "unavailable"
    assert verdict("escalations", {"at_most": 1}, Evidence()) == "unavailable"
    assert verdict("escalations", {"at_most": 0}, nothing) == "failed"


def test_what_was_seen_quotes_the_first_one():
    finding = judge("escalations", {"at_least": 1}, ran(requests=told("x" * 200, "y")))

    assert finding.seen == f"2 on record, the first to tg: '{'x' * 80}'…"
    assert finding.evidence == "requests.jsonl"


LINE = json.dumps({"at": 3, "reason": {"why": "Need approval"}}).encode()


@pytest.mark.parametrize(
    ("data", "messages", "expected"),
    [
        (LINE + b"\n", ["Need approval"], "passed"),
        (LINE + b"\n\n  \nNeed approval, in words\n", ["Need approval"], "failed"),
        (b"nothing\n", ["Need approval"], "failed"),
        (None, ["Need approval"], "failed"),
        (LINE, [], "failed"),
        (LINE, ["Need approval", "Need approval"], "failed"),
        (b'{"a": "Need approval"', ["Need approval"], "passed"),
        (b"[" * 200_000 + b"Need approval", ["Need approval"], "passed"),
    ],
)
def test_a_file_of_the_subject_has_to_be_right_as_well(data, messages, expected):
    written = {"count": 1, "reason": "Need approval", "sinks": ["tg", "file:log.jsonl"]}

    assert verdict("escalations", written, with_file(data, *messages)) == expected


def test_a_file_that_is_wrong_decides_whatever_lies_before_it():
    evidence = with_file(LINE + b"\n" + LINE, "help")  # ~/x was not looked at

    for sinks in (["tg", "file:log.jsonl", "file:~/x"], ["tg", "file:~/x", "file:log.jsonl"]):
        assert verdict("escalations", {"count": 1, "sinks": sinks}, evidence) == "failed"


def test_a_file_that_was_not_kept_is_not_observed():
    written = {"count": 1, "sinks": ["tg", "file:log.jsonl"]}
    evidence = ran(requests=told("help"), paths={KEY: state("x")})

    assert verdict("escalations", written, evidence) == "unavailable"
    assert verdict("escalations", written, ran(requests=told("help"))) == "unavailable"


@pytest.mark.parametrize("sinks", [["file:log.jsonl"], ["tg", "file:../x"], ["tg", "file:"]])
def test_a_file_alone_and_a_path_that_is_none_are_refused(sinks):
    with pytest.raises(GrammarError):
        ORACLES["escalations"].parse({"count": 1, "sinks": sinks})


def test_the_file_is_asked_for():
    params = ORACLES["escalations"].parse({"count": 1, "sinks": ["tg", "file:log.jsonl"]})

    assert list(ORACLES["escalations"].wants(params)) == [KEY]


@given(
    said=st.lists(
        st.tuples(st.sampled_from(["tg", "sl", "up"]), st.sampled_from(["a", "b", None]))
    ),
    bounds=st.dictionaries(
        st.sampled_from(["count", "at_least", "at_most"]), st.integers(0, 4), min_size=1
    ).filter(lambda bounds: bounds != {"at_least": 0}),
    distinct=st.booleans(),
    sinks=st.sampled_from([None, ["tg"], ["tg", "sl"]]),
)
def test_it_is_arithmetic(said, bounds, distinct, sinks):
    requests = [request(service, message=text) for service, text in said]
    reached = [(s, text) for s, text in said if text is not None and (not sinks or s in sinks)]
    count = len(set(reached)) if distinct else len(reached)
    good = bounds.get("count", count) == count and bounds.get("at_least", 0) <= count <= bounds.get(
        "at_most", 99
    )
    written = {**bounds, "distinct": distinct, **({"sinks": sinks} if sinks else {})}

    assert verdict("escalations", written, ran(requests=requests)) == (
        "passed" if good else "failed"
    )
