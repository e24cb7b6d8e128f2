"""What goes to a person: in the register, as a note on the result, as a card in the chat.

The hand-off itself is a row that is written first; each place it goes to is tried by itself, and
what did not take it is tried again at the next hand-off and at the next start. Evidence stays in
the failure's row. No transcript has it, and the model never sees it.
"""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import anyio.to_thread
from sqlalchemy import Connection, Row, func, insert, select, update

from runtime.clock import Clock, micros
from runtime.events import Events
from runtime.recovery.observe import Failed, RunScope, record
from runtime.settings import RecoverySettings
from runtime.store.store import Store
from runtime.store.tables import ATTEMPTS, CONVERSATIONS, FAILURES, HANDOFFS, MESSAGES, REGISTER

OWNER: Final = "supervisor"
#: How a person can answer, and the state that comes of it.
ANSWERS: Final[Mapping[str, str]] = {
    "approve": "approved",
    "reject": "rejected",
    "retry": "retrying",
}
#: A retry waits until the person's note is in the conversation, which then goes on.
RETRYING: Final = "retrying"
RETRIED: Final = "retried"
SILENT: Final = "silent"
LOST: Final = "agentd ended before it was mended; whether an attempt worked is not known"
_MENDED: Final = select(ATTEMPTS.c.failure).filter_by(outcome="ok")
_OWED: Final = (
    select(FAILURES.c.id, FAILURES.c.conversation, FAILURES.c["class"].label("cls"))
    .where(FAILURES.c.owed, FAILURES.c.id.not_in(select(HANDOFFS.c.failure)))
    .where(FAILURES.c.id.not_in(_MENDED))
    .order_by(FAILURES.c.at)
)


@dataclass(frozen=True, slots=True)
class Handoff:
    """A failure that a person was given."""

    id: str
    failure: str
    cls: str
    why: str

    @property
    def note(self) -> str:
        """What the model is told of it."""
        return f"This failure ({self.cls}) was handed to a person as {self.id}: {self.why}"


Sink = Callable[[Connection, Handoff, RunScope], None]


