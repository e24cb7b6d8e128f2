"""Two ends of a stream stand in for a socket between two processes."""

from __future__ import annotations

import os
import select
import socket
import struct
import threading
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from sandboxes.helper import frames, wire
from sandboxes.helper.frames import Kind
from sandboxes.helper.passing import Inside, Outside
from sandboxes.helper.relay import WINDOW, Ended, Relay, Wire

_PATIENCE = 20.0


@dataclass
class Pair:
    """The two sockets that are relayed, and the threads that do it."""

    harness: socket.socket
    keeper: socket.socket

    def ask(self, body=None, payload: bytes = b"", fds=()) -> wire.Message:
        """Send to the keeper; what arrives there."""
        wire.send(self.harness, body or {}, payload, fds)
        return wire.receive(self.keeper)

    def answer(self, body=None, payload: bytes = b"", fds=()) -> wire.Message:
        """Send to the harness; what arrives there."""
        wire.send(self.keeper, body or {}, payload, fds)
        return wire.receive(self.harness)


def _run(relay: Relay) -> None:
    try:
        relay.run()
    except Ended:
        relay.finish()
        for fd in {relay.stream.reading, relay.stream.writing}:
            socket.socket(fileno=fd).close()


@pytest.fixture
def pair() -> Iterator[Pair]:
    ours, theirs = socket.socketpair()
    harness, outside = socket.socketpair()
    keeper, inside = socket.socketpair()
    threads = []
    for stream, passing, first, sock in (
        (ours.detach(), Outside(), 1, outside),
        (theirs.detach(), Inside(), 2, inside),
    ):
        relay = Relay(frames.Stream(stream, stream), passing, first)
        Wire(relay, 0, sock)
        threads.append(threading.Thread(target=_run, args=(relay,), daemon=True))
        threads[-1].start()
    for sock in (harness, keeper):
        sock.settimeout(_PATIENCE)
    yield Pair(harness, keeper)
    harness.close()
    keeper.close()
    for thread in threads:
        thread.join(_PATIENCE)
        assert not thread.is_alive(), "it ends with its conversation"


def test_messages_arrive_whole_whatever_their_size(pair):
    payload = os.urandom(3 << 20)
    assert pair.ask({"op": "x"}, b"small").payload == b"small"
    done: list[wire.Message] = []
    reader = threading.Thread(target=lambda: done.append(wire.receive(pair.keeper)))
    reader.start()
    wire.send(pair.harness, {"name": "\udcff"}, payload)
    reader.join(_PATIENCE)

    assert (done[0].body, done[0].payload) == ({"name": "\udcff"}, payload)


def test_what_is_written_to_a_pipe_inside_goes_before_a_later_message(pair):
    reading, writing = os.pipe()
    (inside,) = pair.ask(fds=[writing]).fds
    os.close(writing)
    os.write(inside, b"said before")
    os.close(inside)
    pair.answer({"ended": 1})

    assert os.read(reading, 100) == b"said before"
    assert os.read(reading, 100) == b""
    os.close(reading)


def test_two_descriptors_of_one_pipe_stay_one_pipe(pair):
    reading, writing = os.pipe()
    first, second = pair.ask(fds=[writing, writing]).fds
    os.close(writing)
    for fd, data in ((first, b"1"), (second, b"2"), (first, b"3")):
        os.write(fd, data)
    pair.answer()

    assert os.read(reading, 100) == b"123"
    for fd in (first, second, reading):
        os.close(fd)


def test_a_writer_whom_nobody_reads_is_held_up(pair):
    reading, writing = os.pipe()
    (inside,) = pair.ask(fds=[writing]).fds
    os.close(writing)
    os.set_blocking(inside, False)
    written = 0
    while select.select([], [inside], [], 0.3)[1]:
        written += os.write(inside, b"x" * 4096)
    assert WINDOW // 2 < written < 4 * WINDOW

    os.close(inside)
    read = 0
    while data := os.read(reading, 1 << 16):
        read += len(data)
    assert read == written
    os.close(reading)


def test_a_writer_whose_reader_is_gone_gets_told(pair):
    reading, writing = os.pipe()
    (inside,) = pair.ask(fds=[writing]).fds
    os.close(writing)
    os.close(reading)
    poller = select.poll()
    poller.register(inside, 0)

    assert poller.poll(_PATIENCE * 1000)[0][1] & select.POLLERR
    with pytest.raises(BrokenPipeError):
        os.write(inside, b"x")
    os.close(inside)


