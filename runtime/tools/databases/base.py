"""What a database can be asked, whichever it is."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, Protocol

#: Rows that are shown.
MOST: Final = 10_000
#: Where it is kept which migrations were applied.
APPLIED: Final = "schema_migrations"
MAKE_APPLIED: Final = (
    f"CREATE TABLE IF NOT EXISTS {APPLIED} (name TEXT PRIMARY KEY, digest TEXT NOT NULL)"
)


class DatabaseFailed(Exception):
    """What a database said instead of an answer."""


class Database(Protocol):
    """A connection."""

    def query(self, sql: str) -> Iterator[Sequence[Any]]:
        """The names of the columns, then the rows of one statement that reads."""

    def execute(self, sql: str) -> int:
        """Run one statement, and say how many rows it changed, -1 where that is not known."""

    def schema(self) -> Iterator[str]:
        """Lines that say what tables there are."""

    def applied(self) -> dict[str, str]:
        """The migrations that were applied, with the digest of each."""

    def apply(self, name: str, digest: str, sql: str) -> None:
        """Run a migration, all of it or none, and keep that it was."""

    def close(self) -> None:
        """End the connection."""


def lines(rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    """Rows as JSON, one a line; bytes as hexadecimal, what else JSON lacks as its text."""
    for row in rows:
        yield json.dumps([_plain(value) for value in row], ensure_ascii=False) + "\n"


def _plain(value: Any) -> Any:
    if isinstance(value, bytes | memoryview):
        return f"\\x{bytes(value).hex()}"
    if value is None or isinstance(value, bool | int | float | str | list | dict):
        return value
    return str(value)
