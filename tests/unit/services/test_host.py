"""One host serves many trials: side by side, one after the other, and leaves nothing behind."""

from __future__ import annotations

import gc
import itertools
import resource
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from harness.services.cast import Cast
from harness.services.host import ServiceHost
from harness.services.record import Shelf
from harness.services.reply import End, Part, Wire
from sandboxes.base import Listen
from tests.unit.services.stand import (
    PORT,
    Rewrite,
    Scripted,
    address,
    ask,
    bound,
    connect,
    fault,
    get,
    hello,
    listening,
    read,
    recorded,
)


def trial(host: ServiceHost, folder: Path, number: int) -> None:
    where = address()
    service = Scripted({"/mine": Wire(parts=(Part(b"%05d" % number),))})
    live = host.serve(
        Cast([service], {service.name: where}, Shelf.of_trial(folder)), listening(where)
    )
    live.arm(fault(), Rewrite(lambda wire: Wire(head=False, end=End.RESET)))
    with pytest.raises(ConnectionResetError):
        ask(where, get("/mine"))
    with connect(where) as sock:
        for _ in range(20):
            sock.sendall(get("/mine"))
            assert read(sock, len(hello())).endswith(b"%05d" % number)
    recorded(live, 21)
    live.close()
    assert live.failure() is None
    assert len((folder / "requests.jsonl").read_bytes().splitlines()) == 21
    assert live.hits("wrong") == 1


def test_trials_side_by_side_see_only_their_own(host, tmp_path):
    with ThreadPoolExecutor(4) as pool:
        folders = [tmp_path / str(n) for n in range(12)]
        for folder in folders:
            folder.mkdir()
        list(pool.map(trial, [host] * 12, folders, range(12)))


def open_files() -> list[int]:
    return [int(path.name) for path in Path("/proc/self/fd").iterdir()]


def test_three_hundred_trials_leave_no_descriptor_and_cost_little(host):
    def one() -> None:
        where = address()
        names = ["upstream", "b", "c"]
        services = [Scripted(name=name) for name in names]
        addresses = {name: where if name == "upstream" else address() for name in names}
        listeners = {
            Listen(at, port): bound(at, port) for at in addresses.values() for port in (8080, 8081)
        }
        listeners[Listen(where, 53, "udp")] = bound(where, 0, "udp")
        live = host.serve(Cast(services, addresses), listeners)
        with connect(where) as sock:
            sock.sendall(get())
            read(sock, len(hello()))
        live.close()
        assert live.failure() is None

    for _ in range(20):
        one()
    gc.collect()
    before = len(open_files())
    for _ in range(300):
        one()
    time.sleep(0.05)

    assert len(open_files()) <= before + 2
    gc.collect()


def test_connections_beyond_the_limit_wait_for_a_place(host):
    where = address()
    live = host.serve(Cast([Scripted()], {"upstream": where}, connections=3), listening(where))
    open_ones = [connect(where) for _ in range(3)]
    for sock in open_ones:
        sock.sendall(get())
        read(sock, len(hello()))
    with connect(where) as waiting:
        waiting.sendall(get())
        waiting.settimeout(0.1)
        with pytest.raises(TimeoutError):
            waiting.recv(1)
        open_ones.pop().close()
        waiting.settimeout(5)
        assert read(waiting, len(hello())) == hello()
    for sock in open_ones:
        sock.close()
    live.close()
    assert live.failure() is None


def test_running_out_of_descriptors_is_survived(host):
    where = address()
    live = host.serve(Cast([Scripted()], {"upstream": where}), listening(where))
    clients = [socket.socket() for _ in range(3)]
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    lowest_free = next(n for n in itertools.count() if n not in open_files())
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest_free, hard))
    try:
        for client in clients:
            client.settimeout(5)
            client.connect((where, PORT))
            client.sendall(get())
        time.sleep(0.1)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    for client in clients:
        assert read(client, len(hello())) == hello()
        client.close()
    live.close()
    assert live.failure() is None


def test_closing_twice_and_asking_afterwards_are_harmless(host):
    where = address()
    live = host.serve(Cast([Scripted()], {"upstream": where}), listening(where))
    ask(where, get())
    recorded(live, 1)
    live.close()
    live.close()
    assert len(live.requests()) == 1
    assert live.names_asked() == {}
    assert live.model().turns == 0


def test_the_end_of_a_host_ends_its_trials_and_its_thread():
    before = threading.active_count()
    with ServiceHost() as host:
        where = address()
        host.serve(Cast([Scripted()], {"upstream": where}), listening(where))
        ask(where, get())
    with pytest.raises(ConnectionRefusedError):
        connect(where)
    assert threading.active_count() == before


def test_work_for_the_loop_gives_back_what_it_gives_and_raises_what_it_raises(host):
    def breaks() -> None:
        raise LookupError("this")

    assert host.call(lambda: 7) == 7
    assert host.call(lambda: host.call(threading.get_ident)) != threading.get_ident()
    with pytest.raises(LookupError, match="this"):
        host.call(breaks)
