"""Accepts the connections of one listening socket that somebody else has bound."""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import Callable
from typing import Final

_AT_ONCE: Final = 32
_BACKLOG: Final = 512
_OUT_OF_DESCRIPTORS: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
_PATIENCE: Final = 0.05


class Listener:
    """A listening socket; all calls come from the loop's thread.

    Args:
        sock: bound, of type stream; owned from now on.
        accepted: takes each new connection.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        sock: socket.socket,
        accepted: Callable[[socket.socket], None],
    ) -> None:
        self._loop = loop
        self._sock = sock
        self._accepted = accepted
        self._watched = False
        self._refusing = False
        self._held = False
        self._closed = False
        self._taken = 0
        sock.setblocking(False)
        sock.listen(_BACKLOG)
        self._watch()

    def hold(self, *, held: bool) -> None:
        """Leave new connections in the kernel's queue, or take them again."""
        self._held = held
        self._watch()

    def refuse(self) -> None:
        """Have the kernel refuse connections; the address stays ours.

        Shutting down, unlike closing, also ends a listener of which another process has a
        copy, and lets no one else take the port.
        """
        if not self._refusing and not self._closed:
            self._refusing = True
            self._watch()
            self._sock.shutdown(socket.SHUT_RDWR)

    def admit(self) -> None:
        """Take connections again."""
        if self._refusing and not self._closed:
            self._sock.listen(_BACKLOG)
            self._refusing = False
            self._watch()

    def take(self) -> bool:
        """Accept what waits in the kernel's queue; whether there was anything."""
        before = self._taken
        if self._watched:
            self._accept()
        return self._taken > before

    def close(self) -> None:
        """Stop for good."""
        if not self._closed:
            self.refuse()
            self._closed = True
            self._watch()
            self._sock.close()

    def _watch(self) -> None:
        wanted = not (self._refusing or self._held or self._closed)
        if wanted and not self._watched:
            self._loop.add_reader(self._sock, self._accept)
        elif self._watched and not wanted:
            self._loop.remove_reader(self._sock)
        self._watched = wanted

    def _accept(self) -> None:
        for _ in range(_AT_ONCE):
            if not self._watched:
                return
            try:
                connection, _ = self._sock.accept()
            except (BlockingIOError, ConnectionAbortedError):
                return
            except OSError as error:
                if error.errno not in _OUT_OF_DESCRIPTORS:
                    raise
                self.hold(held=True)
                self._loop.call_later(_PATIENCE, self._go_on)
                return
            connection.setblocking(False)
            self._taken += 1
            self._accepted(connection)

    def _go_on(self) -> None:
        if not self._closed:
            self.hold(held=False)
