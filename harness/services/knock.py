"""A client at a port where TLS is spoken: its handshake, and the connection that follows.

A fault is used up by a client that asks for a handshake, and not by one that only connects.
The record keeps every handshake that came to nothing, with how the client ended it.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from typing import Final, Protocol, cast

from harness.services.authority import EXPIRED, UNTRUSTED, WRONG_HOST
from harness.services.base import Hit, Incoming
from harness.services.board import Board
from harness.services.secure import Channel, Secure, asks
from harness.services.sender import reset

_ALERT: Final = b"\x15\x03\x03\x00\x02\x02\x28"  # fatal, handshake_failure
_NO_TLS: Final = b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
#: What is sent instead of a handshake.
_INSTEAD: Final = {"handshake": _ALERT, "protocol": _NO_TLS, "closed": b""}

#: Every way in which a greeting can be wrong.
GREETINGS: Final = (EXPIRED, WRONG_HOST, UNTRUSTED, *_INSTEAD)

_HANDSHAKE: Final = 22
_HEAD: Final = 5  # bytes: of a record, the last two of them its length
_LONGEST: Final = 1 << 14
_MOST: Final = 1 << 16
_LINGER: Final = 1.0

#: The certificate that a service shows, by its name and what is to be wrong with it.
Context = Callable[[str, str], ssl.SSLContext]


class Porch(Protocol):
    """What a knock tells the trial, and asks of it."""

    @property
    def board(self) -> Board: ...

    def came(self, connection: Knock) -> bool:
        """It is at the door; ``False`` if the trial is over."""

    def left(self, connection: Knock) -> None:
        """It is not any more."""

    def shut_out(self, service: str, heard: Incoming, hit: Hit | None, how: str, said: str) -> None:
        """A handshake came to nothing: record it, with what was heard of it."""

    def failed(self, bug: BaseException) -> None:
        """The harness has a bug."""


class Knock(asyncio.Protocol):
    """One client.

    Args:
        context: the certificates to show.
        number: of its connection in the trial.
        service: whose door it is.
        made: makes the connection of HTTP; it is given the fault that it has met already.
    """

    def __init__(
        self,
        porch: Porch,
        context: Context,
        number: int,
        service: str,
        made: Callable[[Hit | None], asyncio.Protocol],
    ) -> None:
        self._porch = porch
        self._context = context
        self._number = number
        self._service = service
        self._made = made
        self._first = b""
        self._hit: Hit | None = None
        self._channel: Channel | None = None
        self._inner: asyncio.Protocol | None = None
        self._linger: asyncio.TimerHandle | None = None
        self._waiting = True
        self._over = False
        self._how = ""

    # -- asyncio.Protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._raw = cast("asyncio.Transport", transport)  # uvloop's is no subclass of it
        if not self._porch.came(self):
            self._over = True
            self._raw.abort()

    def data_received(self, data: bytes) -> None:
        if self._over:
            return
        try:
            self._take(data)
        except Exception as bug:  # noqa: BLE001 - ours: told, and the client must not wait for ever
            self._porch.failed(bug)
            self.reset()

    def eof_received(self) -> bool:
        if self._inner is not None:
            self._inner.eof_received()
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        if self._linger is not None:
            self._linger.cancel()
        if self._inner is not None:
            self._inner.connection_lost(exc)
        elif self._first and not self._over:
            was_reset = isinstance(exc, ConnectionResetError)
            how = self._how or ("reset" if was_reset else "cut")
            self._shut_out(how, "reset the connection" if was_reset else "left without a word")
        self._leave()

    def pause_writing(self) -> None:
        if self._inner is not None:
            self._inner.pause_writing()

    def resume_writing(self) -> None:
        if self._inner is not None:
            self._inner.resume_writing()

    # -- the flow

    def reset(self, how: str = "cut") -> None:
        """Send it away."""
        self._how = how
        reset(self._raw)

    def _take(self, data: bytes) -> None:
        if self._inner is not None and self._channel is not None:
            self._channel.feed(data)
            self._relay(self._channel, self._inner)
            return
        if self._channel is not None:
            self._first = (self._first + data)[:_MOST]
        else:
            data = self._first = self._first + data
            asks = self._asks()
            if asks is None:
                return
            kind = self._greeting() if asks else ""
            if kind in _INSTEAD:
                self._turn_away(_INSTEAD[kind])
                return
            self._channel = Channel(self._raw, self._context(self._service, kind))
        self._channel.feed(data)
        self._shake(self._channel)

    def _asks(self) -> bool | None:
        """Whether it asks for a handshake that could be had; ``None``: it has not finished."""
        if self._first[0] != _HANDSHAKE:
            return False
        size = int.from_bytes(self._first[_HEAD - 2 : _HEAD], "big")
        if len(self._first) < _HEAD or (len(self._first) < _HEAD + size and size <= _LONGEST):
            return None
        return asks(self._context(self._service, ""), self._first)

    def _greeting(self) -> str:
        """What goes wrong, now that it has asked for a handshake."""
        taken = self._porch.board.take_greeting(self._service)
        if taken is None:
            return ""
        self._hit, kind = taken
        return kind

    def _turn_away(self, answer: bytes) -> None:
        """Say something else, and hear the client out, lest the end becomes a reset."""
        self._shut_out("refused", "was turned away")
        self._raw.write(answer)
        self._raw.write_eof()
        self._linger = asyncio.get_running_loop().call_later(_LINGER, self._raw.abort)

    def _shake(self, channel: Channel) -> None:
        try:
            done = channel.shaken()
        except ssl.SSLError as error:
            self._shut_out("refused", _words(error))
            self._raw.close()
            return
        if done:
            inner = self._inner = self._made(self._hit)
            inner.connection_made(Secure(self._raw, channel))
            self._leave()  # from now on it is the other that is open
            self._relay(channel, inner)

    def _relay(self, channel: Channel, inner: asyncio.Protocol) -> None:
        """Pass on what has come, in clear."""
        try:
            data, ended = channel.read()
        except ssl.SSLError:
            self.reset("reset")
            return
        if data:
            inner.data_received(data)
        if ended:
            inner.eof_received()
            self._raw.close()

    def _shut_out(self, how: str, said: str) -> None:
        self._over = True
        heard = Incoming(self._number, "", "", {}, self._first)
        self._porch.shut_out(self._service, heard, self._hit, how, said)

    def _leave(self) -> None:
        if self._waiting:
            self._waiting = False
            self._porch.left(self)


def _words(error: ssl.SSLError) -> str:
    """What the client said, or what was wrong with it."""
    reason = (error.reason or str(error)).lower().replace("_", " ")
    _, alert, said = reason.partition("alert ")
    return f"turned it down ({said})" if alert else f"made no handshake ({reason})"
