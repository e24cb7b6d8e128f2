"""A subject's own record of events, read without running anything of it: JSON lines, SQLite.

The file is a copy that the subject may have made to trip up whoever reads it. So lines are
parsed one by one, and a database is opened in memory: only the named table is read, no view,
trigger or function of its schema is run, and the work is bounded.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Final

from harness.oracles.sqlite_image import Unreadable, image

Event = Mapping[str, Any]

_STEPS: Final = 1000
_MOST_STEPS: Final = 50_000 * _STEPS
_LONGEST: Final = 4 << 20
#: Of all rows; pages that lead to the same page again and again make much of little.
_MOST_BYTES: Final = 64 << 20
_SCALAR: Final = 64
_ALLOWED: Final = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ})


@dataclass(frozen=True, slots=True)
class Record:
    """What was read.

    Attributes:
        events: in the order in which they stand.
        remarks: what else is to be said of it, such as a torn last line.
    """

    events: Sequence[Event]
    remarks: Sequence[str] = ()


def json_lines(data: bytes) -> Record:
    """The events of a file with a JSON map on each line; what is none is left out, and told."""
    lines = data.split(b"\n")
    last = len(lines) - 1
    events: list[Event] = []
    remarks: list[str] = []
    strange = 0
    for number, line in enumerate(lines):
        if not line.strip():
            continue
        event = _event(line)
        if event is not None:
            events.append(event)
        elif number == last:
            remarks.append("the last line is torn")
        else:
            strange += 1
    if strange:
        remarks.append(f"{strange} {'line is' if strange == 1 else 'lines are'} no JSON map")
    return Record(events, remarks)


def _event(line: bytes) -> Event | None:
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) else None


def table(name: str, database: bytes, log: bytes, journal: bytes) -> Record:
    """The rows of a table, each as a map of its columns.

    Raises:
        Unreadable: it is no database, has no such table, or takes too long to read.
    """
    content = image(database, log, journal)
    if not content:
        raise Unreadable("the database is empty")
    try:
        with closing(sqlite3.connect(":memory:")) as db:
            db.deserialize(content)
            return Record(_rows(db, name))
    except (sqlite3.Error, ValueError, OverflowError) as error:
        raise Unreadable(f"it cannot be read: {error}") from error


def _rows(db: sqlite3.Connection, name: str) -> Sequence[Event]:
    db.text_factory = lambda data: data.decode("utf-8", "replace")
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST)
    for pragma in ("trusted_schema = off", "query_only = on", "cell_size_check = on"):
        db.execute(f"pragma {pragma}")
    left = _MOST_STEPS // _STEPS

    def out_of_patience() -> bool:
        nonlocal left
        left -= 1
        return left < 0

    db.set_progress_handler(out_of_patience, _STEPS)
    found = db.execute(
        "select sql from sqlite_schema where type = 'table' and name = ? collate nocase", (name,)
    ).fetchone()
    if found is None:
        raise Unreadable(f"it has no table {name}")
    if not isinstance(found[0], str) or not found[0].lower().startswith("create table"):
        raise Unreadable(f"{name} is no plain table")
    columns = db.execute("select name, hidden from pragma_table_xinfo(?)", (name,)).fetchall()
    if any(hidden for _, hidden in columns):
        raise Unreadable(f"{name} has columns that are computed")
    db.set_authorizer(_only_reading)
    cursor = db.execute(f'select * from "{name}"')  # noqa: S608 - the schema allows plain names only
    names = [column for column, _ in columns]
    rows: list[Event] = []
    room = _MOST_BYTES
    for row in cursor:
        room -= sum(len(value) if isinstance(value, bytes | str) else _SCALAR for value in row)
        if room < 0:
            raise Unreadable(f"{name} holds more than {_MOST_BYTES >> 20} MiB")
        rows.append(dict(zip(names, row, strict=True)))
    return rows


def _only_reading(action: int, *_: object) -> int:
    return sqlite3.SQLITE_OK if action in _ALLOWED else sqlite3.SQLITE_DENY
