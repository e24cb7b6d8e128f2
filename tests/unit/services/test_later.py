"""A reply that is due later: in time, on the record, and in nobody's way."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from harness.faults.base import Layer
from harness.services.base import Answer, Asked, Hit, Incoming, Later
from harness.services.reply import Part, Wire
from tests.unit.services.stand import Rewrite, ask, connect, fault, get, read, recorded, until

NEWS = b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nnews"
NONE = b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nnone"
TOLD = b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\ntold"


@dataclass
class Board:
    """``/wait`` is answered when somebody has asked for ``/tell``, or after ``patience``."""

    patience: float = 20.0
    name: str = "upstream"
    news: bool = False
    looks: int = 0
    ends: list[str] = field(default_factory=list)
    breaks: bool = False

    def classify(self, incoming: Incoming) -> Asked:
        return Asked("turn", counts=True)

    def answer(self, incoming: Incoming, asked: Asked, hits: Sequence[Hit]) -> Answer | Later:
        if incoming.path == "/tell":
            self.news = True
            return Answer(Wire(parts=(Part(b"told"),)), "turn")
        return self._wait(time.monotonic() + self.patience, hits)

    def _wait(self, end: float, hits: Sequence[Hit]) -> Answer | Later:
        self.looks += 1
        if self.breaks and self.looks > 1:
            raise RuntimeError("a bug in a look")
        rest = end - time.monotonic()
        if not self.news and rest > 0:
            return Later(rest, lambda: self._wait(end, hits))
        wire = Wire(parts=(Part(b"news" if self.news else b"none"),))
        for hit in hits:
            wire = hit.injector.rewrite_wire(hit.fault.params, wire)
        return Answer(wire, "turn")

    def ended(self, answer: Answer, how: str) -> None:
        self.ends.append(how)


def test_it_comes_when_its_time_is_over(serve):
    live, where = serve(Board(0.15))

    began = time.monotonic()
    assert ask(where, get("/wait"), len(NONE)) == NONE

    assert 0.14 < time.monotonic() - began < 5
    assert recorded(live, 1) == ["whole"]


def test_it_comes_as_soon_as_another_request_has_changed_things(serve):
    board = Board()
    live, where = serve(board)
    with connect(where) as first, connect(where) as second:
        first.sendall(get("/wait"))
        second.sendall(get("/wait"))
        until(lambda: board.looks == 2)

        assert ask(where, get("/tell"), len(TOLD)) == TOLD

        assert read(first, len(NEWS)) == NEWS
        assert read(second, len(NEWS)) == NEWS
        until(lambda: len(live.requests()) == 3)
        assert [r.bytes_sent for r in live.requests()] == [len(NEWS)] * 3
        first.sendall(get("/tell"))  # the connection is as good as before
        assert read(first, len(TOLD)) == TOLD


def test_a_request_sent_ahead_waits_for_its_turn(serve):
    board = Board()
    live, where = serve(board)
    with connect(where) as sock:
        sock.sendall(get("/wait") + get("/wait?second"))
        until(lambda: board.looks == 1)
        ask(where, get("/tell"), len(TOLD))

        assert read(sock, 2 * len(NEWS)) == NEWS + NEWS
    assert recorded(live, 3) == ["whole"] * 3


def test_a_client_that_leaves_is_not_waited_for(serve):
    board = Board()
    live, where = serve(board)
    with connect(where) as sock:
        sock.sendall(get("/wait"))
        until(lambda: board.looks == 1)
    assert recorded(live, 1) == ["cut"]

    ask(where, get("/tell"), len(TOLD))

    assert board.looks == 1
    gone = live.requests()[0]
    assert (gone.status, gone.bytes_sent, gone.path) == (0, 0, "/wait")


def test_the_end_of_the_trial_ends_it(serve):
    board = Board()
    live, where = serve(board)
    with connect(where) as sock:
        sock.sendall(get("/wait"))
        until(lambda: board.looks == 1)

        live.close()

        with pytest.raises(ConnectionResetError):
            sock.recv(1)
    assert [r.ended for r in live.requests()] == ["cut"]


def test_a_fault_that_hit_the_request_shows_in_the_reply_that_comes_late(serve):
    board = Board()
    live, where = serve(board)
    live.arm(fault(), Rewrite(lambda wire: Wire(503), Layer.UPSTREAM))
    with connect(where) as sock:
        sock.sendall(get("/wait"))
        until(lambda: board.looks == 1)
        assert live.hits("wrong") == 0
        ask(where, get("/tell"), len(TOLD))

        assert sock.recv(1 << 10).startswith(b"HTTP/1.1 503 ")
    assert live.hits("wrong") == 1
    assert [r.fault for r in live.requests()] == ["wrong", None]


def test_a_bug_in_a_look_is_told_and_nobody_waits_for_ever(serve):
    board = Board(breaks=True)
    live, where = serve(board, bug=True)
    with connect(where) as sock:
        sock.sendall(get("/wait"))
        until(lambda: board.looks == 1)
        ask(where, get("/tell"), len(TOLD))

        with pytest.raises(ConnectionResetError):
            sock.recv(1)
    assert "a bug in a look" in str(live.failure())


def test_many_wait_at_once_and_none_is_in_the_way(serve):
    board = Board()
    _, where = serve(board)
    socks = [connect(where) for _ in range(50)]
    for sock in socks:
        sock.sendall(get("/wait"))
    until(lambda: board.looks == 50)
    answered: list[bytes] = []

    readers = [
        threading.Thread(target=lambda s=sock: answered.append(read(s, len(NEWS))))
        for sock in socks
    ]
    for reader in readers:
        reader.start()
    ask(where, get("/tell"), len(TOLD))
    for reader in readers:
        reader.join(10)
    for sock in socks:
        sock.close()

    assert answered == [NEWS] * 50
