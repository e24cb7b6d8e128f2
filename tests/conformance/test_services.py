"""Every kind of service that a case can declare, and every fault of its replies.

A service answers whatever it is asked with something that can be sent, and is moved on by
:meth:`answer` alone. A fault is a pure rewrite: it changes nothing but what it gives back,
and gives back the very same wire where it found nothing to change.
"""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.case.model import Fault
from harness.faults.base import HandshakeFault, Layer, ReplyFault
from harness.faults.registry import FAULTS
from harness.services.base import Answer, Hit, HttpService, Incoming
from harness.services.framing import Manner, segments
from harness.services.registry import SERVICES, build
from harness.services.reply import End, Part, Wire

#: What a case could write under a host name, by kind.
SAMPLES: dict[str, Any] = {
    "http": [{"on": "GET /", "reply": {"body": "hello"}, "times": 2}],
    "mcp": {"tools": [{"name": "x", "reply": "y"}]},
    "github": {"repos": {"o/r": {"files": {"a": "1"}, "issues": [{"title": "x"}]}}},
    "git": {"repos": {"app": {"files": {"a": "1"}}}},
    "telegram": {"token": "1:a", "human": [{"on": "x", "press": "y", "times": 1}]},
    "slack": {"token": "xoxb-1", "human": [{"on": "x", "react": "y"}, {"say": "z"}]},
}

DECLARED = sorted(name for name, kind in SERVICES.items() if kind.build)
UPSTREAM = {
    name: fault
    for name, fault in FAULTS.items()
    if isinstance(fault, ReplyFault)
    and fault.layer is Layer.UPSTREAM
    and not isinstance(fault, HandshakeFault)  # it is over before there is a reply
}

TEXT = st.text(st.characters(min_codepoint=1, max_codepoint=255), max_size=20)
REQUESTS = st.builds(
    Incoming,
    conn=st.just(1),
    method=st.sampled_from(["GET", "HEAD", "POST", "DELETE", "PROPFIND"]),
    path=st.one_of(st.just("/"), TEXT, TEXT.map("/{}".format), TEXT.map("http://x/{}".format)),
    headers=st.dictionaries(TEXT, TEXT, max_size=3),
    body=st.binary(max_size=50),
)
WIRES = st.builds(
    Wire,
    status=st.sampled_from([200, 204, 302, 404, 529]),
    headers=st.dictionaries(
        st.sampled_from(["X-A", "Content-Length", "location"]), st.just("7"), max_size=2
    ),
    parts=st.lists(
        st.builds(Part, st.binary(max_size=40), delay=st.sampled_from([0.0, 0.1])), max_size=4
    ).map(tuple),
    chunked=st.booleans(),
    end=st.sampled_from(End),
    delay=st.sampled_from([0.0, 1.0]),
)


def service(kind: str) -> HttpService:
    parse = SERVICES[kind].parse
    assert parse is not None
    return build(parse("upstream", SAMPLES[kind]))


def at_once(made: HttpService, incoming: Incoming, *hits: Hit) -> Answer:
    """Only who asks for a long poll is made to wait."""
    answer = made.answer(incoming, made.classify(incoming), hits)
    assert isinstance(answer, Answer)
    return answer


def params(fault: ReplyFault) -> dict[str, object]:
    fields = fault.schema["properties"].items()
    defaults = {name: field["default"] for name, field in fields if "default" in field}
    return {**defaults, "service": "upstream"}


def test_every_kind_that_can_be_declared_has_a_sample():
    assert sorted(SAMPLES) == DECLARED


@pytest.mark.parametrize("kind", DECLARED)
@given(incoming=REQUESTS)
def test_whatever_is_asked_gets_something_that_can_be_sent(kind, incoming):
    made = service(kind)
    before = made.classify(incoming)

    answer = at_once(made, incoming)

    assert before == service(kind).classify(incoming)
    assert answer.kind in {"turn", "side", "probe", "beyond"}
    assert segments(answer.wire, Manner())[0][1].startswith(b"HTTP/1.1 ")
    for how in ("whole", "cut", "reset"):
        made.ended(answer, how)


@pytest.mark.parametrize("kind", DECLARED)
@pytest.mark.parametrize("name", sorted(UPSTREAM))
def test_every_fault_of_an_upstream_shows_in_what_a_service_answers(kind, name):
    fault = UPSTREAM[name]
    incoming = Incoming(1, "GET", "/", {}, b"")
    made = service(kind)
    hit = Hit(Fault("wrong", name, params=params(fault)), fault)

    hurt = at_once(made, incoming, hit)
    after = at_once(made, incoming)

    assert hurt.missed == frozenset()
    assert hurt.serves is fault.serves
    assert hurt.wire != after.wire


@pytest.mark.parametrize("name", sorted(UPSTREAM))
@given(wire=WIRES)
def test_a_fault_changes_nothing_but_what_it_gives_back(name, wire):
    fault = UPSTREAM[name]
    given_params = params(fault)
    before = copy.deepcopy((wire, given_params))

    once = fault.rewrite_wire(given_params, wire)

    assert (wire, given_params) == before
    assert once == fault.rewrite_wire(given_params, wire)
    assert once is not wire
    assert all(isinstance(data, bytes) for _, data in segments(once, Manner()))
