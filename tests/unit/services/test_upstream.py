"""A scripted upstream answers by its rules; its faults are real, and each can be told apart."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from harness.case.model import Fault, HttpRule, ServiceDecl
from harness.faults.base import Layer, ReplyFault
from harness.faults.registry import FAULTS
from harness.services import http
from harness.services.http import HttpUpstream
from harness.services.registry import SERVICES, build
from tests.unit.services.stand import connect, get, read, read_all, recorded

SCHEMA = Draft202012Validator(dict(http.SCHEMA))
RULES = (
    HttpRule("GET", "/report", 429, {"Retry-After": "1"}, times=1),
    HttpRule("GET", "/report", 200, {"content-type": "text/plain"}, b"42\n", times=1),
    HttpRule("POST", "/report", 201),
    HttpRule("GET", "/long", 200, {}, b"x" * 1000),
)


@pytest.fixture
def up(serve):
    return serve(HttpUpstream(ServiceDecl("http", "upstream", RULES)))


def reply(where: str, path: str, method: str = "GET") -> bytes:
    with connect(where) as sock:
        sock.sendall(get(path, method, connection="close"))
        return read_all(sock)


def status(where: str, path: str, method: str = "GET") -> int:
    return int(reply(where, path, method).split()[1])


def test_the_first_rule_that_matches_and_has_times_left_answers(up):
    live, where = up

    assert [status(where, f"/report?try={n}") for n in range(3)] == [429, 200, 404]
    assert status(where, "/report", "POST") == 201
    assert [(r.kind, r.status) for r in live.requests()] == [
        ("turn", 429),
        ("turn", 200),
        ("turn", 404),
        ("turn", 201),
    ]


@pytest.mark.parametrize(
    ("path", "method"), [("/Report", "GET"), ("/report/", "GET"), ("/report", "HEAD"), ("/", "PUT")]
)
def test_what_no_rule_matches_is_a_recorded_404_that_says_so(up, path, method):
    live, where = up

    answer = reply(where, path, method)

    assert answer.startswith(b"HTTP/1.1 404 Not Found\r\ncontent-type: application/json\r\n")
    if method != "HEAD":
        said = json.loads(answer.partition(b"\r\n\r\n")[2])
        assert said == {"error": f"no rule of upstream answers {method} {path}"}
    assert recorded(live, 1) == ["whole"]


def test_a_client_that_takes_it_for_a_proxy_is_understood(up):
    _, where = up

    assert status(where, "http://upstream/report?x") == 429


def test_what_a_case_writes_becomes_rules():
    written: list[dict[str, Any]] = [
        {"on": "GET /a", "reply": {"status": 503, "headers": {"Retry-After": 1}}, "times": 2},
        {"on": "POST /b", "reply": {"json": {"x": [1]}}},
        {"on": "GET /c", "reply": {"base64": "AP8="}, "times": "always"},
        {"on": "GET /d", "reply": {"body": "grün", "headers": {"Content-Type": "x/y"}}},
    ]
    SCHEMA.validate({"up": written})

    assert http.parse("up", written) == ServiceDecl(
        "http",
        "up",
        (
            HttpRule("GET", "/a", 503, {"Retry-After": "1"}, b"", 2),
            HttpRule("POST", "/b", 200, {"content-type": "application/json"}, b'{"x": [1]}'),
            HttpRule("GET", "/c", 200, {"content-type": "application/octet-stream"}, b"\0\xff"),
            HttpRule("GET", "/d", 200, {"Content-Type": "x/y"}, "grün".encode()),
        ),
    )
    assert build(http.parse("up", written)).name == "up"


@pytest.mark.parametrize("name", ["model", "a b", "Up", "-x", ""])
def test_what_is_no_host_name_is_refused_by_the_schema(name):
    assert not SCHEMA.is_valid({name: []})


@pytest.mark.parametrize(
    "rule",
    [
        {"on": "GET report", "reply": {}},
        {"on": "FETCH /report", "reply": {}},
        {"on": "GET /report?x=1", "reply": {}},
        {"on": "GET /report"},
        {"on": "GET /report", "reply": {"status": 99}},
        {"on": "GET /report", "reply": {"body": "a", "json": 1}},
        {"on": "GET /report", "reply": {"json": 1, "base64": "AA=="}},
        {"on": "GET /report", "reply": {"base64": "A"}},
        {"on": "GET /report", "reply": {"headers": {"x": "a\r\nb: c"}}},
        {"on": "GET /report", "reply": {}, "times": 0},
        {"on": "GET /report", "reply": {}, "time": 1},
    ],
)
def test_what_is_no_rule_is_refused_by_the_schema(rule):
    assert not SCHEMA.is_valid({"up": [rule]})
    assert SCHEMA.is_valid({"up": [{"on": "GET /report", "reply": {}}]})


def test_a_kind_that_cannot_be_declared_is_an_error():
    for kind in ("model", "dns", "carrier-pigeon"):
        with pytest.raises(LookupError, match="write one of http"):
            build(ServiceDecl(kind, "x"))


def test_every_kind_of_service_says_what_it_is():
    for name, kind in SERVICES.items():
        assert kind.name == name
        assert kind.summary.endswith(".")
        Draft202012Validator.check_schema(dict(kind.schema))


UPSTREAM = sorted(name for name in FAULTS if name.startswith("upstream."))


def armed(live, name: str, times: int | None = 1, **params) -> None:
    injector = FAULTS[name]
    assert isinstance(injector, ReplyFault)
    defaults = {
        key: field["default"]
        for key, field in injector.schema["properties"].items()
        if "default" in field
    }
    whole = {**defaults, "service": "upstream", **params}
    Draft202012Validator(dict(injector.schema)).validate(whole)
    live.arm(Fault("wrong", name, times=times, params=whole), injector)


def test_the_catalogue_is_there():
    assert UPSTREAM == [
        "upstream.garbage",
        "upstream.oversized",
        "upstream.redirect-loop",
        "upstream.reset",
        "upstream.slow",
        "upstream.status",
        "upstream.tls-failure",
    ]
    for name in UPSTREAM:
        assert FAULTS[name].layer is Layer.UPSTREAM
        assert not Draft202012Validator(dict(FAULTS[name].schema)).is_valid({})  # no service


def test_a_status_takes_the_place_of_the_reply_and_leaves_the_rule_for_the_retry(up):
    live, where = up
    armed(live, "upstream.status", status=503, headers={"Retry-After": 2}, body="later")

    assert reply(where, "/report") == (
        b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 2\r\ncontent-length: 5\r\n"
        b"connection: close\r\n\r\nlater"
    )
    assert [status(where, "/report") for _ in range(3)] == [429, 200, 404]
    assert live.hits("wrong") == 1


def test_a_slow_reply_is_whole_and_late(up):
    live, where = up
    armed(live, "upstream.slow", delay="200ms")

    began = time.monotonic()
    assert status(where, "/report") == 429

    assert time.monotonic() - began >= 0.19
    assert status(where, "/report") == 200  # the rule was used: the reply was a whole one
    assert [r.fault for r in live.requests()] == ["wrong", None]


def test_a_dripping_reply_comes_in_pieces(up):
    live, where = up
    armed(live, "upstream.slow", delay="0ms", every="20ms", bytes=400)

    with connect(where) as sock:
        began = time.monotonic()
        sock.sendall(get("/long", connection="close"))
        body = read_all(sock).partition(b"\r\n\r\n")[2]

    assert body == b"x" * 1000
    assert time.monotonic() - began >= 0.055


def test_a_reset_comes_instead_of_the_reply_or_within_its_body(up):
    live, where = up
    armed(live, "upstream.reset")
    with pytest.raises(ConnectionResetError):
        reply(where, "/report")
    armed(live, "upstream.reset", after_bytes=10)
    with connect(where) as sock:
        sock.sendall(get("/long"))
        head = b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n"
        assert read(sock, len(head) + 10) == head + b"x" * 10
        with pytest.raises(ConnectionResetError):
            sock.recv(1)

    assert recorded(live, 2) == ["reset", "reset"]
    assert live.hits("wrong") == 2


def test_a_reset_beyond_the_body_has_not_hit_and_waits_for_a_longer_one(up):
    live, where = up
    armed(live, "upstream.reset", after_bytes=500)

    assert status(where, "/report") == 429
    assert live.hits("wrong") == 0
    with pytest.raises(ConnectionResetError):
        reply(where, "/long")
    assert live.hits("wrong") == 1


@pytest.mark.parametrize("instead", ["reply", "body"])
def test_garbage_is_the_same_each_time_and_no_text(up, instead):
    live, where = up
    armed(live, "upstream.garbage", times=2, instead=instead, bytes=100)

    first, second = reply(where, "/report"), reply(where, "/report")

    assert first == second
    body = first if instead == "reply" else first.partition(b"\r\n\r\n")[2]
    assert len(body) == 100
    with pytest.raises(UnicodeDecodeError):
        body.decode()
    assert first.startswith(b"HTTP/1.1 429 ") is (instead == "body")


def test_an_oversized_body_is_the_rules_own_and_then_padding(up):
    live, where = up
    armed(live, "upstream.oversized", size="3MiB", pad="#")

    body = reply(where, "/long").partition(b"\r\n\r\n")[2]

    assert body == b"x" * 1000 + b"#" * ((3 << 20) - 1000)
    assert recorded(live, 1) == ["whole"]


def test_a_redirect_leads_back_to_where_it_came_from(up):
    live, where = up
    armed(live, "upstream.redirect-loop", times=None)

    for _ in range(3):
        assert reply(where, "/long?x").startswith(b"HTTP/1.1 302 Found\r\nlocation: ?again\r\n")
    assert live.hits("wrong") == 3
