"""Takes questions about names, as datagrams and over connections."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable
from typing import Final, cast

from harness.services.sender import reset

_AT_ONCE: Final = 64
_MOST: Final = 4096
_LENGTH: Final = 2
_MOST_UNREAD: Final = 64 << 10


Reply = Callable[[bytes], bytes | None]


class NameServer:
    """A bound datagram socket, owned from now on; all calls come from the loop's thread."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        sock: socket.socket,
        reply: Reply,
    ) -> None:
        self._loop = loop
        self._sock = sock
        self._reply = reply
        sock.setblocking(False)
        loop.add_reader(sock, self._readable)

    def _readable(self) -> None:
        for _ in range(_AT_ONCE):
            try:
                message, sender = self._sock.recvfrom(_MOST)
            except OSError:  # nothing more, or word that a client's port is closed
                return
            answer = self._reply(message)
            if answer is not None:
                with contextlib.suppress(OSError):  # a client that is gone
                    self._sock.sendto(answer, sender)

    def take(self) -> None:
        """Answer what has come in and has not been looked at yet."""
        if self._sock.fileno() >= 0:
            self._readable()

    def close(self) -> None:
        """Stop answering."""
        if self._sock.fileno() >= 0:
            self._loop.remove_reader(self._sock)
            self._sock.close()


class NameStream(asyncio.Protocol):
    """A connection on which questions come with their length in front.

    Args:
        reply: answers one message.
        came: told that it is open; gives whether the trial still runs.
        left: told that it is gone.
    """

    def __init__(
        self,
        reply: Reply,
        came: Callable[[NameStream], bool],
        left: Callable[[NameStream], None],
    ) -> None:
        self._reply = reply
        self._came = came
        self._left = left
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        if not self._came(self):
            self._transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's
        self._left(self)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while len(self._buffer) >= _LENGTH:
            end = _LENGTH + int.from_bytes(self._buffer[:_LENGTH], "big")
            if len(self._buffer) < end:
                return
            answer = self._reply(self._buffer[_LENGTH:end])
            self._buffer = self._buffer[end:]
            if answer is not None and not self._stuck():
                self._transport.write(len(answer).to_bytes(_LENGTH, "big") + answer)

    def _stuck(self) -> bool:
        """Whether the client does not read what it is told; then it is told no more."""
        return self._transport.get_write_buffer_size() > _MOST_UNREAD

    def reset(self, how: str = "cut") -> None:  # noqa: ARG002 - as of a connection of HTTP
        """End it at once."""
        reset(self._transport)
