"""What a client sends is read as HTTP/1.1, or refused and recorded; it never harms others."""

from __future__ import annotations

import hashlib
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.services import reader
from harness.services.record import Shelf
from harness.services.reply import End, Part, Wire
from tests.unit.services.stand import (
    Scripted,
    ask,
    connect,
    get,
    hello,
    post,
    read,
    read_all,
    recorded,
    until,
)


def test_many_requests_share_a_connection(serve):
    service = Scripted()
    live, where = serve(service)

    with connect(where) as sock:
        for number in range(20):
            sock.sendall(post(b"x" * number, f"/{number}?q"))
            assert read(sock, len(hello())) == hello()

    assert [r.path for r in live.requests()] == [f"/{n}?q" for n in range(20)]
    assert {r.conn for r in live.requests()} == {1}
    assert [r.seq for r in live.requests()] == list(range(1, 21))
    assert [len(i.body) for i in service.asked] == list(range(20))


@pytest.mark.parametrize("count", [2, 300])
def test_requests_that_are_sent_ahead_are_answered_in_order(serve, count):
    wires = {f"/{n}": Wire(parts=(Part(b"%03d" % n),)) for n in range(count)}
    wires["/0"] = Wire(parts=(Part(b"000"),), delay=0.1)
    live, where = serve(Scripted(wires))

    with connect(where) as sock:
        sock.sendall(b"".join(get(f"/{n}") for n in range(count)) + get(connection="close"))
        replies = read_all(sock)

    assert [r[-3:] for r in replies.split(b"HTTP/1.1 200 OK")[1:-1]] == [
        b"%03d" % n for n in range(count)
    ]
    assert recorded(live, count + 1) == ["whole"] * (count + 1)


def test_a_request_may_come_byte_by_byte_and_in_chunks(serve):
    service = Scripted()
    _, where = serve(service)
    request = (
        b"POST /a?b=c HTTP/1.1\r\nX-Name: one\r\nx-name: two\r\nTransfer-Encoding: chunked\r\n\r\n"
        b"3\r\nabc\r\nA;ext=1\r\n0123456789\r\n0\r\nLate: noted\r\n\r\n"
    )

    with connect(where) as sock:
        for byte in request:
            sock.sendall(bytes([byte]))
        assert read(sock, len(hello())) == hello()

    incoming = service.asked[0]
    assert (incoming.method, incoming.path) == ("POST", "/a?b=c")
    assert incoming.body == b"abc0123456789"
    assert incoming.headers == {
        "x-name": "one, two",
        "transfer-encoding": "chunked",
        "trailer late": "noted",
    }


