"""The model's words as they arrive, for who listens now; none are kept, and none pass unscreened."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import anyio
import anyio.to_thread
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from runtime.screen.screen import Screen
from runtime.screen.stream import StreamScreen

_WAITING: Final = 1000
"""Pieces that wait for a listener; one that is slower than that misses some."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Some of what a model says."""

    conversation: str
    text: str


class Pieces:
    """Who listens, and what they hear."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._listeners: set[MemoryObjectSendStream[Piece]] = set()

    @property
    def heard(self) -> bool:
        """Whether anybody listens."""
        return bool(self._listeners)

    def of(self, conversation: str) -> Speech:
        """One answer in a conversation, to be told as it arrives."""
        return Speech(self, conversation, StreamScreen(self._screen))

    def tell(self, piece: Piece) -> None:
        """Let everybody hear a piece."""
        for listener in self._listeners:
            with contextlib.suppress(anyio.WouldBlock, anyio.BrokenResourceError):
                listener.send_nowait(piece)

    @contextlib.contextmanager
    def listening(self) -> Iterator[MemoryObjectReceiveStream[Piece]]:
        """Hear what is told from now on."""
        send, receive = anyio.create_memory_object_stream[Piece](_WAITING)
        self._listeners.add(send)
        try:
            with send, receive:
                yield receive
        finally:
            self._listeners.discard(send)


class Speech:
    """One answer. Who comes late hears it from its beginning, for no half of a secret is known."""

    def __init__(self, pieces: Pieces, conversation: str, screen: StreamScreen) -> None:
        self._pieces = pieces
        self._conversation = conversation
        self._screen = screen
        self._waiting: list[str] = []

    async def hear(self, piece: str) -> None:
        """Take the next piece."""
        self._waiting.append(piece)
        if self._pieces.heard:
            self._tell(await anyio.to_thread.run_sync(self._screen.feed, self._taken()))

    async def end(self) -> None:
        """Tell the rest; the answer has ended."""
        if self._pieces.heard:
            self._tell(await anyio.to_thread.run_sync(self._screen.feed, self._taken()))
            self._tell(await anyio.to_thread.run_sync(self._screen.finish))

    def _taken(self) -> str:
        waiting, self._waiting = self._waiting, []
        return "".join(waiting)

    def _tell(self, text: str) -> None:
        if text:
            self._pieces.tell(Piece(self._conversation, text))
