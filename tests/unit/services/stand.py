"""Services on real sockets of the loopback network, and plain clients for them."""

from __future__ import annotations

import itertools
import os
import socket
import struct
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from harness.case.model import Fault, Params
from harness.faults.base import Layer
from harness.services.base import Answer, Asked, Hit, Incoming
from harness.services.live import Live
from harness.services.reply import Part, Turn, Wire
from sandboxes.base import Listen

PORT = 8080
_numbers = itertools.count(1)


def address() -> str:
    """An address of the loopback network that no other test has."""
    number = next(_numbers)
    return f"127.{os.getpid() % 200 + 20}.{os.getpid() // 200 % 250}.{number % 250 + 1}"


def bound(host: str, port: int = PORT, kind: str = "tcp") -> socket.socket:
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM if kind == "tcp" else socket.SOCK_DGRAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind((host, port))
    return sock


def listening(host: str, port: int = PORT, kind: str = "tcp") -> dict[Listen, socket.socket]:
    return {Listen(host, port, kind): bound(host, port, kind)}


@dataclass
class Scripted:
    """Answers each path with the wire it is given; paths under ``/probe`` do not count."""

    wires: Mapping[str, Wire] = field(default_factory=dict)
    name: str = "upstream"
    asked: list[Incoming] = field(default_factory=list)
    ends: list[str] = field(default_factory=list)
    breaks: str = ""

    def classify(self, incoming: Incoming) -> Asked:
        if self.breaks == "classify":
            raise RuntimeError("a bug in classify")
        probe = incoming.path.startswith("/probe")
        return Asked("probe" if probe else "turn", counts=not probe)

    def answer(self, incoming: Incoming, asked: Asked, hits: Sequence[Hit]) -> Answer:
        if self.breaks == "answer":
            raise RuntimeError("a bug in answer")
        self.asked.append(incoming)
        wire = self.wires.get(incoming.path, Wire(parts=(Part(b"hello"),)))
        for hit in hits:
            wire = hit.injector.rewrite_wire(hit.fault.params, wire)
        return Answer(wire, asked.kind)

    def ended(self, answer: Answer, how: str) -> None:
        self.ends.append(how)
        if self.breaks == "ended":
            raise RuntimeError("a bug in ended")


@dataclass(frozen=True)
class Rewrite:
    """A fault that is one function of the wire."""

    change: Callable[[Wire], Wire]
    layer: Layer = Layer.UPSTREAM
    name: str = "upstream.test"
    summary: str = "A rewrite."
    schema: Mapping[str, object] = field(default_factory=dict)
    needs: Sequence[str] = ()
    serves: bool = False

    def rewrite_turn(self, params: Params, turn: Turn) -> Turn:
        return turn

    def rewrite_wire(self, params: Params, wire: Wire) -> Wire:
        return self.change(wire)


def fault(name: str = "wrong", times: int | None = 1, service: str = "upstream") -> Fault:
    return Fault(name, "upstream.test", times=times, params={"service": service})


def connect(host: str, port: int = PORT) -> socket.socket:
    sock = socket.create_connection((host, port), 10)
    sock.settimeout(10)
    return sock


def get(path: str = "/", method: str = "GET", **headers: str) -> bytes:
    lines = [f"{method} {path} HTTP/1.1", "host: upstream"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def post(body: bytes, path: str = "/") -> bytes:
    return get(path, "POST", content_length=str(len(body))) + body


def read(sock: socket.socket, size: int) -> bytes:
    """Exactly so many bytes, or fewer if the server ends."""
    data = b""
    while len(data) < size and (more := sock.recv(size - len(data))):
        data += more
    return data


def read_all(sock: socket.socket) -> bytes:
    """Everything up to the end of the connection."""
    return b"".join(iter(lambda: sock.recv(1 << 16), b""))


def hello() -> bytes:
    """The reply that :class:`Scripted` gives by default."""
    return b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello"


def ask(host: str, request: bytes, size: int | None = None) -> bytes:
    """One request on a connection of its own."""
    with connect(host) as sock:
        sock.sendall(request)
        return read(sock, len(hello()) if size is None else size)


def reset_by_client(sock: socket.socket) -> None:
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    sock.close()


def until(what: Callable[[], object], seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "it did not come to pass in time"
        time.sleep(0.002)


def recorded(live: Live, count: int) -> list[str]:
    """How the first so many requests ended."""
    until(lambda: len(live.requests()) >= count)
    return [request.ended for request in live.requests()]


def read_into(sock: socket.socket, data: bytearray) -> None:
    """Read to the end; what came before an error stays in ``data``."""
    while more := sock.recv(1 << 16):
        data += more
