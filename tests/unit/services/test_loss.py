"""Packets to a service are lost by chance, as many as were asked for, and each is counted."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator

import pytest

from harness.services.loss import Losses

SENT = 1000


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    """A socket that takes datagrams, and one that is connected to it."""
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taking,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sending,
    ):
        taking.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
        taking.bind(("127.0.0.1", 0))
        taking.setblocking(False)
        sending.connect(taking.getsockname())
        yield taking, sending


def came(pair: tuple[socket.socket, socket.socket], count: int) -> int:
    """Of so many datagrams, how many come."""
    taking, sending = pair
    number = 0
    for _ in range(count):
        sending.send(b"x")
        with contextlib.suppress(BlockingIOError):
            number += len(taking.recv(1))
    return number


@pytest.mark.parametrize("percent", [20, 80])
def test_about_as_many_are_lost_as_were_asked_for_and_each_counts(pair, percent):
    losses = Losses()
    losses.opened("dns", pair[0])
    losses.lose("dns", percent)
    left = came(pair, SENT)

    assert abs(SENT - left - SENT * percent // 100) < 100  # seven standard deviations and more
    assert losses.lost("dns") == SENT - left


def test_nothing_is_lost_before_and_after_nor_of_another_service(pair):
    losses = Losses()
    losses.opened("dns", pair[0])
    assert came(pair, 50) == 50
    losses.lose("other", 100)
    assert came(pair, 50) == 50
    losses.lose("dns", 100)
    assert came(pair, 50) == 0
    losses.lose("dns", 0)
    assert came(pair, 50) == 50

    assert (losses.lost("dns"), losses.lost("other")) == (50, 0)


def test_a_connection_that_was_accepted_before_it_was_heard_of_loses_too():
    losses = Losses()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        losses.opened("up", listener)
        with socket.create_connection(listener.getsockname()) as client:
            losses.lose("up", 100)
            accepted, _ = listener.accept()
            losses.opened("up", accepted)
            client.send(b"x")
            seen = losses.lost("up")
            accepted.close()

        assert seen > 0
        assert losses.lost("up") == seen  # also when it is closed
