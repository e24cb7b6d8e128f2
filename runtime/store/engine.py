"""The one factory of engines.

Left to itself, ``sqlite3`` opens a transaction at the first write, and what was read before can
have changed by then. So every writing transaction begins with ``BEGIN IMMEDIATE``, and what it
reads is what it decides on. On PostgreSQL an advisory lock does the same, so that rows also become
visible in the order of their numbers.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Engine, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from runtime.store.errors import StoreUnreachable

#: Seconds that a transaction waits for another process's.
PATIENCE: Final = 5.0
#: The execution option by which a connection asks for a transaction that only reads.
READING: Final = "agentd_reading"
_WRITERS = 0x61676E7464  # any number, as long as it is everybody's


def engine_for(url: str) -> Engine:
    """An engine for a database.

    Args:
        url: ``sqlite:////path/of/file`` or ``postgresql://user@host/name``.

    Raises:
        StoreUnreachable: no such kind of database is known.
    """
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        raise StoreUnreachable(f"{error}", "write sqlite:////path or postgresql://…") from None
    match parsed.get_backend_name():
        case "sqlite":
            return _sqlite(parsed)
        case "postgresql":
            return _postgres(parsed)
        case other:
            raise StoreUnreachable(f"no store can be kept in {other}", "use SQLite or PostgreSQL")


def url_of(path: Path) -> str:
    """The URL of a file of SQLite's."""
    return URL.create("sqlite", database=str(path)).render_as_string(hide_password=False)


def _sqlite(url: URL) -> Engine:
    engine = create_engine(url, connect_args={"timeout": PATIENCE, "check_same_thread": False})
    event.listen(engine, "connect", _prepare)
    event.listen(engine, "begin", _begin)
    return engine


def _postgres(url: URL) -> Engine:
    engine = create_engine(url.set(drivername="postgresql+psycopg"), pool_pre_ping=True)
    event.listen(engine, "begin", _take_turns)
    return engine


def _take_turns(connection: Any) -> None:
    if not connection.get_execution_options().get(READING, False):
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_WRITERS})")


def _prepare(connection: sqlite3.Connection, record: Any) -> None:  # noqa: ARG001
    connection.isolation_level = None
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")


def _begin(connection: Any) -> None:
    reading = connection.get_execution_options().get(READING, False)
    connection.exec_driver_sql("BEGIN" if reading else "BEGIN IMMEDIATE")
