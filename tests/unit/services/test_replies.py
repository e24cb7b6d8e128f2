"""A reply is sent byte by byte as its wire says, and recorded as what became of it."""

from __future__ import annotations

import time

import pytest

from harness.services.reply import End, Part, Wire
from tests.unit.services.stand import (
    Scripted,
    ask,
    connect,
    get,
    hello,
    read,
    read_all,
    read_into,
    recorded,
    reset_by_client,
    until,
)

HEAD = b"HTTP/1.1 200 OK\r\n"
BIG = 8 << 20


def only(wire: Wire) -> Scripted:
    return Scripted({"/": wire})


@pytest.mark.parametrize(
    ("wire", "expected"),
    [
        (Wire(), HEAD + b"content-length: 0\r\n\r\n"),
        (
            Wire(404, {"X-One": "1", "x-two": "zwei"}, (Part(b"no"),)),
            b"HTTP/1.1 404 Not Found\r\nX-One: 1\r\nx-two: zwei\r\ncontent-length: 2\r\n\r\nno",
        ),
        (
            Wire(529, parts=(Part(b"a"), Part(b"b"))),
            b"HTTP/1.1 529 \r\ncontent-length: 2\r\n\r\nab",
        ),
        (
            Wire(parts=(Part(b"one"), Part(b""), Part(b"0123456789abcdef")), chunked=True),
            HEAD + b"transfer-encoding: chunked\r\n\r\n"
            b"3\r\none\r\n10\r\n0123456789abcdef\r\n0\r\n\r\n",
        ),
        (Wire(204, parts=(Part(b"never sent"),)), b"HTTP/1.1 204 No Content\r\n\r\n"),
        (
            Wire(headers={"x": "grün"}, parts=(Part("größe".encode()),)),
            HEAD + "x: grün\r\ncontent-length: 7\r\n\r\ngröße".encode(),
        ),
    ],
)
def test_a_kept_reply_is_exact_and_the_next_request_gets_its_own(serve, wire: Wire, expected):
    live, where = serve(only(wire))

    with connect(where) as sock:
        sock.sendall(get())
        assert read(sock, len(expected)) == expected
        sock.sendall(get("/next"))
        assert read(sock, len(hello())) == hello()

    assert recorded(live, 2) == ["whole", "whole"]
    assert [r.bytes_sent for r in live.requests()] == [len(expected), len(hello())]
    assert [r.status for r in live.requests()] == [wire.status, 200]


@pytest.mark.parametrize(
    ("wire", "expected", "ended"),
    [
        (Wire(parts=(Part(b"bye"),), end=End.CLOSE), b"content-length: 3\r\n\r\nbye", "whole"),
        (
            Wire(parts=(Part(b"bye"),), end=End.CLOSE, chunked=True),
            b"transfer-encoding: chunked\r\n\r\n3\r\nbye\r\n",
            "cut",
        ),
        (
            Wire(headers={"Content-Length": "10"}, parts=(Part(b"bye"),), end=End.CLOSE),
            b"Content-Length: 10\r\n\r\nbye",
            "cut",
        ),
    ],
)
def test_a_closed_reply_is_whole_only_if_its_framing_says_so(serve, wire, expected, ended):
    service = only(wire)
    live, where = serve(service)

    with connect(where) as sock:
        sock.sendall(get())
        assert read_all(sock) == HEAD + expected

    assert recorded(live, 1) == [ended]
    assert service.ends == [ended]


def test_a_reply_without_a_head_is_nothing_but_its_parts(serve):
    live, where = serve(only(Wire(head=False, parts=(Part(b"\x00garbage\xff"),), end=End.CLOSE)))

    with connect(where) as sock:
        sock.sendall(get())
        assert read_all(sock) == b"\x00garbage\xff"

    assert recorded(live, 1) == ["cut"]
    assert live.requests()[0].status == 0


@pytest.mark.parametrize("parts", [(), (Part(b"x" * 100_000),)])
def test_a_reset_comes_after_the_last_byte_has_been_taken(serve, parts):
    live, where = serve(only(Wire(parts=parts, chunked=True, end=End.RESET)))

    with connect(where) as sock:
        sock.sendall(get())
        got = bytearray()
        with pytest.raises(ConnectionResetError):
            read_into(sock, got)

    chunk = b"186a0\r\n" + b"x" * 100_000 + b"\r\n" if parts else b""
    assert got == HEAD + b"transfer-encoding: chunked\r\n\r\n" + chunk
    assert recorded(live, 1) == ["reset"]
    assert live.requests()[0].bytes_sent == len(got)


def test_a_reset_in_place_of_a_reply_leaves_no_byte(serve):
    live, where = serve(only(Wire(head=False, end=End.RESET)))

    with pytest.raises(ConnectionResetError):
        ask(where, get())

    assert recorded(live, 1) == ["reset"]
    assert live.requests()[0].bytes_sent == 0


