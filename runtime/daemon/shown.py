"""How the API shows what the store has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

from sqlalchemy import Connection, select

from runtime.agent.conversations import Conversation
from runtime.clock import moment
from runtime.events import Event
from runtime.store.tables import FAILURES, HANDOFFS
from runtime.tools.base import Tool

#: Entries of a list, the latest first.
MOST: Final = 500
_MOMENTS: Final = frozenset({"at", "created", "updated", "due", "answered"})


def entry(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row, with its moments as people write them."""
    return {
        name: moment(value).isoformat() if name in _MOMENTS and value is not None else value
        for name, value in row.items()
    }


def event(each: Event) -> dict[str, Any]:
    """An event."""
    return entry(asdict(each))


def conversation(each: Conversation) -> dict[str, Any]:
    """A conversation without its messages."""
    return entry(asdict(each))


def handoffs(connection: Connection) -> list[dict[str, Any]]:
    """What people were given, each with the failure that it is about."""
    failure = (FAILURES.c["class"], FAILURES.c.tool, FAILURES.c.evidence)
    query = (
        select(HANDOFFS, *failure)
        .select_from(HANDOFFS.join(FAILURES, FAILURES.c.id == HANDOFFS.c.failure))
        .order_by(HANDOFFS.c.created.desc())
        .limit(MOST)
    )
    return [entry(dict(row)) for row in connection.execute(query).mappings()]


def failures(connection: Connection) -> list[dict[str, Any]]:
    """What went wrong, and what it was taken for."""
    query = select(FAILURES).order_by(FAILURES.c.at.desc()).limit(MOST)
    return [entry(dict(row)) for row in connection.execute(query).mappings()]


def tool(each: Tool, disabled: frozenset[str]) -> dict[str, Any]:
    """A tool, without what does its work."""
    return {
        "name": each.name,
        "family": each.family,
        "summary": each.summary,
        "schema": dict(each.schema),
        "read_only": each.read_only,
        "idempotent": each.idempotent,
        "price": None if each.price is None else str(each.price),
        "offered": each.name not in disabled,
    }
