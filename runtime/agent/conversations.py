"""Conversations, as they are stored: screened, in order, and complete enough to go on with."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from sqlalchemy import Connection, insert, select, update

from runtime.clock import Clock, micros
from runtime.model.base import Asked, Said
from runtime.recovery.handoff import append
from runtime.store.store import Store
from runtime.store.tables import CONVERSATIONS, MESSAGES

State: TypeAlias = Literal["open", "running", "done", "failed", "interrupted"]
Kind: TypeAlias = Literal["chat", "project"]
_SHOWN: Final = frozenset({"user", "assistant", "tool"})
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

    async def begin(self, kind: Kind, model: str) -> str:
        """Begin one; its id."""
        made = uuid.uuid4().hex[:12]
        now = micros(self._clock.now())
        row = {
            "id": made,
            "kind": kind,
            "state": "open",
            "model": model,
            "created": now,
            "updated": now,
        }
        await self._store.writing(lambda each: each.execute(insert(CONVERSATIONS), [row]))
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

    async def take(self, id: str) -> bool:  # noqa: A002
        """Begin to carry one on; false where somebody does already."""
        free = ["open", "done", "failed", "interrupted"]
        taken = (
            update(CONVERSATIONS)
            .where(CONVERSATIONS.c.id == id, CONVERSATIONS.c.state.in_(free))
            .values(state="running", updated=micros(self._clock.now()))
        )
        return await self._store.writing(lambda each: each.execute(taken).rowcount == 1)

    async def set_state(self, id: str, state: State) -> None:  # noqa: A002
        """Write down how it stands with one."""
        changed = (
            update(CONVERSATIONS)
            .filter_by(id=id)
            .values(state=state, updated=micros(self._clock.now()))
        )
        await self._store.writing(lambda each: each.execute(changed))

    async def interrupt(self) -> int:
        """After a start: what was running is not any more. How many there were."""
        changed = update(CONVERSATIONS).filter_by(state="running").values(state="interrupted")
        return await self._store.writing(lambda each: each.execute(changed).rowcount)

    async def add(self, id: str, *entries: Said) -> None:  # noqa: A002
        """Put entries behind the others, in one transaction."""
        contents = [(said.role, self._screen(_content(said))) for said in entries]
        now = micros(self._clock.now())

        def write(connection: Connection) -> None:
            for role, content in contents:
                append(connection, id, role, content, now)

        await self._store.writing(write)

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
