"""Services on TLS: the same record and the same faults, and handshakes that go wrong."""

from __future__ import annotations

import hashlib
import socket
import ssl
from pathlib import Path
from typing import Any

import pytest

from harness.case.model import Fault
from harness.faults.upstream_tls_failure import TlsFailure
from harness.services.authority import Authority
from harness.services.board import Board
from harness.services.cast import Cast
from harness.services.knock import GREETINGS
from harness.services.reply import End, Part, Wire
from sandboxes.base import Listen
from tests.unit.services.stand import (
    Rewrite,
    Scripted,
    address,
    bound,
    connect,
    fault,
    get,
    hello,
    read,
    read_all,
    until,
)

PORT = 8443
NAME = "upstream"
BAD = TlsFailure()


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority()


@pytest.fixture
def serve_tls(host, authority):
    """Brings up one service on TLS; gives it, and a way to connect to it."""
    up = []

    def start(service: Scripted | None = None, *, bug: bool = False):
        service, where = service or Scripted(), address()
        cast = Cast([service], {service.name: where}, context=authority.context)
        live = host.serve(cast, {Listen(where, PORT): bound(where, PORT)})
        up.append((live, bug))
        return live, where

    yield start
    for live, bug in up:
        live.close()
        assert (live.failure() is not None) is bug, repr(live.failure())


def client(authority: Authority, *, careless: bool = False, old: bool = False) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(cadata=authority.trusted().pem)
    if old:
        context.maximum_version = ssl.TLSVersion.TLSv1_2
    if careless:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def secure(where: str, context: ssl.SSLContext) -> ssl.SSLSocket:
    return context.wrap_socket(connect(where, PORT), server_hostname=NAME)


def arm(live: Any, kind: str, times: int | None = 1) -> None:
    live.arm(Fault("bad", BAD.name, times=times, params={"service": NAME, "kind": kind}), BAD)


def ends(live: Any, count: int) -> list[tuple[str, str, str | None]]:
    until(lambda: len(live.requests()) >= count)
    return [(r.path, r.ended, r.fault) for r in live.requests()]


@pytest.mark.parametrize("old", [False, True], ids=["tls-1.3", "tls-1.2"])
def test_a_request_on_tls_is_served_and_recorded_like_any_other(serve_tls, authority, old):
    live, where = serve_tls()
    with secure(where, client(authority, old=old)) as sock:
        for path in ("/a", "/b"):
            sock.sendall(get(path))
            assert read(sock, len(hello())) == hello()

    assert ends(live, 2) == [("/a", "whole", None), ("/b", "whole", None)]
    assert {r.bytes_sent for r in live.requests()} == {len(hello())}
    assert {r.conn for r in live.requests()} == {1}


def test_a_large_reply_comes_whole_at_the_pace_of_its_client(serve_tls, authority):
    body = bytes(range(256)) * 20_000
    live, where = serve_tls(Scripted({"/": Wire(parts=(Part(body),))}))
    with secure(where, client(authority)) as sock:
        sock.sendall(get("/", connection="close"))
        data = read_all(sock)

    assert data.endswith(body)
    assert ends(live, 1) == [("/", "whole", None)]
    assert live.requests()[0].bytes_sent == len(data)


def test_a_client_that_leaves_a_large_reply_has_a_part_of_it(serve_tls, authority):
    body = bytes(30_000_000)
    live, where = serve_tls(Scripted({"/": Wire(parts=(Part(body),))}))
    sock = secure(where, client(authority))
    sock.sendall(get("/"))
    read(sock, 1000)
    sock.close()

    ((_, how, _),) = ends(live, 1)
    assert how in {"cut", "reset"}
    assert 1000 < live.requests()[0].bytes_sent < len(body)


WIRES = {
    "a reset": (Wire(head=False, end=End.RESET), "reset"),
    "a cut body": (
        Wire(headers={"content-length": "9"}, parts=(Part(b"he"),), end=End.CLOSE),
        "cut",
    ),
    "slow pieces": (Wire(parts=(Part(b"he"), Part(b"llo", delay=0.05))), "whole"),
}


@pytest.mark.parametrize(("wire", "how"), WIRES.values(), ids=WIRES)
def test_replies_go_wrong_on_tls_as_they_do_without(serve_tls, authority, wire, how):
    live, where = serve_tls()
    live.arm(fault("wrong"), Rewrite(lambda _: wire))
    with secure(where, client(authority)) as sock:
        sock.sendall(get("/", connection="close"))
        if how == "reset":
            below = socket.socket(fileno=sock.detach())
            below.settimeout(10)
            with below, pytest.raises(ConnectionResetError):
                read_all(below)
        else:
            assert read_all(sock).endswith(b"hello" if how == "whole" else b"he")

    assert ends(live, 1) == [("/", how, "wrong")]


SAID = {
    "expired": "turned it down (certificate expired)",
    "wrong-host": "turned it down (bad certificate)",
    "untrusted": "turned it down (unknown ca)",
    "handshake": "was turned away",
    "protocol": "was turned away",
    "closed": "was turned away",
}


def test_every_greeting_is_tried():
    assert tuple(SAID) == GREETINGS


@pytest.mark.parametrize("old", [False, True], ids=["tls-1.3", "tls-1.2"])
@pytest.mark.parametrize("kind", GREETINGS)
def test_a_client_that_looks_meets_the_fault_and_the_next_one_does_not(
    serve_tls, authority, kind, old
):
    live, where = serve_tls()
    arm(live, kind)
    with pytest.raises(OSError, match=r"SSL|closed|EOF|reset"):
        secure(where, client(authority, old=old))
    assert ends(live, 1) == [("", "refused", "bad")]
    assert (live.requests()[0].status, live.requests()[0].kind) == (0, "probe")
    assert live.hits("bad") == 1
    assert live.proof("bad").endswith(f"the client: {SAID[kind]} 1x")

    with secure(where, client(authority, old=old)) as sock:
        sock.sendall(get())
        assert read(sock, len(hello())) == hello()
    assert ends(live, 2)[1] == ("/", "whole", None)
    assert live.hits("bad") == 1


