"""A store that is open: transactions, on the caller's thread or beside an event loop."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, TypeVar

import anyio.to_thread
from anyio import CapacityLimiter
from sqlalchemy import Connection, Engine, inspect, text
from sqlalchemy.exc import DatabaseError, OperationalError

from runtime.store.engine import READING, engine_for, url_of
from runtime.store.errors import StoreCorrupt, StoreLocked, StoreTooNew, StoreUnreachable
from runtime.store.together import Together

T = TypeVar("T")

#: The newest revision of the tables.
HEAD: Final = "0001"
_READERS = 4
_LOCKED = frozenset({"SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_PROTOCOL"})
_BROKEN = frozenset({"SQLITE_CORRUPT", "SQLITE_NOTADB"})


class Store:
    """The tables, and the transactions on them.

    Every writing transaction sees nothing but its own changes until it is committed, which is
    when it is on disk.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        # SQLite has one writer at a time; who waits here waits in order, and for as long as it takes.
        self._together = Together(self.write)
        self._readers = CapacityLimiter(_READERS)

    @contextlib.contextmanager
    def write(self) -> Iterator[Connection]:
        """One transaction; committed at the end, undone by an exception.

        Raises:
            StoreLocked: another process held the database for too long.
            StoreCorrupt: the file is damaged.
        """
        with named(self.engine), self.engine.begin() as connection:
            yield connection

    @contextlib.contextmanager
    def read(self) -> Iterator[Connection]:
        """One transaction that changes nothing, and waits for nobody."""
        with named(self.engine), self.engine.connect() as connection:
            yield connection.execution_options(**{READING: True})

    async def writing(self, work: Callable[[Connection], T]) -> T:
        """The same, on a thread: the event loop goes on.

        What is waiting is committed together, so that a work may be called again after it was
        undone: it does nothing but read and write rows.
        """
        return await self._together.carry_out(work)

    async def reading(self, work: Callable[[Connection], T]) -> T:
        """The same, on a thread, for what only reads."""

        def transaction() -> T:
            with self.read() as connection:
                return work(connection)

        return await anyio.to_thread.run_sync(transaction, limiter=self._readers)

    def close(self) -> None:
        """Give the connections back."""
        self.engine.dispose()


def open_store(url: str) -> Store:
    """The store at a URL, its tables made or brought up to date.

    Raises:
        StoreCorrupt: the file is no database of ours; it is left as it is.
        StoreLocked: somebody holds it.
        StoreTooNew: a later agentd wrote it.
        StoreUnreachable: it does not let us in.
    """
    engine = engine_for(url)
    if engine.dialect.name == "sqlite" and engine.url.database:
        _make(Path(engine.url.database))
    try:
        with named(engine):
            _check(engine)
            _bring_up(engine)
    except BaseException:
        engine.dispose()
        raise
    return Store(engine)


@contextlib.contextmanager
def named(engine: Engine) -> Iterator[None]:
    """Raise what a driver says as what a person can act on."""
    try:
        yield
    except DatabaseError as error:
        where = engine.url.render_as_string(hide_password=True)
        name = getattr(error.orig, "sqlite_errorname", "")
        if any(name.startswith(each) for each in _BROKEN):
            raise StoreCorrupt(
                f"the database {where} is damaged or none: {error.orig}",
                "nothing was changed; move it away, or put a copy of it back",
            ) from error
        if any(name.startswith(each) for each in _LOCKED):
            raise StoreLocked(
                f"the database {where} is held by another process: {error.orig}",
                "end that process, or try again",
            ) from error
        if isinstance(error, OperationalError):
            raise StoreUnreachable(f"the database {where}: {error.orig}", "") from error
        raise


def _make(path: Path) -> None:
    """Make the file with its tables in it, in one step; an empty one is never taken for ours."""
    try:
        empty = path.stat().st_size == 0
    except FileNotFoundError:
        pass
    else:
        if empty:
            raise StoreCorrupt(
                f"the database {path} is an empty file",
                "nothing was changed; put a copy of it back, or remove it to begin anew",
            )
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f"{path.name}.{os.getpid()}")
    engine = engine_for(url_of(fresh))
    try:
        with named(engine):
            _bring_up(engine)
            with contextlib.closing(engine.raw_connection()) as connection:
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        engine.dispose()
        fresh.chmod(0o600)
        with contextlib.suppress(FileExistsError):
            path.hardlink_to(fresh)
    finally:
        for suffix in ("", "-wal", "-shm"):
            fresh.with_name(fresh.name + suffix).unlink(missing_ok=True)


def _check(engine: Engine) -> None:
    """Look whether the file is whole."""
    if engine.dialect.name != "sqlite":
        return
    with engine.connect() as connection:
        found = connection.execution_options(**{READING: True}).execute(text("PRAGMA quick_check"))
        if (said := found.scalar_one()) != "ok":
            raise sqlite_corrupt(str(said))


def sqlite_corrupt(said: str) -> DatabaseError:
    """What a check found, as the error that a driver would have raised."""
    error = sqlite3.DatabaseError(said)
    error.sqlite_errorname = "SQLITE_CORRUPT"
    return DatabaseError("PRAGMA quick_check", None, error)


def _bring_up(engine: Engine) -> None:
    """Bring the tables to the newest revision."""
    if (found := _revision(engine)) == HEAD:
        return
    from runtime.store.migrate import known, upgrade  # noqa: PLC0415 - alembic takes half a second

    if found is not None and not known(found):
        raise StoreTooNew(
            f"the database {engine.url.render_as_string()} has the tables of revision {found}",
            "use the version of agentd that wrote it, or a later one",
        )
    upgrade(engine)


def _revision(engine: Engine) -> str | None:
    with engine.connect() as connection:
        if not inspect(connection).has_table("alembic_version"):
            return None
        query = text("SELECT version_num FROM alembic_version")
        return connection.execute(query).scalar_one_or_none()
