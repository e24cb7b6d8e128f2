"""What a fault in the network may do to the services, for real and undone again."""

from __future__ import annotations

import time
from functools import partial

import pytest

from harness.services.cast import Cast
from harness.services.reply import End, Wire
from harness.services.telegram import Telegram, parse
from tests.unit.services.stand import (
    Scripted,
    address,
    ask,
    connect,
    get,
    hello,
    listening,
    read,
    recorded,
    until,
)


def test_cutting_resets_every_open_connection_and_no_later_one(serve):
    service = Scripted({"/hang": Wire(head=False, end=End.HANG)})
    live, where = serve(service)
    with connect(where) as idle, connect(where) as busy:
        idle.sendall(get())
        read(idle, len(hello()))
        busy.sendall(get("/hang"))
        until(lambda: len(service.asked) == 2)

        assert live.cut() == 2

        for sock in (idle, busy):
            with pytest.raises(ConnectionResetError):
                sock.recv(1)
    assert recorded(live, 2) == ["whole", "reset"]
    assert ask(where, get()) == hello()
    until(lambda: live.cut() == 0)


def test_refusing_is_done_by_the_kernel_until_connections_are_admitted_again(serve):
    live, where = serve()
    with connect(where) as before:
        live.refuse("upstream")
        live.refuse("upstream")
        for _ in range(3):
            with pytest.raises(ConnectionRefusedError):
                connect(where)
        before.sendall(get())
        assert read(before, len(hello())) == hello()  # an open connection is left alone

    live.admit("upstream")
    live.admit("upstream")
    assert ask(where, get()) == hello()


def test_one_service_can_be_refused_and_another_stays(host):
    here, there = address(), address()
    services = [Scripted(name="one"), Scripted(name="two")]
    live = host.serve(
        Cast(services, {"one": here, "two": there}), {**listening(here), **listening(there)}
    )
    try:
        live.refuse("one")
        with pytest.raises(ConnectionRefusedError):
            connect(here)
        assert ask(there, get()) == hello()
        live.refuse(None)
        with pytest.raises(ConnectionRefusedError):
            connect(there)
        live.admit(None)
        assert ask(here, get()) == ask(there, get()) == hello()
    finally:
        live.close()
    assert live.failure() is None


def test_a_service_may_be_refused_and_closed(serve):
    live, where = serve()
    live.refuse(None)
    live.close()
    with pytest.raises(ConnectionRefusedError):
        connect(where)


def test_replies_are_held_back_and_counted_until_told_otherwise(serve):
    live, where = serve()

    def timed() -> float:
        began = time.monotonic()
        assert ask(where, get()) == hello()
        return time.monotonic() - began

    live.delay("upstream", 0.2)
    assert timed() >= 0.19  # the loop counts in milliseconds
    assert timed() >= 0.19
    live.delay(None, 0)
    assert timed() < 0.19
    assert live.delayed("upstream") == live.delayed(None) == 2


def test_an_unknown_service_is_an_error(serve):
    live, _ = serve()
    for act in (live.refuse, live.admit, live.delayed, partial(live.delay, seconds=1.0)):
        with pytest.raises(KeyError, match="nobody"):
            act("nobody")


def test_a_listener_that_is_bound_later_is_served_as_well(serve, host):
    service = Scripted()
    where = address()
    live = host.serve(Cast([service], {service.name: where}), {})
    with pytest.raises(ConnectionRefusedError):
        connect(where)

    for listen, sock in listening(where).items():
        live.adopt(listen, sock)

    assert ask(where, get()) == hello()
    live.close()


def test_a_closed_service_is_refused_although_someone_holds_a_copy_of_its_listener(host):
    where = address()
    listeners = listening(where)
    copies = [sock.dup() for sock in listeners.values()]
    live = host.serve(Cast([Scripted()], {"upstream": where}), listeners)
    assert ask(where, get()) == hello()

    live.close()

    with pytest.raises(ConnectionRefusedError):
        connect(where)
    for copy in copies:
        copy.close()


def test_only_behind_some_services_there_is_a_person(serve):
    live, _ = serve()
    chat, _ = serve(Telegram(parse("tg", {})))

    assert chat.with_human("tg", lambda human: human.acts()) == []
    for services, name in ((live, "upstream"), (chat, "upstream")):
        with pytest.raises(LookupError, match="nobody behind upstream"):
            services.with_human(name, lambda human: human.acts())
