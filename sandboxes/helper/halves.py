"""The halves of pipes, connections and listeners, at either end of a relay."""

from __future__ import annotations

import contextlib
import errno
import os
import select
import socket
import struct

from sandboxes.helper.frames import MOST, Kind
from sandboxes.helper.relay import WINDOW, Relay

_COUNT = struct.Struct("!I")
_AT_ONCE = struct.pack("ii", 1, 0)  # SO_LINGER: what is closed is reset
_BACKLOG = 512
_CONNECTS = 50  # milliseconds
_AHEAD = 64 << 10  # what a pipe of the kernel holds


class Flow:
    """A pipe or a connection: what is read here goes there, what comes from there is written.

    Args:
        reading: descriptor to read from; -1: nothing is.
        writing: descriptor to write to; -1: nothing is. Both are ours from now on.
    """

    def __init__(self, relay: Relay, channel: int, reading: int, writing: int) -> None:
        self._relay = relay
        self._channel = channel
        self._reading = reading
        self._writing = writing
        self._credit = WINDOW
        self._waiting = bytearray()
        self._over = writing < 0  # whether nothing more comes from there
        relay.halves[channel] = self
        for fd in {reading, writing} - {-1}:
            os.set_blocking(fd, False)
        self._watch()

    def frame(self, kind: Kind, data: bytes) -> None:
        """Something came from the other end."""
        if kind is Kind.CREDIT:
            self._credit += _COUNT.unpack(data)[0]
        elif kind is Kind.DATA:
            self._waiting += data
            self._write()
            return
        elif kind is Kind.EOF:
            self._over = True
            self._write()
            return
        elif kind is Kind.RESET:
            self._break()
            return
        self._watch()

    def drain(self) -> None:
        """Read what is there, whatever the other end has room for."""
        most = _AHEAD
        while self._reading >= 0 and most > 0:
            got = self._read()
            if not got:
                return
            most -= got

    def close(self) -> None:
        """Let go of both."""
        for fd in {self._reading, self._writing} - {-1}:
            self._relay.forget(fd)
            os.close(fd)
        self._reading = self._writing = -1

    def _watch(self) -> None:
        if self._reading < 0 and self._writing < 0:
            self._relay.halves.pop(self._channel, None)
            return
        reads = select.EPOLLIN if self._reading >= 0 and self._credit > 0 else 0
        writes = select.EPOLLOUT if self._waiting else 0
        if self._reading == self._writing:
            self._relay.watch(self._reading, reads | writes, self._ready)
            return
        for fd, events in ((self._reading, reads), (self._writing, writes)):
            if fd >= 0:
                with contextlib.suppress(PermissionError):  # a file, which is always ready
                    self._relay.watch(fd, events, self._ready)

    def _ready(self, events: int) -> None:
        if events & (select.EPOLLERR | select.EPOLLHUP) and not events & select.EPOLLIN:
            if self._reading < 0 or events & select.EPOLLERR:
                self._abandon()
                return
            self._read()
        elif events & select.EPOLLIN:
            self._read()
        if events & select.EPOLLOUT and self._writing >= 0:
            self._write()

    def _read(self) -> int:
        """Read once and pass it on; how much it was."""
        try:
            data = os.read(self._reading, MOST)
        except BlockingIOError:
            return 0
        except OSError:
            self._abandon()
            return 0
        if data:
            self._credit -= len(data)
            self._relay.send(Kind.DATA, self._channel, data)
        else:
            self._relay.send(Kind.EOF, self._channel)
            self._stop_reading()
        self._watch()
        return len(data)

    def _write(self) -> None:
        try:
            while self._waiting and self._writing >= 0:
                sent = os.write(self._writing, self._waiting[: 1 << 16])
                del self._waiting[:sent]
                self._relay.send(Kind.CREDIT, self._channel, _COUNT.pack(sent))
        except BlockingIOError:
            pass
        except OSError:
            self._abandon()
            return
        if self._over and not self._waiting:
            self._stop_writing()
        self._watch()

    def _stop_reading(self) -> None:
        fd, self._reading = self._reading, -1
        if fd != self._writing:
            self._relay.forget(fd)
            os.close(fd)

    def _stop_writing(self) -> None:
        fd, self._writing = self._writing, -1
        if fd < 0:
            return
        if fd != self._reading:
            self._relay.forget(fd)
            os.close(fd)
        else:
            with contextlib.suppress(OSError), socket.socket(fileno=os.dup(fd)) as sock:
                sock.shutdown(socket.SHUT_WR)

    def _abandon(self) -> None:
        """Nobody is at this end any more: break it off at the other."""
        self._relay.send(Kind.RESET, self._channel)
        self._relay.drop(self._channel)

    def _break(self) -> None:
        """It was broken off at the other end: do the same here."""
        if self._reading == self._writing and self._reading >= 0:
            with contextlib.suppress(OSError), socket.socket(fileno=os.dup(self._reading)) as sock:
                if sock.family != socket.AF_UNIX:
                    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
        self._relay.drop(self._channel)


