"""A scripted model on a real socket, and what its record says."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import pytest

from harness.case.model import Fault, ScriptStep
from harness.case.reading import with_defaults
from harness.faults.base import ReplyFault
from harness.faults.registry import FAULTS
from harness.services.cast import Cast
from harness.services.host import ServiceHost
from harness.services.live import Live
from harness.services.model.service import ModelService
from harness.subjects.base import Dialect
from sandboxes import clock
from sandboxes.base import Listen


@dataclass(frozen=True)
class Served:
    """A model that is up."""

    host: str
    port: int
    live: Live

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}"

    def fault(
        self, name: str, with_: Mapping[str, Any] | None = None, times: int | None = 1
    ) -> None:
        injector = FAULTS[name]
        assert isinstance(injector, ReplyFault)
        params = with_defaults(injector.schema, dict(with_ or {}))
        self.live.arm(Fault(name, name, times=times, params=params), injector)

    def send(self, request: bytes) -> socket.socket:
        sock = socket.create_connection((self.host, self.port), timeout=10)
        sock.sendall(request)
        return sock

    def start(self, path: str, body: object) -> socket.socket:
        """Send a POST and leave the connection to the caller."""
        data = json.dumps(body).encode()
        head = f"POST {path} HTTP/1.1\r\nhost: model\r\ncontent-length: {len(data)}\r\n\r\n"
        return self.send(head.encode() + data)

    @staticmethod
    def drain(sock: socket.socket) -> tuple[bytes, str]:
        """Everything that comes, and what ended it: ``closed``, ``reset`` or ``silent``."""
        reply = b""
        try:
            while piece := sock.recv(65536):
                reply += piece
        except ConnectionResetError:
            return reply, "reset"
        except TimeoutError:
            return reply, "silent"
        return reply, "closed"

    def ask(
        self, method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None
    ) -> tuple[int, dict[str, str], bytes]:
        """One request over a connection of its own: status, headers, body as it was framed."""
        data = b"" if body is None else json.dumps(body).encode()
        lines = [f"{method} {path} HTTP/1.1", "host: model", "connection: close"]
        lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
        lines.append(f"content-length: {len(data)}")
        with self.send("\r\n".join(lines).encode() + b"\r\n\r\n" + data) as sock:
            reply, ended = self.drain(sock)
        assert ended == "closed"
        head, _, rest = reply.partition(b"\r\n\r\n")
        status, *fields = head.decode().split("\r\n")
        return int(status.split()[1]), dict(f.split(": ", 1) for f in fields), rest

    def kinds(self, count: int) -> list[str]:
        """Kinds of the first requests, once that many have been recorded."""
        deadline = clock.monotonic() + 20
        while len(self.live.requests()) < count and clock.monotonic() < deadline:
            clock.sleep(0.01)
        return [request.kind for request in self.live.requests()]


Serve = Callable[..., Served]


@pytest.fixture(scope="session")
def host() -> Iterator[ServiceHost]:
    with ServiceHost() as host:
        yield host


@pytest.fixture
def closing() -> Iterator[Callable[[Any], Any]]:
    """Closes every client that goes through it."""
    with ExitStack() as stack:
        yield stack.enter_context


@pytest.fixture
def serve(host: ServiceHost) -> Iterator[Serve]:
    up: list[Live] = []

    def start(script: Sequence[ScriptStep] | None = None, dialect: Dialect | None = None) -> Served:
        sock = socket.create_server(("127.0.0.1", 0))
        address, port = sock.getsockname()
        cast = Cast((ModelService(script, dialect),), {"model": address})
        live = host.serve(cast, {Listen(address, port): sock})
        up.append(live)
        return Served(address, port, live)

    yield start
    for live in up:
        live.close()
        assert live.failure() is None
