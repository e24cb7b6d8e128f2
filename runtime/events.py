"""The one stream of events: kept in the store, and heard by whoever subscribed.

Everything passes the screen before anybody sees it.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import anyio
import anyio.to_thread
from sqlalchemy import Connection, func, insert, select

from runtime.clock import Clock, micros
from runtime.store.store import Store
from runtime.store.tables import EVENTS

_PAGE = 500


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened.

    Attributes:
        id: its number in the stream, growing.
        at: microseconds since the epoch.
        kind: what, such as ``tool.ended``.
        conversation: where, if anywhere.
        data: what is to be said of it, screened.
    """

    id: int
    at: int
    kind: str
    conversation: str | None
    data: Mapping[str, Any]


class Events:
    """The stream."""

    def __init__(self, store: Store, clock: Clock, screen: Callable[[Any], Any]) -> None:
        self._store = store
        self._clock = clock
        self._screen = screen
        self._more = anyio.Event()

    async def emit(self, kind: str, conversation: str | None = None, **data: Any) -> None:
        """Write an event down, then wake who waits for it."""
        row = await anyio.to_thread.run_sync(self.row, kind, conversation, data)
        await self._store.writing(lambda connection: connection.execute(insert(EVENTS), [row]))
        self.wake()

    def row(self, kind: str, conversation: str | None, data: Mapping[str, Any]) -> dict[str, Any]:
        """An event as a row, for a transaction that writes more than it; :meth:`wake` after."""
        at = micros(self._clock.now())
        said = self._screen(dict(data))
        return {"at": at, "kind": kind, "conversation": conversation, "data": said}

    def wake(self) -> None:
        """Let subscribers look; on the event loop."""
        self._more, waiting = anyio.Event(), self._more
        waiting.set()

    async def follow(self, after: int = 0) -> AsyncIterator[Event]:
        """Every event behind a number, and then those to come, in order."""
        while True:
            waiting = self._more
            found = await self.since(after)
            for event in found:
                after = event.id
                yield event
            if not found:
                await waiting.wait()

    async def last(self) -> int:
        """The number of the latest event; 0 before the first."""
        query = select(func.coalesce(func.max(EVENTS.c.id), 0))
        return await self._store.reading(lambda each: int(each.execute(query).scalar_one()))

    async def since(self, after: int = 0) -> list[Event]:
        """The events behind a number that are there now, up to a page of them."""
        return await self._store.reading(lambda connection: list(_after(connection, after)))


def _after(connection: Connection, after: int) -> Iterator[Event]:
    query = select(EVENTS).where(EVENTS.c.id > after).order_by(EVENTS.c.id).limit(_PAGE)
    with contextlib.closing(connection.execute(query)) as rows:
        for row in rows.mappings():
            yield Event(**row)
