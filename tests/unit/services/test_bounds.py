"""What a subject can make the services hold is bounded, and what is beyond it is told."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest

from harness.services.base import Incoming
from harness.services.bounds import MOST_VALUES, Most, Taken, read_json
from harness.services.registry import SERVICES, build
from tests.unit.services.stand import ask, connect, get, hello, read, recorded


def incoming(body: bytes = b"", path: str = "/", **headers: str) -> Incoming:
    return Incoming(1, "POST", path, headers, body)


@pytest.mark.parametrize(
    ("most", "each"),
    [
        (Most(requests=3), incoming()),
        (Most(heads=3 * 104), incoming(path="/" * 100, abc="d")),
        (Most(bodies=300), incoming(b"x" * 100)),
        (Most(remembered=300), incoming(b"x" * 100)),
        (Most(remembered=3 * 1024), incoming(b"," * 15 + b"x" * 49)),
    ],
)
def test_what_is_beyond_any_bound_is_counted(most, each):
    taken = Taken(most, {"chat"})

    assert [taken.take("chat", each) for _ in range(5)] == [True] * 3 + [False] * 2
    assert taken.refused == 2


def test_a_small_request_fits_where_a_large_one_does_not():
    taken = Taken(Most(bodies=100), ())

    assert not taken.take("upstream", incoming(b"x" * 101))
    assert taken.take("upstream", incoming(b"x" * 100))


def test_only_who_remembers_is_held_to_what_it_may_remember():
    taken = Taken(Most(remembered=10), {"chat"})

    assert taken.take("model", incoming(b"x" * 100))
    assert not taken.take("chat", incoming(b"x" * 100))


def test_a_request_too_many_is_reset_neither_served_nor_recorded_and_told(serve):
    live, where = serve(most=Most(requests=2))
    for _ in range(2):
        with connect(where) as sock:
            sock.sendall(get("/"))
            assert read(sock, len(hello())) == hello()

    with pytest.raises(ConnectionResetError):
        ask(where, get("/"))

    recorded(live, 2)
    assert live.unrecorded() == 1


def test_half_requests_count_too(serve):
    live, where = serve(most=Most(requests=2))
    for _ in range(4):
        with connect(where) as sock:
            sock.sendall(get("/")[:-2])

    assert live.settle(10)
    assert len(live.requests()) == 2
    assert live.unrecorded() == 2


@pytest.mark.parametrize("text", [b"[" * 2, b"[,", b"{", "[", "{,"])
def test_a_document_of_too_many_values_is_not_read(text):
    filler = text * (MOST_VALUES + 1)

    with pytest.raises(ValueError, match=f"more than {MOST_VALUES} values"):
        read_json(filler)


def test_a_long_text_is_no_document_of_many_values():
    assert read_json(json.dumps("x" * (2 * MOST_VALUES))) == "x" * (2 * MOST_VALUES)


TOLD = {
    "mcp": (
        {"tools": [{"name": "note"}]},
        "/mcp",
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
         "params": {"name": "note", "arguments": [[]] * 1000}},
    ),
    "telegram": (
        {},
        "/bot1:a/sendMessage",
        {"chat_id": 4242, "text": "x", "reply_markup": {"inline_keyboard": [[]] * 1000}},
    ),
    "slack": (
        {},
        "/api/chat.postMessage",
        {"token": "xoxb-1", "channel": "general", "text": "x", "blocks": [[]] * 1000},
    ),
    "github": (
        {"repos": {"o/r": {}}},
        "/repos/o/r/issues",
        {"title": "x", "labels": ["x"] * 1000},
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", TOLD)
def test_a_service_that_remembers_is_told_only_so_much(kind, serve):
    written, path, said = TOLD[kind]
    parse = SERVICES[kind].parse
    assert parse is not None
    live, where = serve(build(parse("remembers", written)), most=Most(remembered=1 << 20))
    body = json.dumps(said).encode()
    size = str(len(body))
    asking = get(path, "POST", content_length=size, content_type="application/json") + body

    for _ in range(20):
        with suppress(ConnectionResetError), connect(where) as sock:
            sock.sendall(asking)
            assert sock.recv(1 << 16).startswith(b"HTTP/1.1 20")

    assert live.settle(10)
    assert 1 < len(live.requests()) < 18
    assert len(live.requests()) + live.unrecorded() == 20
