"""PostgreSQL by URL. What reads runs as a cursor in a transaction that can only read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from runtime.tools.databases.base import APPLIED, MAKE_APPLIED, DatabaseFailed

#: Seconds until a connection is there.
_PATIENCE: Final = 10
_COLUMNS: Final = (
    "SELECT table_schema, table_name, column_name, data_type, is_nullable "
    "FROM information_schema.columns "
    "WHERE table_schema NOT IN ('pg_catalog', 'information_schema') "
    "ORDER BY table_schema, table_name, ordinal_position"
)
_EXTRA: Final = "psycopg is not installed: install shakeout[postgres]"


class Postgres:
    """A connection to a server.

    Args:
        url: ``postgresql://…``.
        writes: whether anything may change.
        seconds: how long a statement may take.
    """

    def __init__(self, url: str, writes: bool, seconds: float) -> None:
        try:
            import psycopg  # noqa: PLC0415 - an extra
        except ImportError:
            raise DatabaseFailed(_EXTRA) from None
        self._failed = psycopg.Error
        with self._said():
            self._connection = psycopg.connect(url, connect_timeout=_PATIENCE)
            self._connection.read_only = not writes
            limit = f"SET statement_timeout = {int(seconds * 1000)}"
            self._connection.execute(limit.encode())
            self._connection.commit()

    def query(self, sql: str) -> Iterator[Sequence[Any]]:
        """The names of the columns, then the rows; a cursor takes one statement that reads."""
        with self._said(), self._connection.cursor(name="asked") as cursor:
            cursor.execute(sql.encode())
            yield [column.name for column in cursor.description or ()]
            yield from cursor

    def execute(self, sql: str) -> int:
        """Run one statement, and commit it."""
        with self._said(), self._connection.cursor() as cursor:
            # Prepared, a text of several statements is refused.
            count = cursor.execute(sql.encode(), prepare=True).rowcount
            self._connection.commit()
            return count

    def schema(self) -> Iterator[str]:
        """The columns of every table."""
        for schema, table, column, kind, null in self._rows(_COLUMNS):
            yield f"{schema}.{table}.{column} {kind}{'' if null == 'YES' else ' NOT NULL'}\n"

    def applied(self) -> dict[str, str]:
        """The migrations that were applied."""
        if self._rows(f"SELECT to_regclass('{APPLIED}')") == [(None,)]:
            return {}
        return dict(self._rows(f"SELECT name, digest FROM {APPLIED}"))  # noqa: S608 - a constant

    def apply(self, name: str, digest: str, sql: str) -> None:
        """Run a migration in a transaction, which it may not end itself."""
        with self._said(name):
            try:
                self._connection.rollback()
                self._connection.execute(MAKE_APPLIED)
                self._connection.execute(sql.encode())
                if self._connection.info.transaction_status.name != "INTRANS":
                    raise DatabaseFailed(f"{name}: it ends its transaction itself")
                insert = f"INSERT INTO {APPLIED} VALUES (%s, %s)"  # noqa: S608 - a constant
                self._connection.execute(insert.encode(), (name, digest))
                self._connection.commit()
            finally:
                self._connection.rollback()

    def close(self) -> None:
        """End the connection."""
        self._connection.close()

    def _rows(self, sql: str) -> list[Any]:
        with self._said():
            return self._connection.execute(sql.encode()).fetchall()

    @contextmanager
    def _said(self, name: str = "") -> Iterator[None]:
        try:
            yield
        except self._failed as error:
            said = str(error).strip()
            raise DatabaseFailed(f"{name}: {said}" if name else said) from None