def test_a_hanging_reply_lasts_until_its_client_gives_up(serve):
    service = only(Wire(parts=(Part(b"wait"),), end=End.HANG))
    live, where = serve(service)

    with connect(where) as sock:
        sock.sendall(get())
        assert read(sock, len(HEAD) + 25) == HEAD + b"content-length: 4\r\n\r\nwait"
        sock.settimeout(0.1)
        with pytest.raises(TimeoutError):
            sock.recv(1)
        assert live.requests() == []

    assert recorded(live, 1) == ["cut"]
    assert service.ends == ["cut"]


def test_what_hangs_at_the_end_of_the_trial_is_reset_and_on_record(serve):
    service = only(Wire(head=False, end=End.HANG))
    live, where = serve(service)

    with connect(where) as sock:
        sock.sendall(get())
        until(lambda: service.asked)
        live.close()
        with pytest.raises(ConnectionResetError):
            sock.recv(1)

    assert [r.ended for r in live.requests()] == ["cut"]


def test_parts_come_at_their_time_and_other_clients_do_not_wait(serve):
    parts = (Part(b"1"), Part(b"2", delay=0.15), Part(b"3", delay=0.15))
    live, where = serve(Scripted({"/slow": Wire(parts=parts, delay=0.6)}))
    with connect(where) as slow:
        began = time.monotonic()
        slow.sendall(get("/slow"))
        assert ask(where, get()) == hello()
        assert time.monotonic() - began < 0.55
        seen = []
        data = b""
        while not data.endswith(b"123"):
            data += slow.recv(100)
            seen.append(time.monotonic() - began)

    assert len(seen) == 3
    assert all(at >= 0.6 + 0.15 * n - 0.01 for n, at in enumerate(seen))
    assert recorded(live, 2) == ["whole", "whole"]
    assert [r.path for r in live.requests()] == ["/slow", "/"]  # in order of arrival


def test_a_huge_reply_waits_for_a_client_that_reads_slowly(serve):
    wire = Wire(parts=(Part(b"a" * BIG), Part(b"b" * BIG, delay=0.01)))
    live, where = serve(only(wire))

    with connect(where) as sock:
        sock.sendall(get())
        time.sleep(0.1)
        assert live.requests() == []  # it has not left: this client reads nothing yet
        head = HEAD + b"content-length: 16777216\r\n\r\n"
        data = read(sock, len(head) + 2 * BIG)

    assert data == head + b"a" * BIG + b"b" * BIG
    assert recorded(live, 1) == ["whole"]


@pytest.mark.parametrize(("leave", "ended"), [("close", "cut"), ("reset", "reset")])
def test_a_client_that_leaves_in_the_middle_ends_the_reply(serve, leave, ended):
    service = only(Wire(parts=(Part(b"a" * BIG),)))
    live, where = serve(service)

    sock = connect(where)
    sock.sendall(get())
    read(sock, 1000)
    if leave == "reset":
        reset_by_client(sock)
    else:
        sock.close()  # with unread data this resets, too

    assert recorded(live, 1)[0] in {ended, "reset"}
    assert 0 < live.requests()[0].bytes_sent < BIG
    assert service.ends == [live.requests()[0].ended]


def test_a_client_that_leaves_during_a_pause_ends_the_reply(serve):
    service = only(Wire(parts=(Part(b"1"), Part(b"2", delay=30.0))))
    live, where = serve(service)

    ask(where, get(), len(HEAD) + len(b"content-length: 2\r\n\r\n1"))

    assert recorded(live, 1) == ["cut"]


def test_head_is_answered_without_a_body_and_with_its_length(serve):
    live, where = serve()

    with connect(where) as sock:
        sock.sendall(get(method="HEAD") + get())
        both = HEAD + b"content-length: 5\r\n\r\n" + hello()
        assert read(sock, len(both)) == both

    assert recorded(live, 2) == ["whole", "whole"]


def test_an_old_client_gets_no_chunks_and_a_closed_connection(serve):
    _, where = serve(only(Wire(parts=(Part(b"a"), Part(b"b")), chunked=True)))

    with connect(where) as sock:
        sock.sendall(b"GET / HTTP/1.0\r\n\r\n")
        assert read_all(sock) == HEAD + b"connection: close\r\n\r\nab"


def test_a_client_that_asks_to_close_is_closed_on(serve):
    live, where = serve()

    with connect(where) as sock:
        sock.sendall(get(connection="close"))
        assert read_all(sock) == HEAD + b"content-length: 5\r\nconnection: close\r\n\r\nhello"

    assert recorded(live, 1) == ["whole"]
