"""An engine's socket, forwarded to a TCP port as to another machine."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator


@contextlib.contextmanager
def forwarded(path: str) -> Iterator[str]:
    """Forward connections to a socket while this is open; gives where they are taken."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=_accept, args=(listener, path), daemon=True).start()
        try:
            yield f"tcp://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            listener.shutdown(socket.SHUT_RDWR)


def _accept(listener: socket.socket, path: str) -> None:
    with contextlib.suppress(OSError):
        while True:
            ours, _ = listener.accept()
            theirs = socket.socket(socket.AF_UNIX)
            theirs.connect(path)
            threading.Thread(target=_carry, args=(ours, theirs), daemon=True).start()


def _carry(one: socket.socket, other: socket.socket) -> None:
    with one, other, contextlib.suppress(OSError):
        back = threading.Thread(target=_pour, args=(other, one), daemon=True)
        back.start()
        _pour(one, other)
        back.join()


def _pour(here: socket.socket, there: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := here.recv(1 << 16):
            there.sendall(data)
        there.shutdown(socket.SHUT_WR)