class Handoffs:
    """The hand-offs of a store.

    Attributes:
        sinks: the places that take them, by name; the note on the result is made by the caller.
    """

    def __init__(
        self,
        store: Store,
        clock: Clock,
        events: Events,
        settings: RecoverySettings,
        screen: Callable[[Any], Any],
    ) -> None:
        self._store = store
        self._clock = clock
        self._events = events
        self._settings = settings
        self._screen = screen
        self.sinks: Mapping[str, Sink] = {"register": self.to_register, "card": self.to_card}

    async def give(self, failed: Failed, scope: RunScope, why: str) -> Handoff:
        """Give a failure to a person; whatever the places say, it is written down."""
        cls = failed.classified.cls.value
        said = await anyio.to_thread.run_sync(self._screen, why)
        handoff = Handoff(new(), failed.id, cls, said)
        await self._store.writing(lambda each: self._write(each, handoff, failed, scope))
        await self.deliver()
        await self._tell(handoff, scope)
        return handoff

    async def give_lost(self) -> int:
        """After a start: what the last end left neither mended nor given. How many there were."""
        rows = await self._store.reading(lambda each: each.execute(_OWED).all())
        for row in rows:
            handoff, scope = Handoff(new(), row.id, row.cls, LOST), RunScope(row.conversation)
            await self._store.writing(partial(self._open, handoff=handoff, scope=scope))
            await self._tell(handoff, scope)
        return len(rows)

    async def _tell(self, handoff: Handoff, scope: RunScope) -> None:
        await self._events.emit(
            "handoff.given",
            scope.conversation,
            handoff=handoff.id,
            failure=handoff.failure,
            **{"class": handoff.cls},
            why=handoff.why,
        )

    async def deliver(self) -> None:
        """Bring every hand-off to the places that have not taken it yet."""
        for row in await self._store.reading(_undelivered):
            handoff = Handoff(row.id, row.failure, row.cls, row.why)
            scope = RunScope(row.conversation)
            taken = {name: await self._take(name, handoff, scope) for name in _left(row.sinks)}
            sinks = {**row.sinks, **taken}
            done = all(sinks.values())
            await self._store.writing(_state(handoff.id, sinks=sinks, delivered=done))

    async def answer(self, id: str, answer: str, note: str = "") -> str | None:  # noqa: A002
        """Take a person's answer; the state that came of it, or ``None`` where none was open."""
        await self.silence()
        state = ANSWERS[answer]
        now = micros(self._clock.now())
        values = {"state": state, "note": self._screen(note), "answered": now}
        if not await self._store.writing(_state(id, **values)):
            return None
        await self._events.emit("handoff.answered", handoff=id, state=state)
        return state

    async def conversation_of(self, id: str) -> str | None:  # noqa: A002
        """Where one was given; ``None`` where there is no such one."""
        query = select(HANDOFFS.c.conversation).filter_by(id=id)
        return await self._store.reading(lambda each: each.execute(query).scalar_one_or_none())

    async def silence(self) -> None:
        """Record as silence, which is a no, what nobody answered in time."""
        now = micros(self._clock.now())
        late = (
            update(HANDOFFS)
            .where(HANDOFFS.c.state == "open", HANDOFFS.c.due <= now)
            .values(state=SILENT, answered=now)
            .returning(HANDOFFS.c.id, HANDOFFS.c.conversation)
        )
        for row in await self._store.writing(lambda each: each.execute(late).all()):
            await self._events.emit(
                "handoff.answered", row.conversation, handoff=row.id, state=SILENT
            )

    async def open_in(self, conversation: str) -> list[Handoff]:
        """Those of a conversation that nobody has answered, silence among them."""
        query = (
            _joined()
            .where(HANDOFFS.c.conversation == conversation)
            .where(HANDOFFS.c.state.in_(["open", "rejected", SILENT]))
        )
        rows = await self._store.reading(lambda each: each.execute(query).all())
        return [Handoff(row.id, row.failure, row.cls, row.why) for row in rows]

    def to_register(self, connection: Connection, handoff: Handoff, scope: RunScope) -> None:
        """Enter it as an intent of the supervisor's, for every agent of the run to read."""
        row = {
            "kind": "intent",
            "scope_kind": "conversation",
            "scope": scope.conversation,
            "key": f"handoff/{handoff.id}",
            "value": {"class": handoff.cls, "why": handoff.why, "failure": handoff.failure},
            "owner": OWNER,
            "created": micros(self._clock.now()),
        }
        connection.execute(insert(REGISTER), [row])

    def to_card(self, connection: Connection, handoff: Handoff, scope: RunScope) -> None:
        """Put a card into the conversation, which people see and no model."""
        content = {
            "handoff": handoff.id,
            "class": handoff.cls,
            "why": handoff.why,
            "answers": sorted(ANSWERS),
        }
        append(connection, scope.conversation, "card", content, micros(self._clock.now()))

    async def _take(self, name: str, handoff: Handoff, scope: RunScope) -> bool:
        """Try one place; what it raises is its own business, and is told."""
        sink = self.sinks[name]
        try:
            await self._store.writing(lambda connection: sink(connection, handoff, scope))
        except Exception as error:  # noqa: BLE001 - no place may keep a hand-off from the others
            await self._events.emit(
                "handoff.refused", scope.conversation, handoff=handoff.id, sink=name, why=str(error)
            )
            return False
        return True

    def _write(
        self, connection: Connection, handoff: Handoff, failed: Failed, scope: RunScope
    ) -> None:
        if not connection.execute(select(FAILURES.c.id).filter_by(id=failed.id)).first():
            record(connection, failed, scope, self._clock, self._screen, owed=True)
        self._open(connection, handoff, scope)

    def _open(self, connection: Connection, handoff: Handoff, scope: RunScope) -> None:
        now = self._clock.now()
        due = now + datetime.timedelta(seconds=self._settings.answer_within)
        row = {
            "id": handoff.id,
            "failure": handoff.failure,
            "conversation": scope.conversation,
            "why": handoff.why,
            "state": "open",
            "sinks": dict.fromkeys(self.sinks, False),
            "delivered": False,
            "created": micros(now),
            "due": micros(due),
        }
        connection.execute(insert(HANDOFFS), [row])


def new() -> str:
    """An id for a hand-off."""
    return uuid.uuid4().hex[:12]


def append(
    connection: Connection, conversation: str, role: str, content: Mapping[str, Any], at: int
) -> int:
    """Put a message behind the others of a conversation; its position."""
    last = select(func.coalesce(func.max(MESSAGES.c.position), -1)).filter_by(
        conversation=conversation
    )
    position = int(connection.execute(last).scalar_one()) + 1
    row = {
        "conversation": conversation,
        "position": position,
        "role": role,
        "content": dict(content),
        "created": at,
    }
    connection.execute(insert(MESSAGES), [row])
    connection.execute(update(CONVERSATIONS).filter_by(id=conversation).values(updated=at))
    return position


def _joined() -> Any:
    columns = (HANDOFFS.c.id, HANDOFFS.c.failure, HANDOFFS.c.conversation, HANDOFFS.c.why)
    cls = FAILURES.c["class"].label("cls")
    failure = HANDOFFS.join(FAILURES, FAILURES.c.id == HANDOFFS.c.failure)
    return select(*columns, HANDOFFS.c.sinks, cls).select_from(failure)


def _undelivered(connection: Connection) -> list[Row[Any]]:
    late = _joined().where(HANDOFFS.c.delivered.is_(False)).order_by(HANDOFFS.c.created)
    return list(connection.execute(late).all())


def _left(sinks: Mapping[str, bool]) -> list[str]:
    return [name for name, taken in sinks.items() if not taken]


def _state(id: str, **values: Any) -> Callable[[Connection], bool]:  # noqa: A002
    changed = update(HANDOFFS).filter_by(id=id).values(**values)
    if "state" in values:
        changed = changed.where(HANDOFFS.c.state == "open")
    return lambda connection: connection.execute(changed).rowcount == 1
