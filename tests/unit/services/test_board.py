"""Which faults hit the next request, and how many they have hit."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from harness.faults.base import Layer
from harness.services.board import Board
from tests.unit.services.stand import Rewrite, fault

PLAIN = Rewrite(lambda wire: wire)


def ids(board: Board, service: str = "upstream") -> list[str]:
    return [hit.fault.id for hit in board.take(service)]


def test_an_empty_board_hits_nothing():
    assert ids(Board()) == []


def test_a_fault_is_used_up_by_as_many_requests_as_it_says():
    board = Board()
    board.arm(fault("a", times=2), PLAIN)
    board.arm(fault("b", times=None), PLAIN)

    assert [ids(board) for _ in range(4)] == [["a", "b"], ["a", "b"], ["b"], ["b"]]


def test_a_fault_hits_only_the_service_that_it_names():
    board = Board()
    board.arm(fault("a", service="one"), PLAIN)
    board.arm(fault("m"), Rewrite(lambda wire: wire, layer=Layer.MODEL))

    assert ids(board, "two") == []
    assert ids(board, "model") == ["m"]
    assert ids(board, "one") == ["a"]


def test_faults_hit_in_the_order_of_the_case_however_they_were_armed():
    board = Board(["a", "b", "c"])
    for name in ("c", "stranger", "a", "b"):
        board.arm(fault(name), PLAIN)

    assert ids(board) == ["a", "b", "c", "stranger"]


def test_a_disarmed_fault_hits_no_more_and_its_hits_stay_counted():
    board = Board()
    board.arm(fault("a", times=None), PLAIN)
    board.landed(board.take("upstream"))
    board.disarm("a")
    board.disarm("a")

    assert ids(board) == []
    assert board.hits("a") == 1


def test_being_taken_is_not_yet_a_hit():
    board = Board()
    board.arm(fault("a"), PLAIN)
    board.take("upstream")

    assert board.hits("a") == 0


def test_a_fault_that_missed_has_its_request_back():
    board = Board()
    board.arm(fault("a"), PLAIN)
    board.arm(fault("b"), PLAIN)
    board.take("upstream")
    board.give_back({"a"})

    assert ids(board) == ["a"]
    assert ids(board) == []


def test_arming_again_starts_anew():
    board = Board()
    board.arm(fault("a"), PLAIN)
    ids(board)
    board.arm(fault("a"), PLAIN)

    assert ids(board) == ["a"]


def test_threads_share_the_times_of_a_fault_exactly():
    board = Board()
    board.arm(fault("a", times=500), PLAIN)

    def take(_: int) -> int:
        hits = board.take("upstream")
        board.landed(hits)
        return len(hits)

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(take, range(2000))) == 500
    assert board.hits("a") == 500
