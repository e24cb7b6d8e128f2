"""A request is counted, waits for faults that are due, takes those that hit, and is answered."""

from __future__ import annotations

import time
from concurrent.futures import Future
from dataclasses import replace

import pytest

from harness.services.reply import End, Part, Wire
from tests.unit.services.stand import (
    Rewrite,
    Scripted,
    ask,
    connect,
    fault,
    get,
    hello,
    post,
    read,
    recorded,
    until,
)

OTHER = b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n"
STATUS = Rewrite(lambda wire: replace(wire, status=503, parts=()))


def test_the_gatekeeper_sees_each_counting_request_once_and_in_order(serve):
    seen = []
    _, where = serve(gatekeeper=lambda service, number: seen.append((service, number)))

    for path in ("/", "/probe", "/", "/probe/2", "/"):
        ask(where, get(path))

    assert seen == [("upstream", 1), ("upstream", 2), ("upstream", 3)]


def test_a_fault_armed_at_the_gate_hits_the_very_request_that_waits_there(serve):
    """Also when another client comes in between, and would otherwise take the fault."""
    gates: list[Future[None]] = []

    def gatekeeper(service, number):
        if number != 2:
            return None
        gates.append(Future())
        return gates[0]

    live, where = serve(gatekeeper=gatekeeper)
    assert ask(where, get("/1")) == hello()
    with connect(where) as second, connect(where) as third:
        second.sendall(get("/2"))
        until(lambda: gates)
        third.sendall(get("/3"))
        time.sleep(0.05)
        assert [r.path for r in live.requests()] == ["/1"]
        assert ask(where, get("/probe")) == hello()  # a probe does not wait
        live.arm(fault(), STATUS)
        gates[0].set_result(None)
        assert read(second, len(OTHER)) == OTHER
        assert read(third, len(hello())) == hello()

    assert [(r.path, r.fault) for r in live.requests()] == [
        ("/1", None),
        ("/2", "wrong"),
        ("/3", None),
        ("/probe", None),
    ]


def test_a_client_that_leaves_at_the_gate_is_recorded_and_takes_no_fault(serve):
    gate: Future[None] = Future()
    service = Scripted()
    live, where = serve(service, gatekeeper=lambda s, n: gate if n == 1 else None)

    with connect(where) as sock:
        sock.sendall(get("/1"))
        time.sleep(0.05)
    assert recorded(live, 1) == ["cut"]
    live.arm(fault(), STATUS)
    gate.set_result(None)

    assert ask(where, get("/2"), len(OTHER)) == OTHER
    assert [i.path for i in service.asked] == ["/2"]


def test_a_fault_hits_as_often_as_it_says_and_each_hit_is_on_record(serve):
    live, where = serve()
    live.arm(fault(times=2), STATUS)

    replies = [ask(where, get(), 12) for _ in range(3)]

    assert replies == [OTHER[:12], OTHER[:12], hello()[:12]]
    assert live.hits("wrong") == 2
    assert [r.fault for r in live.requests()] == ["wrong", "wrong", None]
    assert [r.status for r in live.requests()] == [503, 503, 200]


def test_probes_take_no_faults(serve):
    live, where = serve()
    live.arm(fault(times=None), STATUS)

    assert ask(where, get("/probe")) == hello()
    assert live.hits("wrong") == 0


def test_several_faults_hit_one_request_in_the_order_of_the_case(serve):
    def added(byte: bytes) -> Rewrite:
        return Rewrite(lambda wire: replace(wire, parts=(*wire.parts, Part(byte))))

    live, where = serve(declared=["first", "second"])
    live.arm(fault("second"), added(b"2"))
    live.arm(fault("first"), added(b"1"))

    assert ask(where, get(), len(hello()) + 2).endswith(b"hello12")
    assert live.requests()[0].fault == "first,second"
    assert (live.hits("first"), live.hits("second")) == (1, 1)


def test_a_fault_that_hangs_has_landed_while_it_hangs(serve):
    service = Scripted()
    live, where = serve(service)
    live.arm(fault(), Rewrite(lambda wire: replace(wire, head=False, end=End.HANG, parts=())))

    with connect(where) as sock:
        sock.sendall(get())
        until(lambda: live.hits("wrong") == 1)


@pytest.mark.parametrize(("change", "landed"), [("slow", 1), ("status", 0)])
def test_of_a_client_that_leaves_before_the_first_byte_only_what_it_waited_for_has_hit(
    serve, change, landed
):
    late = Rewrite(lambda wire: replace(wire, delay=wire.delay + 30))
    live, where = serve()
    live.delay("upstream", 30)  # a slow network: no fault of the reply
    live.arm(fault(), late if change == "slow" else STATUS)

    with connect(where) as sock:
        sock.sendall(get())
        until(lambda: live.delayed("upstream"))

    assert recorded(live, 1) == ["cut"]
    assert live.hits("wrong") == landed
    assert live.requests()[0].fault == ("wrong" if landed else None)


@pytest.mark.parametrize("where_it_breaks", ["classify", "answer"])
def test_a_bug_of_a_service_is_told_and_its_client_does_not_wait(serve, where_it_breaks):
    service = Scripted(breaks=where_it_breaks)
    live, where = serve(service, bug=True)

    with pytest.raises(ConnectionResetError):
        ask(where, post(b"x"))

    assert recorded(live, 1) == ["reset"]
    assert where_it_breaks in str(live.failure())
    service.breaks = ""
    assert ask(where, get()) == hello()


def test_a_bug_after_the_reply_is_told_as_well(serve):
    live, where = serve(Scripted(breaks="ended"), bug=True)

    assert ask(where, get()) == hello()
    assert recorded(live, 1) == ["whole"]


@pytest.mark.parametrize("later", [False, True])
def test_a_bug_at_the_gate_is_told_and_nobody_waits(serve, later):
    broken: Future[None] = Future()

    def gatekeeper(service, number):
        if later:
            return broken
        raise RuntimeError("a bug at the gate")

    live, where = serve(gatekeeper=gatekeeper, bug=True)
    with connect(where) as sock:
        sock.sendall(get())
        broken.set_exception(RuntimeError("a bug at the gate"))
        assert read(sock, len(hello())) == hello()

    assert "gate" in str(live.failure())


def test_a_bug_outside_of_any_service_leaves_nobody_waiting(serve, monkeypatch):
    def breaks(wire, manner):
        raise RuntimeError("a bug of the sender")

    live, where = serve(Scripted({"/late": Wire(delay=0.05)}), bug=True)
    monkeypatch.setattr("harness.services.sender.segments", breaks)

    for path in ("/", "/late"):
        with pytest.raises(ConnectionResetError):
            ask(where, get(path))
    assert "sender" in str(live.failure())