def test_what_is_fed_to_a_program_arrives_and_ends(pair):
    reading, writing = os.pipe()
    (inside,) = pair.ask(fds=[reading]).fds
    os.close(reading)
    os.write(writing, b"input")
    os.close(writing)

    assert os.read(inside, 100) == b"input"
    assert os.read(inside, 100) == b""
    os.close(inside)


@pytest.mark.parametrize("size", [0, 5, (6 << 20) + 5, (6 << 20) + (3 << 20)])
def test_a_file_is_copied_out_with_its_size_its_begin_and_its_end(pair, tmp_path, size):
    path = tmp_path / "file"
    data = os.urandom(min(size, 1 << 16)) + bytes(max(0, size - (1 << 16)))
    data = data[: size - 4] + b"last" if size > 4 else data
    path.write_bytes(data)
    fd = os.open(path, os.O_RDONLY)
    got: list[wire.Message] = []
    reader = threading.Thread(target=lambda: got.append(wire.receive(pair.harness)))
    reader.start()
    wire.send(pair.keeper, {}, fds=[fd])
    reader.join(_PATIENCE)
    os.close(fd)

    with os.fdopen(got[0].fds[0], "rb") as file:
        assert os.fstat(file.fileno()).st_size == size
        assert file.read() == data


@pytest.fixture
def served(pair):
    """A listener inside and the one that stands for it outside."""
    with socket.create_server(("127.0.0.1", 0)) as inside:
        (fd,) = pair.answer(fds=[inside.fileno()]).fds
        with socket.socket(fileno=fd) as outside:
            outside.settimeout(_PATIENCE)
            yield inside.getsockname(), outside


def test_a_connection_is_carried_both_ways_and_half_closed(served):
    address, outside = served
    with socket.create_connection(address, _PATIENCE) as client:
        client.sendall(b"question")
        client.shutdown(socket.SHUT_WR)
        connection, _ = outside.accept()
        with connection:
            connection.settimeout(_PATIENCE)
            assert connection.recv(100) == b"question"
            assert connection.recv(100) == b""
            connection.sendall(b"answer")
        assert client.recv(100) == b"answer"
        assert client.recv(100) == b""


@pytest.mark.parametrize("whose", ["the client", "the service"])
def test_a_reset_is_a_reset_at_the_other_end(served, whose):
    address, outside = served
    client = socket.create_connection(address, _PATIENCE)
    connection, _ = outside.accept()
    connection.settimeout(_PATIENCE)
    one, other = (client, connection) if whose == "the client" else (connection, client)
    one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    one.close()

    with other, pytest.raises(ConnectionResetError):
        other.recv(1)


def test_datagrams_find_their_way_back(pair):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as inside:
        inside.bind(("127.0.0.1", 0))
        (fd,) = pair.answer(fds=[inside.fileno()]).fds
        with socket.socket(fileno=fd) as outside:
            outside.settimeout(_PATIENCE)
            clients = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2)]
            for number, client in enumerate(clients):
                client.settimeout(_PATIENCE)
                client.sendto(b"%d" % number, inside.getsockname())
            for _ in clients:
                data, sender = outside.recvfrom(100)
                outside.sendto(b"to " + data, sender)
            for number, client in enumerate(clients):
                assert client.recv(100) == b"to %d" % number
                client.close()


@pytest.mark.parametrize(
    "data", [b"\xff" + bytes(8), struct.pack("!BII", Kind.DATA, 1, 1 << 30), b""]
)
def test_what_makes_no_sense_ends_it(data):
    ours, theirs = socket.socketpair()
    relay = Relay(frames.Stream(ours.fileno(), ours.fileno()), Outside(), 1)
    theirs.sendall(data)
    theirs.close()

    with ours, pytest.raises(Ended):
        relay.run()


def test_an_engine_puts_envelopes_around_what_comes():
    reading, writing = os.pipe()
    frame = struct.pack("!BII", Kind.DATA, 7, 3) + b"abc"
    for output, data in ((1, frame[:5]), (2, b"a warning"), (1, frame[5:])):
        os.write(writing, struct.pack("!BxxxI", output, len(data)) + data)
    stream = frames.Stream(reading, writing, enveloped=True)

    assert [*stream.get()] == [frames.Frame(Kind.DATA, 7, b"abc")]
    assert stream.said == b"a warning"
    os.close(reading)
    os.close(writing)
