"""Two ends of one byte stream that together stand in for sockets on one machine.

What speaks :mod:`sandboxes.helper.wire` passes descriptors, which no stream carries. So each
end keeps the descriptor that it was given and tells the other end what it is of; that one makes
a counterpart of the same kind and hands it on, and the two ends carry between them what is
written, read, accepted or ended on either. Nothing is read ahead of what the other side has
room for, except that what a program wrote goes before the word that it has ended.

The subject holds neither end: it can write to a pipe or a connection of its own, and what it
writes there travels as the contents of that pipe or connection.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn, Protocol

from sandboxes.helper import frames, wire
from sandboxes.helper.frames import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

#: How much of a stream may be under way, in bytes, and of everything at once.
WINDOW, HIGH = 256 << 10, 1 << 20
_TICK = 0.02
_LAST_WORDS = 5000  # milliseconds

Handler = Callable[[int], None]


class Ended(Exception):
    """The stream is over, or what came on it made no sense."""


class Half(Protocol):
    """What one end holds of something that has a counterpart at the other."""

    def frame(self, kind: Kind, data: bytes) -> None:
        """Something came for it."""

    def drain(self) -> None:
        """Pass on what is there now, whatever the other end has room for."""

    def close(self) -> None:
        """Let go of it."""


class Passing(Protocol):
    """How descriptors are given and taken at one end."""

    def give(self, relay: Relay, fd: int, data: bytearray) -> dict[str, object]:
        """Keep a descriptor, and say what the other end is to make of it."""

    def take(self, relay: Relay, item: dict[str, int | str], data: memoryview) -> int:
        """Make a counterpart; gives the descriptor to hand on."""


class Relay:
    """One end.

    Args:
        stream: non-blocking; what comes on it, and what goes.
        passing: what descriptors become.
        first: number of the first channel that is opened at this end; the other end has the
            other parity.
    """

    def __init__(self, stream: frames.Stream, passing: Passing, first: int) -> None:
        self.stream = stream
        self.passing = passing
        self.halves: dict[int, Half] = {}
        self._next = first
        self._handlers: dict[int, tuple[int, Handler]] = {}
        self._poller = select.epoll()
        self.ticks: dict[object, Callable[[], None]] = {}  # looked at now and then
        self._watch_stream()

    # -- for the halves

    def number(self) -> int:
        """A channel of ours that is new."""
        self._next += 2
        return self._next - 2

    def send(self, kind: Kind, channel: int, data: bytes | memoryview = b"") -> None:
        """Have a frame sent; it waits in memory until it can be."""
        self.stream.put(kind, channel, data)

    @property
    def crowded(self) -> bool:
        """Whether so much waits to be sent that nothing more is read but the stream."""
        return self.stream.waiting > HIGH

    def watch(self, fd: int, events: int, handler: Handler) -> None:
        """Have a handler called for events of a descriptor; 0: for its end alone."""
        known = self._handlers.get(fd)
        if known is None:
            self._poller.register(fd, events)
        elif known[0] != events:
            self._poller.modify(fd, events)
        self._handlers[fd] = events, handler

    def forget(self, fd: int) -> None:
        """Watch a descriptor no more."""
        if self._handlers.pop(fd, None) is not None:
            self._poller.unregister(fd)

    def drop(self, channel: int) -> None:
        """A channel is over at both ends; of the first one, everything is."""
        if channel == 0:
            raise Ended("the conversation ended")
        if half := self.halves.pop(channel, None):
            half.close()

    # -- the loop

    def run(self) -> NoReturn:
        """Carry until the stream ends.

        Raises:
            Ended: it did.
        """
        while True:
            self._watch_stream()
            if self.crowded:
                self._make_room()
                continue
            for fd, events in self._poller.poll(_TICK if self.ticks else None):
                if fd in self._handlers:
                    self._handlers[fd][1](events)
            for tick in list(self.ticks.values()):
                tick()

    def _make_room(self) -> None:
        """Wait for the stream alone, since nothing more is to be read but from it."""
        poller = select.poll()
        poller.register(self.stream.reading, select.POLLIN)
        poller.register(self.stream.writing, select.POLLOUT)
        for _, events in poller.poll():
            self._stream_ready(events)

    def finish(self) -> None:
        """Send what waits, if somebody takes it, and let go of everything."""
        poller = select.poll()
        poller.register(self.stream.writing, select.POLLOUT)
        with contextlib.suppress(OSError):
            while self.stream.waiting and poller.poll(_LAST_WORDS):
                self.stream.flush()
        for half in self.halves.values():
            half.close()
        self._poller.close()

    def _watch_stream(self) -> None:
        reading, writing = self.stream.reading, self.stream.writing
        out = select.EPOLLOUT if self.stream.waiting else 0
        if reading == writing:
            self.watch(reading, select.EPOLLIN | out, self._stream_ready)
        else:
            self.watch(reading, select.EPOLLIN, self._stream_ready)
            self.watch(writing, out, self._stream_ready)

    def _stream_ready(self, events: int) -> None:
        try:
            if events & select.EPOLLOUT:
                self.stream.flush()
            if events & ~select.EPOLLOUT:
                for frame in self.stream.get():
                    self._frame(frame)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise Ended(f"the stream broke: {error}") from error
        except EOFError as error:
            raise Ended("the stream ended") from error

    def _frame(self, frame: frames.Frame) -> None:
        half = self.halves.get(frame.channel)
        if half is not None:  # else it has ended here meanwhile
            half.frame(frame.kind, frame.data)


class Wire:
    """A conversation by messages that pass descriptors.

    A message overtakes nothing: what was written, sent or connected before goes first.
    """

    def __init__(self, relay: Relay, channel: int, sock: socket.socket) -> None:
        self._relay = relay
        self._channel = channel
        self._sock = sock
        self._partial = bytearray()
        self._waiting: list[tuple[memoryview, list[int]]] = []
        relay.halves[channel] = self
        self._watch()

    def frame(self, kind: Kind, data: bytes) -> None:
        """A piece of a message, its last piece, or the end."""
        if kind is Kind.EOF:
            self._sock.shutdown(socket.SHUT_WR)
            return
        self._partial += data
        if kind is Kind.LAST:
            message, self._partial = self._partial, bytearray()
            self._deliver(memoryview(message))

    def drain(self) -> None:
        """Nothing: messages wait for their turn."""

    def close(self) -> None:
        """Hang up."""
        for _, fds in self._waiting:
            _close_all(fds)
        self._relay.forget(self._sock.fileno())
        self._sock.close()

    def _deliver(self, message: memoryview) -> None:
        items, attached, raw = frames.opened(message)
        fds: list[int] = []
        for item in items:
            size = int(item.get("attached", 0))
            fds.append(
                os.dup(fds[int(item["same"])])
                if "same" in item
                else self._relay.passing.take(self._relay, item, attached[:size])
            )
            attached = attached[size:]
        self._waiting.append((raw, fds))
        self._flush()

    def _flush(self) -> None:
        try:
            while self._waiting:
                data, fds = self._waiting[0]
                sent = wire.send_some(self._sock, data, fds)
                _close_all(fds)
                self._waiting[0] = data[sent:], []
                if sent == len(data):
                    self._waiting.pop(0)
        except BlockingIOError:
            pass
        except wire.Closed:
            self._relay.send(Kind.EOF, self._channel)
            self._relay.drop(self._channel)
            return
        self._watch()

    def _watch(self) -> None:
        out = select.EPOLLOUT if self._waiting else 0
        self._relay.watch(self._sock.fileno(), select.EPOLLIN | out, self._ready)

    def _ready(self, events: int) -> None:
        if events & select.EPOLLOUT:
            self._flush()
        if not events & ~select.EPOLLOUT or self._relay.halves.get(self._channel) is not self:
            return
        try:
            raw, fds = wire.receive_raw(self._sock)
        except wire.Closed:
            self._relay.send(Kind.EOF, self._channel)
            self._relay.drop(self._channel)
            return
        for half in list(self._relay.halves.values()):
            half.drain()
        self._pass_on(raw, fds)

    def _pass_on(self, raw: bytes, fds: Sequence[int]) -> None:
        items: list[dict[str, object]] = []
        attached = bytearray()
        same: dict[tuple[int, int, int], int] = {}
        for number, fd in enumerate(fds):
            status = os.fstat(fd)
            known = same.setdefault((status.st_dev, status.st_ino, status.st_mode), number)
            if known != number:
                os.close(fd)
                items.append({"same": known})
                continue
            start = len(attached)
            item = self._relay.passing.give(self._relay, fd, attached)
            items.append({**item, "attached": len(attached) - start})
        message = memoryview(frames.sealed(json.dumps(items).encode(), attached, raw))
        for at in range(0, len(message), frames.MOST):
            piece = message[at : at + frames.MOST]
            last = at + frames.MOST >= len(message)
            self._relay.send(Kind.LAST if last else Kind.MORE, self._channel, piece)


def _close_all(fds: list[int]) -> None:
    while fds:
        os.close(fds.pop())