@pytest.mark.parametrize("kind", ["expired", "wrong-host", "untrusted"])
def test_a_client_that_does_not_look_goes_on_and_has_met_it(serve_tls, authority, kind):
    live, where = serve_tls()
    arm(live, kind)
    with secure(where, client(authority, careless=True)) as sock:
        for path in ("/a", "/b"):
            sock.sendall(get(path))
            assert read(sock, len(hello())) == hello()

    assert ends(live, 2) == [("/a", "whole", "bad"), ("/b", "whole", None)]
    assert live.proof("bad") == "1 request on record carries it; the client: went on 1x"


def test_a_client_that_looks_after_the_handshake_is_on_record_too(serve_tls, authority):
    live, where = serve_tls()
    arm(live, "wrong-host")
    secure(where, client(authority, careless=True)).close()

    assert ends(live, 1) == [("", "cut", "bad")]
    assert "made the handshake and left 1x" in live.proof("bad")


def test_who_only_connects_meets_nothing_and_uses_nothing_up(serve_tls, authority):
    live, where = serve_tls()
    arm(live, "handshake")
    connect(where, PORT).close()
    with connect(where, PORT) as waiting:
        with pytest.raises(OSError, match="SSL"):
            secure(where, client(authority))
        assert live.hits("bad") == 1
        assert len(live.requests()) == 1
        waiting.sendall(b"\x16\x03")


def test_what_is_no_handshake_is_on_record_and_meets_no_fault(serve_tls, authority):
    live, where = serve_tls()
    arm(live, "handshake", times=None)
    with connect(where, PORT) as sock:
        sock.sendall(get())
        read_all(sock)

    assert ends(live, 1) == [("", "refused", None)]
    assert live.hits("bad") == 0


@pytest.mark.parametrize("kind", ["expired", "handshake"])
@pytest.mark.parametrize(
    ("said", "how"),
    [
        (b"\x16\x03\x01\x02\x00\x01", "cut"),
        (b"\x16\x03\x01\x00\x09\x01\x00\x00\x05\x03\x03" + bytes(3), "refused"),
        (b"\x16\x03\x01\xff\xff\x01" + bytes(10), "refused"),
    ],
    ids=["half", "broken", "too-long"],
)
def test_what_only_begins_as_a_handshake_meets_no_fault(serve_tls, authority, kind, said, how):
    live, where = serve_tls()
    arm(live, kind)
    with connect(where, PORT) as sock:
        sock.sendall(said)
        sock.shutdown(socket.SHUT_WR)
        read_all(sock)

    assert ends(live, 1) == [("", how, None)]
    assert live.requests()[0].body_sha256 == hashlib.sha256(said).hexdigest()
    with pytest.raises(OSError, match=r"SSL|EOF"):
        secure(where, client(authority))
    assert ends(live, 2)[1] == ("", "refused", "bad")
    assert live.hits("bad") == 1


def test_a_handshake_fault_hits_no_request_and_another_fault_no_handshake(serve_tls, authority):
    live, where = serve_tls()
    live.arm(fault("busy"), Rewrite(lambda wire: Wire(503, parts=wire.parts)))
    arm(live, "expired")
    with pytest.raises(ssl.SSLCertVerificationError):
        secure(where, client(authority))
    with secure(where, client(authority)) as sock:
        sock.sendall(get())
        assert read(sock, 12) == b"HTTP/1.1 503"

    assert [r.fault for r in live.requests()] == ["bad", "busy"]


def test_what_is_no_request_is_refused_on_tls_too(serve_tls, authority):
    live, where = serve_tls()
    with secure(where, client(authority)) as sock:
        sock.sendall(b"this is no request\r\n\r\n")
        assert read_all(sock).startswith(b"HTTP/1.1 400")

    assert [how for _, how, _ in ends(live, 1)] == ["refused"]


@pytest.mark.parametrize("first", [b"", b"\x16\x03\x01\x02\x00\x01"], ids=["silent", "half"])
def test_a_cut_ends_who_has_no_connection_yet(serve_tls, first):
    live, where = serve_tls()
    with connect(where, PORT) as sock:
        sock.sendall(first)
        until(lambda: live.cut() == 1)
        assert not recv(sock)
        assert live.settle(5)


def recv(sock: socket.socket) -> bytes:
    try:
        return sock.recv(100)
    except ConnectionResetError:
        return b""


def test_a_folder_of_certificates_is_found_by_the_hash(serve_tls, authority, tmp_path: Path):
    trusted = authority.trusted()
    (tmp_path / f"{trusted.name_hash}.0").write_text(trusted.pem)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(capath=str(tmp_path))
    live, where = serve_tls()
    secure(where, context).close()

    assert live.requests() == []


def test_the_board_keeps_handshakes_and_requests_apart():
    board = Board(["one", "two", "busy"])
    for name, kind in (("two", "closed"), ("one", "expired")):
        board.arm(Fault(name, BAD.name, times=1, params={"service": NAME, "kind": kind}), BAD)
    board.arm(fault("busy"), Rewrite(lambda wire: wire))

    assert [hit.fault.id for hit in board.take(NAME)] == ["busy"]
    kinds = [taken and taken[1] for taken in (board.take_greeting(NAME) for _ in range(3))]
    assert kinds == ["expired", "closed", None]
