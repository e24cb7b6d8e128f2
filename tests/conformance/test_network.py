"""Nothing outside is reachable, services are, and what was tried is counted."""

from __future__ import annotations

import contextlib
import select
import socket
import threading

import pytest

from sandboxes import clock
from sandboxes.base import Listen
from sandboxes.errors import AddressInUse, SandboxError, SandboxLost
from tests.conformance.room import Room

WEB = Listen("127.0.0.1", 80)
SECOND = Listen("127.0.0.2", 8080)
NAMES = Listen("127.0.0.1", 53, "udp")
ASK = """
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_{kind})
s.settimeout(2)
try:
    s.connect(("{host}", {port})); s.send(b"hello"); print(s.recv(100).decode())
except OSError as error:
    print(type(error).__name__)
"""


def ask(room: Room, host: str, port: int, kind: str = "STREAM") -> str:
    return room.run("python3", "-c", ASK.format(host=host, port=port, kind=kind)).text


def seen(room, wait: float = 0.3) -> list[bytes]:
    """The packets that the counter has seen, once it is quiet."""
    found: list[bytes] = []
    while select.select([room.sandbox.packets], [], [], wait)[0]:
        with contextlib.suppress(BlockingIOError):
            found.append(room.sandbox.packets.recv(4096))
    return found


def destinations(packets: list[bytes]) -> set[str]:
    return {socket.inet_ntoa(packet[16:20]) for packet in packets if packet[0] >> 4 == 4}


@contextlib.contextmanager
def echo(listener: socket.socket):
    """Serve a listener from this process: one answer for each connection."""
    listener.settimeout(10)

    def serve() -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = listener.accept()
                with connection:
                    connection.sendall(b"served " + connection.recv(100))

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()


def test_there_is_no_interface_but_loopback(room):
    names = room.ok("cut -d: -f1 /proc/net/dev | tail -n +3 | tr -d ' '").split()

    assert names == ["lo"]
    assert room.shell("ls /sys/class/net").code != 0


@pytest.mark.parametrize("socket_type", ["STREAM", "DGRAM"])
@pytest.mark.parametrize("host", ["8.8.8.8", "10.0.0.1", "192.168.1.1", "169.254.169.254"])
def test_an_outside_address_is_refused_at_once(room, host, socket_type):
    before = clock.monotonic()

    assert ask(room, host, 443, socket_type) == "ConnectionRefusedError"
    assert clock.monotonic() - before < 20, "no program waits for a time-out"


@pytest.mark.needs("network.counter")
@pytest.mark.parametrize("socket_type", ["STREAM", "DGRAM"])
def test_packets_to_an_outside_address_are_seen_from_outside(room, socket_type):
    ask(room, "8.8.8.8", 4321, socket_type)

    packets = seen(room)
    assert destinations(packets) == {"8.8.8.8"}
    protocol, header = {"STREAM": (6, 20), "DGRAM": (17, 20)}[socket_type]
    first = next(packet for packet in packets if packet[9] == protocol)
    assert int.from_bytes(first[header + 2 : header + 4]) == 4321


@pytest.mark.needs("network.counter")
def test_each_packet_is_seen_once(room):
    room.run(
        "python3",
        "-c",
        "import socket\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
        "for n in range(5): s.sendto(b'packet %d' % n, ('203.0.113.7', 9))",
    )

    bodies = [packet[28:] for packet in seen(room) if packet[9] == 17]
    assert bodies == [b"packet %d" % n for n in range(5)]


@pytest.mark.needs("network.counter")
def test_no_packet_is_seen_where_none_was_sent(make):
    room = make(listens=[WEB])
    with echo(room.sandbox.listeners[WEB]):
        room.ok("cat /proc/net/dev >/dev/null; getent hosts localhost >/dev/null; true")
        assert seen(room) == []


@pytest.mark.needs("network.counter", "network.services")
def test_a_connection_to_a_service_is_seen_as_one_opening_packet(make):
    room = make(listens=[WEB])
    with echo(room.sandbox.listeners[WEB]):
        assert ask(room, WEB.host, WEB.port) == "served hello"

    packets = seen(room)
    assert [(packet[9], packet[33] & 0x12) for packet in packets] == [(6, 0x02)]
    assert destinations(packets) == {WEB.host}


