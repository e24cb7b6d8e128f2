"""The name server on real sockets, as datagrams and over connections."""

from __future__ import annotations

import socket

import pytest

from harness.services.cast import Cast
from sandboxes.base import Listen
from tests.unit.services.stand import Scripted, address, bound, until
from tests.unit.services.test_names import NOERROR, NXDOMAIN, code, query


@pytest.fixture
def served(host):
    where = address()
    udp, tcp = bound(where, 0, "udp"), bound(where, 0)
    ports = udp.getsockname()[1], tcp.getsockname()[1]
    listeners = {Listen(where, 53, "udp"): udp, Listen(where, 53, "tcp"): tcp}
    live = host.serve(Cast([Scripted()], {"upstream": "127.0.1.2"}), listeners)
    yield live, (where, ports[0]), (where, ports[1])
    live.close()
    assert live.failure() is None, repr(live.failure())


def test_datagrams_are_answered(served):
    live, where, _ = served
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.settimeout(5)
        sock.connect(where)
        for name, expected in [("upstream", NOERROR), ("evil", NXDOMAIN)] * 3:
            sock.send(query(name))
            assert code(sock.recv(512)) == expected
        sock.send(b"nonsense")
        live.name_fails("*", "silent")
        sock.send(query("upstream"))
        until(lambda: live.name_failed("*"))
        live.name_fails("*", None)
        sock.send(query("upstream", number=5))
        assert sock.recv(512)[:2] == b"\0\x05"

    assert live.names_asked() == {"evil": 3}


def test_connections_are_answered_however_they_are_cut_up(served):
    live, _, where = served
    message = query("upstream")
    framed = len(message).to_bytes(2, "big") + message
    with socket.create_connection(where, 5) as sock:
        for byte in framed:
            sock.sendall(bytes([byte]))
        sock.sendall(framed * 50)
        got = b""
        while len(got) < 51 * (len(message) + 18):
            got += sock.recv(4096)

    assert len(got) == 51 * (2 + len(message) + 16)
    assert live.names_asked() == {}


def test_an_open_connection_ends_with_the_trial(served):
    live, _, where = served
    with socket.create_connection(where, 5) as sock:
        sock.sendall(b"\0")
        live.close()
        with pytest.raises(ConnectionResetError):
            assert sock.recv(1) == b"never"


def test_a_cut_leaves_the_name_server_up(served):
    live, where, _ = served
    live.refuse(None)
    live.cut()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.settimeout(5)
        sock.connect(where)
        sock.send(query("upstream"))
        assert code(sock.recv(512)) == NOERROR
