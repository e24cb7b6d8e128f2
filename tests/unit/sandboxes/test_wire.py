"""Messages arrive whole, with their descriptors, or the other end counts as gone."""

from __future__ import annotations

import os
import socket
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandboxes.helper import wire


@pytest.fixture
def ends():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


def open_fds() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@given(st.dictionaries(st.text(), st.text() | st.integers() | st.none()), st.binary(max_size=2000))
def test_a_message_arrives_as_it_was_sent(body, payload):
    ours, theirs = socket.socketpair()
    with ours, theirs:
        wire.send(ours, body, payload)
        message = wire.receive(theirs)

    assert (message.body, message.payload, message.fds) == (body, payload, ())


def test_names_that_are_no_utf8_arrive(ends):
    name = os.fsdecode(b"caf\xe9\xff")
    wire.send(ends[0], {"path": name})

    assert wire.receive(ends[1]).body["path"] == name


def test_a_message_larger_than_the_socket_arrives(ends):
    payload = os.urandom(5 << 20)
    thread = threading.Thread(target=wire.send, args=(ends[0], {"n": 1}, payload))
    thread.start()

    assert wire.receive(ends[1]).payload == payload
    thread.join()


def test_descriptors_arrive_with_their_own_message_and_close_on_exec(ends):
    reading, writing = os.pipe()
    wire.send(ends[0], {"n": 1})
    wire.send(ends[0], {"n": 2}, fds=[reading, writing])
    wire.send(ends[0], {"n": 3})
    first, second, third = (wire.receive(ends[1]) for _ in range(3))

    assert (first.fds, third.fds) == ((), ())
    assert not any(os.get_inheritable(fd) for fd in second.fds)
    os.write(second.fds[1], b"x")
    assert os.read(reading, 1) == b"x"
    for fd in (reading, writing, *second.fds):
        os.close(fd)


def test_an_end_that_is_gone_is_told_from_both_sides(ends):
    ends[0].close()

    with pytest.raises(wire.Closed):
        wire.receive(ends[1])
    with pytest.raises(wire.Closed):
        wire.send(ends[1], {})


def test_a_message_cut_in_the_middle_leaks_no_descriptor(ends):
    before = open_fds()
    socket.send_fds(ends[0], [b"\0\0\0\x09\0\0\0\0\0\0\0\0{"], [0])
    ends[0].shutdown(socket.SHUT_WR)

    with pytest.raises(wire.Closed):
        wire.receive(ends[1])
    assert open_fds() == before


def test_more_descriptors_than_the_kernel_passes_are_refused(ends):
    with pytest.raises(ValueError, match="254"):
        wire.send(ends[0], {}, fds=[0] * 254)