@pytest.mark.needs("network.counter")
def test_packets_to_an_outside_ipv6_address_are_seen(room):
    if room.shell("test -e /proc/net/if_inet6").code:
        pytest.skip("no IPv6 here")
    code = "import socket\ns = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)\n"
    room.run(
        "python3", "-c", code + "s.sendto(b'x', ('2001:db8::1', 9)); s.sendto(b'y', ('::1', 9))"
    )

    targets = {packet[24:40] for packet in seen(room) if packet[0] >> 4 == 6}
    assert targets == {socket.inet_pton(socket.AF_INET6, "2001:db8::1")}


@pytest.mark.needs("network.services", "network.low-ports")
def test_services_are_served_from_outside_also_on_low_ports(make):
    room = make(listens=[WEB, SECOND])
    with echo(room.sandbox.listeners[WEB]), echo(room.sandbox.listeners[SECOND]):
        assert ask(room, WEB.host, WEB.port) == "served hello"
        assert ask(room, SECOND.host, SECOND.port) == "served hello"
        assert ask(room, "127.0.0.3", SECOND.port) == "ConnectionRefusedError"


@pytest.mark.needs("network.services")
def test_a_datagram_service_is_served_from_outside(make):
    room = make(listens=[NAMES])
    sock = room.sandbox.listeners[NAMES]
    code = ASK.format(host=NAMES.host, port=NAMES.port, kind="DGRAM")
    running = room.start("python3", "-c", code)
    sock.settimeout(10)
    data, sender = sock.recvfrom(100)
    sock.sendto(b"answer to " + data, sender)

    assert running.finish().text == "answer to hello"


@pytest.mark.needs("network.services")
def test_a_service_has_its_name(make):
    room = make(listens=[SECOND], hosts={"upstream": SECOND.host})
    with echo(room.sandbox.listeners[SECOND]):
        assert ask(room, "upstream", SECOND.port) == "served hello"
    assert ask(room, "localhost", 1) == "ConnectionRefusedError"


def test_an_unknown_name_is_unknown_soon(room):
    before = clock.monotonic()

    assert ask(room, "example.org", 80) == "gaierror"
    assert clock.monotonic() - before < 4


@pytest.mark.needs("network.services")
def test_an_address_can_be_bound_while_it_runs(room):
    assert ask(room, SECOND.host, SECOND.port) == "ConnectionRefusedError"

    listener = room.sandbox.listen(SECOND)

    assert room.sandbox.listeners[SECOND] is listener
    with echo(listener):
        assert ask(room, SECOND.host, SECOND.port) == "served hello"


@pytest.mark.needs("network.services")
def test_an_address_that_something_inside_has_is_in_use(room):
    code = "import socket, time\ns = socket.create_server(('127.0.0.2', 8080))\nprint('up', flush=True)\ntime.sleep(1000)"
    room.start("python3", "-c", code).line()

    with pytest.raises(AddressInUse, match="8080"):
        room.sandbox.listen(SECOND)


def test_only_loopback_addresses_can_be_served(room):
    with pytest.raises(SandboxError, match="expected tcp or udp on 127"):
        room.sandbox.listen(Listen("0.0.0.0", 80))


def test_the_subject_can_serve_itself_on_its_own_loopback(room):
    room.ok(
        "python3 -c \"import socket; s = socket.create_server(('127.0.0.1', 9000)); "
        "c = socket.create_connection(('127.0.0.1', 9000)); a, _ = s.accept(); "
        "c.send(b'x'); assert a.recv(1) == b'x'\""
    )


def test_two_sandboxes_do_not_see_each_other(make):
    one, two = make(), make()
    code = "import socket, time\ns = socket.create_server(('127.0.0.1', 9000))\nu = socket.socket(socket.AF_UNIX)\nu.bind(b'\\0shared')\nu.listen()\nprint('up', flush=True)\ntime.sleep(1000)"
    one.start("python3", "-c", code).line()
    one.ok("echo secret > /tmp/note; echo secret > ~/note; echo secret > /dev/shm/note")

    assert ask(two, "127.0.0.1", 9000) == "ConnectionRefusedError"
    abstract = two.run(
        "python3", "-c", "import socket\nsocket.socket(socket.AF_UNIX).connect(b'\\0shared')"
    )
    assert b"ConnectionRefused" in abstract.err
    assert two.ok("ls -A /tmp ~ /dev/shm /workspace | grep note || true") == ""
    assert two.ok("ps -e -o args= | grep -c '[c]reate_server' || true") == "0"


def test_a_listener_is_closed_with_its_sandbox(make):
    room = make(listens=[WEB])
    listener = room.sandbox.listeners[WEB]
    room.sandbox.destroy()

    assert listener.fileno() == -1
    with pytest.raises(SandboxLost):
        room.sandbox.listen(SECOND)