def test_trailers_without_end_are_refused(serve):
    _, where = serve(Scripted())
    with connect(where) as sock:
        sock.sendall(b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n")
        sock.sendall(b"late: and later\r\n" * 40_000)
        assert sock.recv(12) == b"HTTP/1.1 431"


def test_a_body_of_sixty_four_mebibytes_is_taken_and_stored(serve, tmp_path):
    service = Scripted()
    live, where = serve(service, shelf=Shelf.of_trial(tmp_path))
    body = b"0123456789abcdef" * (reader.MOST_BODY // 16)

    assert ask(where, post(body)) == hello()

    live.close()
    assert live.requests()[0].body_sha256 == hashlib.sha256(body).hexdigest()
    assert (tmp_path / "requests/1.body").read_bytes() == body


@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_beyond_the_limit_is_refused_and_recorded(serve, monkeypatch, chunked):
    monkeypatch.setattr(reader, "MOST_BODY", 1000)
    service = Scripted()
    live, where = serve(service)
    body = b"7d0\r\n" + b"x" * 2000 + b"\r\n" if chunked else b"x" * 2000
    framing = {"transfer_encoding": "chunked"} if chunked else {"content_length": "2000"}

    with connect(where) as sock:
        sock.sendall(get("/up", "POST", **framing) + body)
        reply = read_all(sock)

    assert reply.startswith(b"HTTP/1.1 413 ")
    assert b"connection: close" in reply
    assert service.asked == []
    request = live.requests()[0]
    assert (request.kind, request.status, request.ended) == ("probe", 413, "refused")
    assert (request.method, request.path) == ("POST", "/up")


def test_bodies_that_are_too_large_together_are_refused_and_later_ones_are_not(serve):
    service = Scripted({"/hang": Wire(head=False, end=End.HANG)})
    live, where = serve(service, memory=2 << 20)
    large = b"x" * (1500 << 10)

    with connect(where) as first, connect(where) as second:
        first.sendall(post(large, "/hang"))
        until(lambda: service.asked)
        second.sendall(get("/up", "POST", content_length=str(len(large))) + large[: 600 << 10])
        assert read_all(second).startswith(b"HTTP/1.1 413 ")

    until(lambda: len(live.requests()) == 2)
    assert [r.ended for r in live.requests()] == ["cut", "refused"]


def test_bodies_that_come_faster_than_they_are_stored_wait_and_are_not_refused(serve, tmp_path):
    def slowly(body: bytes) -> tuple[bytes, list[str]]:
        if len(body) > 1000:
            time.sleep(0.05)
        return body, []

    live, where = serve(shelf=Shelf.of_trial(tmp_path), redact=slowly, memory=4 << 20)
    with connect(where) as sock:
        for _ in range(10):
            sock.sendall(post(b"x" * (1 << 20)))
            assert read(sock, len(hello())) == hello()

    live.close()
    assert [r.ended for r in live.requests()] == ["whole"] * 10


def test_requests_sent_ahead_of_a_reply_that_closes_are_on_record(serve):
    service = Scripted({"/last": Wire(end=End.CLOSE)})
    live, where = serve(service)

    with connect(where) as sock:
        sock.sendall(get("/last") + get("/ahead?secret"))
        read_all(sock)

    until(lambda: len(live.requests()) == 2)
    assert [(r.path, r.ended) for r in live.requests()] == [
        ("/last", "whole"),
        ("/ahead?secret", "cut"),
    ]
    assert [i.path for i in service.asked] == ["/last"]


def test_a_client_that_asks_first_is_told_to_go_on_or_not_to(serve, monkeypatch):
    monkeypatch.setattr(reader, "MOST_BODY", 1000)
    _, where = serve()

    with connect(where) as sock:
        sock.sendall(get("/", "PUT", content_length="3", expect="100-continue"))
        assert read(sock, 25) == b"HTTP/1.1 100 Continue\r\n\r\n"
        sock.sendall(b"abc")
        assert read(sock, len(hello())) == hello()
        sock.sendall(get("/", "PUT", content_length="3000", expect="100-continue"))
        assert read_all(sock).startswith(b"HTTP/1.1 413 ")


def test_a_request_to_speak_another_protocol_is_an_ordinary_request(serve):
    service = Scripted()
    _, where = serve(service)
    upgrade = get("/ws", connection="Upgrade", upgrade="websocket")

    with connect(where) as sock:
        sock.sendall(upgrade * 3 + get("/after"))
        assert read(sock, 4 * len(hello())) == 4 * hello()

    assert [i.path for i in service.asked] == ["/ws", "/ws", "/ws", "/after"]


@pytest.mark.parametrize(
    "garbage",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",  # the start of a TLS handshake
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"GET / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"GET / HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\n",
        b"\r\n\r\nhello\r\n\r\n",
    ],
)
def test_what_is_no_http_is_refused_recorded_and_harms_nobody(serve, garbage):
    service = Scripted()
    live, where = serve(service)

    with connect(where) as sock:
        sock.sendall(get("/before") + garbage)
        reply = read_all(sock)

    assert reply.startswith(hello() + b"HTTP/1.1 400 ")
    assert recorded(live, 2) == ["whole", "refused"]
    assert live.requests()[1].kind == "probe"
    assert [i.path for i in service.asked] == ["/before"]
    assert ask(where, get()) == hello()


def test_a_head_without_end_is_refused(serve):
    live, where = serve()

    with connect(where) as sock:
        sock.sendall(b"GET / HTTP/1.1\r\nX: " + b"x" * (reader.MOST_HEAD + 1))
        assert read_all(sock).startswith(b"HTTP/1.1 431 ")

    assert recorded(live, 1) == ["refused"]


def test_clients_that_never_finish_hold_up_nobody_and_what_they_said_is_on_record(serve, tmp_path):
    live, where = serve(shelf=Shelf.of_trial(tmp_path))
    idle = [connect(where) for _ in range(20)]
    for sock in idle:
        sock.sendall(b"POST /half HTTP/1.1\r\ncontent-length: 10\r\n\r\nsecr")
    idle.append(connect(where))
    idle[-1].sendall(b"GET /never-end")

    began = time.monotonic()
    assert ask(where, get()) == hello()
    assert time.monotonic() - began < 10
    for sock in idle:
        sock.close()

    until(lambda: len(live.requests()) == 22)
    live.close()
    half = [r for r in live.requests() if r.path == "/half"]
    assert [(r.kind, r.ended, r.status) for r in half] == [("probe", "cut", 0)] * 20
    bodies = {path.read_bytes() for path in (tmp_path / "requests").iterdir()}
    assert bodies == {b"secr", b"GET /never-end", b""}


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.lists(
        st.one_of(
            st.binary(max_size=200),
            st.sampled_from(
                [get(), post(b"abc"), b"\r\n", b"GET ", b"Transfer-Encoding: chunked\r\n"]
            ),
        ),
        max_size=6,
    )
)
def test_no_bytes_whatever_break_the_server(serve_once, pieces):
    live, where = serve_once

    with connect(where) as sock:
        for piece in pieces:
            try:
                sock.sendall(piece)
            except OSError:
                break

    assert ask(where, get("/alive")) == hello()
    assert live.failure() is None


@pytest.fixture
def serve_once(serve):
    return serve()
