"""A connection on TLS, as a transport for those who speak on it.

Encrypted here and not by the event loop, so that what holds for a plain connection holds for
this one: its pauses are those of the kernel, and a reset is a reset.
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from typing import Any, Final

_MOST: Final = 256 << 10


def asks(context: ssl.SSLContext, said: bytes) -> bool | None:
    """Whether a client asks for a handshake that could be had; ``None``: it has not finished."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    incoming.write(said)
    try:
        context.wrap_bio(incoming, outgoing, server_side=True).do_handshake()
    except ssl.SSLWantReadError:
        return True if outgoing.pending else None
    except ssl.SSLError:
        return False
    return True


class Channel:
    """TLS on one connection, the server's side.

    Raises:
        ssl.SSLError: out of every method, what the other side does is no TLS; what it is to
            be told of that has been sent.
    """

    def __init__(self, raw: asyncio.Transport, context: ssl.SSLContext) -> None:
        self._raw = raw
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_side=True)

    def feed(self, data: bytes) -> None:
        """What has come."""
        self._incoming.write(data)

    def shaken(self) -> bool:
        """Go on with the handshake; whether it is done."""
        try:
            self._tls.do_handshake()
        except ssl.SSLWantReadError:
            return False
        finally:
            self._flush()
        return True

    def read(self) -> tuple[bytes, bool]:
        """What has come in clear, and whether the other side has said that it is at its end."""
        pieces = []
        try:
            while piece := self._tls.read(_MOST):
                pieces.append(piece)
        except ssl.SSLWantReadError:
            return b"".join(pieces), False
        except ssl.SSLZeroReturnError:
            pass
        finally:
            self._flush()
        return b"".join(pieces), True

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Send something."""
        rest = memoryview(data)
        while rest:
            rest = rest[self._tls.write(rest) :]
        self._flush()

    def end(self) -> None:
        """Say that there will be no more."""
        with contextlib.suppress(ssl.SSLError):  # it waits for an answer, and we do not
            self._tls.unwrap()
        self._flush()

    def _flush(self) -> None:
        if self._outgoing.pending and not self._raw.is_closing():
            self._raw.write(self._outgoing.read())


class Secure(asyncio.Transport):
    """What a protocol sees of a connection on TLS."""

    def __init__(self, raw: asyncio.Transport, channel: Channel) -> None:
        super().__init__()
        self._raw = raw
        self._channel = channel

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if not self._raw.is_closing():
            self._channel.write(data)

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        self._channel.end()
        self._raw.write_eof()

    def close(self) -> None:
        if not self._raw.is_closing():
            self._channel.end()
        self._raw.close()

    def abort(self) -> None:
        self._raw.abort()

    def is_closing(self) -> bool:
        return self._raw.is_closing()

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return self._raw.get_extra_info(name, default)

    def pause_reading(self) -> None:
        self._raw.pause_reading()

    def resume_reading(self) -> None:
        self._raw.resume_reading()

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        self._raw.set_write_buffer_limits(high, low)

    def get_write_buffer_size(self) -> int:
        return self._raw.get_write_buffer_size()
