"""A small HTTP server that answers as it is told and remembers what it was asked."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True, slots=True)
class Answer:
    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    #: What it says that its body is long, if that is not true.
    length: int | None = None


@dataclass(slots=True)
class Server:
    url: str
    answers: dict[str, Answer]
    asked: list[tuple[str, str, dict[str, str], bytes]] = field(default_factory=list)


@contextmanager
def served(answers: dict[str, Answer]) -> Iterator[Server]:
    """Answers by method and path, such as ``GET /x``; what is not among them is a 404."""

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            server.asked.append((self.command, self.path, headers, self.rfile.read(length)))
            answer = server.answers.get(f"{self.command} {self.path}", Answer(404))
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            size = len(answer.body) if answer.length is None else answer.length
            self.send_header("Content-Length", str(size))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(answer.body)

        do_GET = do_HEAD = do_POST = _answer  # noqa: N815 - the library's names

        def log_message(self, *arguments: object) -> None:
            pass

    listener = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server = Server(f"http://127.0.0.1:{listener.server_port}", answers)
    thread = threading.Thread(target=listener.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server
    finally:
        listener.shutdown()
        thread.join()
        listener.server_close()
