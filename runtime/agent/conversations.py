"""Conversations, as they are stored: screened, in order, and complete enough to go on with."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

import anyio.to_thread
from sqlalchemy import Connection, insert, select, update

from runtime.clock import Clock, micros
from runtime.model.base import Asked, Said
from runtime.recovery.handoff import RETRIED, RETRYING, append
from runtime.store.store import Store
from runtime.store.tables import CONVERSATIONS, EVENTS, HANDOFFS, MESSAGES

State: TypeAlias = Literal["open", "running", "done", "failed", "interrupted"]
Kind: TypeAlias = Literal["chat", "project"]
_SHOWN: Final = frozenset({"user", "assistant", "tool"})
_AGAIN: Final = "Try again what was handed to a person."
_LOST: Final = "This call was interrupted; whether it was carried out is not known."


@dataclass(frozen=True, slots=True)
class Conversation:
    """One of them, without what was said in it."""

    id: str
    kind: Kind
    state: State
    model: str
    created: int
    updated: int


class Conversations:
    """Those of a store."""

    def __init__(self, store: Store, clock: Clock, screen: Callable[[Any], Any]) -> None:
        self._store = store
        self._clock = clock
        self._screen = screen

    async def begin(self, kind: Kind, model: str, said: Said | None = None) -> str:
        """Begin one; its id. With something said in it, it is to be carried on at once."""
        made = uuid.uuid4().hex[:12]
        now = micros(self._clock.now())
        row = {
            "id": made,
            "kind": kind,
            "state": "running" if said else "open",
            "model": model,
            "created": now,
            "updated": now,
        }
        contents = await self._contents([said] if said else [])

        def write(connection: Connection) -> None:
            connection.execute(insert(CONVERSATIONS), [row])
            for role, content in contents:
                append(connection, made, role, content, now)

        await self._store.writing(write)
        return made

    async def find(self, id: str) -> Conversation | None:  # noqa: A002
        """The one of an id."""
        query = select(CONVERSATIONS).filter_by(id=id)
        row = await self._store.reading(lambda each: each.execute(query).mappings().first())
        return Conversation(**row) if row else None

    async def all(self) -> list[Conversation]:
        """All of them, the latest first."""
        query = select(CONVERSATIONS).order_by(CONVERSATIONS.c.updated.desc())
        rows = await self._store.reading(lambda each: each.execute(query).mappings().all())
        return [Conversation(**row) for row in rows]

    async def take(self, id: str, said: Said) -> bool:  # noqa: A002
        """Say something in one, to carry it on; false where somebody carries it on already."""
        [(role, content)] = await self._contents([said])
        now = micros(self._clock.now())

        def write(connection: Connection) -> bool:
            if not taken(connection, id, now):
                return False
            append(connection, id, role, content, now)
            return True

        return await self._store.writing(write)

    async def take_answered(self, id: str) -> bool:  # noqa: A002
        """Put what people noted to a retry into one, to carry it on; false where there is none."""
        now = micros(self._clock.now())
        return await self._store.writing(lambda each: _answers_taken(each, id, now))

    async def answered(self) -> Sequence[str]:
        """Those in which people's notes to a retry wait."""
        query = select(HANDOFFS.c.conversation).filter_by(state=RETRYING).distinct()
        return await self._store.reading(lambda each: each.execute(query).scalars().all())

    async def end(self, id: str, state: State, event: Mapping[str, Any]) -> None:  # noqa: A002
        """Write down that one is not carried on any more, and the event of it."""
        changed = (
            update(CONVERSATIONS)
            .filter_by(id=id, state="running")
            .values(state=state, updated=micros(self._clock.now()))
        )

        def write(connection: Connection) -> None:
            if connection.execute(changed).rowcount:
                connection.execute(insert(EVENTS), [event])

        await self._store.writing(write)

    async def interrupt(self) -> int:
        """After a start: what was running is not any more. How many there were."""
        changed = update(CONVERSATIONS).filter_by(state="running").values(state="interrupted")
        return await self._store.writing(lambda each: each.execute(changed).rowcount)

    async def add(self, id: str, *entries: Said) -> None:  # noqa: A002
        """Put entries behind the others, in one transaction."""
        contents = await self._contents(entries)
        now = micros(self._clock.now())

        def write(connection: Connection) -> None:
            for role, content in contents:
                append(connection, id, role, content, now)

        await self._store.writing(write)

    async def _contents(self, entries: Sequence[Said]) -> list[tuple[str, Any]]:
        """Entries as they are stored; what is long takes the screen a while."""

        def screened() -> list[tuple[str, Any]]:
            return [(said.role, self._screen(_content(said))) for said in entries]

        return await anyio.to_thread.run_sync(screened)

    async def said(self, id: str) -> list[Said]:  # noqa: A002
        """What a model is shown of one: no cards, and an answer to every call."""
        entries = [_said(row) for row in await self.messages(id) if row["role"] in _SHOWN]
        return list(_answered(entries))

    async def messages(self, id: str) -> Sequence[dict[str, Any]]:  # noqa: A002
        """All that was said in one, cards included, as people are shown it."""
        query = select(MESSAGES).filter_by(conversation=id).order_by(MESSAGES.c.position)
        rows = await self._store.reading(lambda each: each.execute(query).mappings().all())
        return [
            {name: row[name] for name in ("position", "role", "content", "created")} for row in rows
        ]


def taken(connection: Connection, id: str, now: int) -> bool:  # noqa: A002
    """Mark a conversation as carried on; false where it is already."""
    free = ["open", "done", "failed", "interrupted"]
    changed = (
        update(CONVERSATIONS)
        .where(CONVERSATIONS.c.id == id, CONVERSATIONS.c.state.in_(free))
        .values(state="running", updated=now)
    )
    return connection.execute(changed).rowcount == 1


def _answers_taken(connection: Connection, id: str, now: int) -> bool:  # noqa: A002
    waiting = select(HANDOFFS).filter_by(conversation=id, state=RETRYING)
    rows = connection.execute(waiting.order_by(HANDOFFS.c.answered)).all()
    if not rows or not taken(connection, id, now):
        return False
    for row in rows:
        append(connection, id, "user", {"text": row.note or _AGAIN}, now)
        connection.execute(update(HANDOFFS).filter_by(id=row.id).values(state=RETRIED))
    return True


def _content(said: Said) -> dict[str, Any]:
    match said.role:
        case "assistant":
            calls = [
                {
                    "id": call.id,
                    "name": call.name,
                    "arguments": call.arguments,
                    "problem": call.problem,
                }
                for call in said.calls
            ]
            return {"text": said.text, "calls": calls}
        case "tool":
            return {"call": said.call, "text": said.text, "failed": said.failed}
        case "user":
            return {"text": said.text}


def _said(row: dict[str, Any]) -> Said:
    content = row["content"]
    calls = tuple(Asked(**call) for call in content.get("calls", ()))
    return Said(
        row["role"],
        content["text"],
        calls,
        content.get("call", ""),
        bool(content.get("failed", False)),
    )


def _answered(entries: Iterable[Said]) -> Iterable[Said]:
    """The same, with an answer for each call that lost its own when something ended."""
    waiting: dict[str, None] = {}
    for said in entries:
        if said.role != "tool":
            yield from (Said("tool", _LOST, call=call, failed=True) for call in waiting)
            waiting = {call.id: None for call in said.calls}
            yield said
        elif said.call in waiting:
            waiting.pop(said.call)
            yield said
    yield from (Said("tool", _LOST, call=call, failed=True) for call in waiting)