class Bound:
    """A listener in the sandbox: who connects is taken, and told of."""

    def __init__(self, relay: Relay, channel: int, sock: socket.socket) -> None:
        self._relay = relay
        self._channel = channel
        self._sock = sock
        self._refuses = False
        sock.setblocking(False)
        relay.halves[channel] = self
        self._watch()

    def frame(self, kind: Kind, data: bytes) -> None:
        """Whether to refuse."""
        del data
        if kind is Kind.REFUSE and not self._refuses:
            self._refuses = True
            self._watch()
            self._sock.shutdown(socket.SHUT_RDWR)
        elif kind is Kind.ADMIT and self._refuses:
            self._refuses = False
            self._sock.listen(_BACKLOG)
            self._watch()

    def close(self) -> None:
        """Unbind it."""
        self._relay.forget(self._sock.fileno())
        self._sock.close()

    def _watch(self) -> None:
        if self._refuses:
            self._relay.forget(self._sock.fileno())
        else:
            self._relay.watch(self._sock.fileno(), select.EPOLLIN, self._ready)

    def drain(self) -> None:
        """Take whoever waits, and what they sent."""
        while not self._refuses and (flow := self._accept()):
            flow.drain()

    def _ready(self, _: int) -> None:
        self._accept()

    def _accept(self) -> Flow | None:
        try:
            connection, _ = self._sock.accept()
        except OSError:
            return None
        number = self._relay.number()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        fd = connection.detach()
        self._relay.send(Kind.OPEN, self._channel, _COUNT.pack(number))
        return Flow(self._relay, number, fd, fd)


class Served:
    """Its counterpart: a listener of our own, whose other end the harness serves.

    The harness may have it refuse, and take it back; it is looked at for that.
    """

    def __init__(self, relay: Relay, channel: int, sock: socket.socket) -> None:
        self._relay = relay
        self._channel = channel
        self._sock = sock
        self._address = sock.getsockname()
        self._listens = True
        relay.halves[channel] = self
        relay.watch(sock.fileno(), select.EPOLLET, self._changed)

    def frame(self, kind: Kind, data: bytes) -> None:
        """Somebody connected inside."""
        if kind is not Kind.OPEN:
            return
        number = _COUNT.unpack(data)[0]
        sock = socket.socket(self._sock.family)
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        code = sock.connect_ex(self._address)
        poller = select.poll()
        poller.register(sock, select.POLLOUT)
        poller.poll(_CONNECTS)  # as good as at once, unless the harness leaves a long queue
        fd = sock.detach()
        if code in {0, errno.EINPROGRESS}:
            Flow(self._relay, number, fd, fd)
        else:
            os.close(fd)
            self._relay.send(Kind.RESET, number)

    def drain(self) -> None:
        """Nothing: whoever connects does so at the other end."""

    def close(self) -> None:
        """Let go of our copy."""
        self._relay.ticks.pop(self, None)
        self._relay.forget(self._sock.fileno())
        self._sock.close()

    def _changed(self, _: int) -> None:
        self._look()
        if not self._listens:
            self._relay.ticks[self] = self._look

    def _look(self) -> None:
        listens = bool(self._sock.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN))
        if listens != self._listens:
            self._listens = listens
            self._relay.send(Kind.ADMIT if listens else Kind.REFUSE, self._channel)
        if listens:
            self._relay.ticks.pop(self, None)
