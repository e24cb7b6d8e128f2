"""Files of SQLite's. No statement reaches another file, and what reads leaves nothing behind."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from runtime.tools.databases.base import APPLIED, MAKE_APPLIED, DatabaseFailed
from runtime.tools.paths import inside, reading

_STEPS: Final = 10_000
#: Bytes 18 and 19 of a file that is written by way of a log beside it.
_LOGGED: Final = b"\x02\x02"
_PATIENCE: Final = 5.0


class Sqlite:
    """A connection to a file.

    Args:
        workspace: where the file is.
        path: of the file; to be written, it is made if it is not there.
        writes: whether it may change.
        heed: called now and then; if it raises, the statement ends.
    """

    def __init__(self, workspace: Path, path: str, writes: bool, heed: Callable[[], None]) -> None:
        top = Path(os.path.realpath(workspace))
        file = top / inside(top, path)
        if writes and not file.exists():
            options = "mode=rwc"
        else:
            options = "mode=rw" if writes else _reading_options(workspace, path, file)
        with _said(path):
            self._connection = sqlite3.connect(
                f"file:{quote(os.fsencode(file))}?{options}",
                uri=True,
                isolation_level=None,
                timeout=_PATIENCE,
            )
            self._connection.execute(f"PRAGMA query_only = {'OFF' if writes else 'ON'}")
        self._connection.text_factory = lambda data: data.decode("utf-8", "surrogateescape")
        self._connection.set_authorizer(_allowed)
        self._connection.set_progress_handler(lambda: _ended(heed), _STEPS)

    def query(self, sql: str) -> Iterator[Sequence[Any]]:
        """The names of the columns, then the rows."""
        with _said():
            cursor = self._connection.execute(sql)
            yield [column[0] for column in cursor.description or ()]
            yield from cursor

    def execute(self, sql: str) -> int:
        """Run one statement."""
        with _said():
            return self._connection.execute(sql).rowcount

    def schema(self) -> Iterator[str]:
        """The statements that made what there is."""
        for (sql,) in self._rows(
            "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name"
        ):
            yield f"{sql};\n"

    def applied(self) -> dict[str, str]:
        """The migrations that were applied."""
        known = f"SELECT 1 FROM sqlite_master WHERE name = '{APPLIED}'"  # noqa: S608 - a constant
        if not self._rows(known):
            return {}
        return dict(self._rows(f"SELECT name, digest FROM {APPLIED}"))  # noqa: S608 - a constant

    def apply(self, name: str, digest: str, sql: str) -> None:
        """Run a migration in a transaction, which it cannot end itself."""
        with _said(name):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                self._connection.set_authorizer(_allowed_within)
                for statement in _statements(sql):
                    self._connection.execute(statement)
                self._connection.set_authorizer(_allowed)
                self._connection.execute(MAKE_APPLIED)
                row = (name, digest)
                self._connection.execute(f"INSERT INTO {APPLIED} VALUES (?, ?)", row)  # noqa: S608
                self._connection.execute("COMMIT")
            finally:
                self._connection.set_authorizer(_allowed)
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")

    def dump(self) -> Iterator[str]:
        """The whole of it as SQL."""
        with _said():
            for line in self._connection.iterdump():
                yield f"{line}\n"

    def close(self) -> None:
        """End the connection."""
        self._connection.close()

    def _rows(self, sql: str) -> list[Any]:
        with _said():
            return self._connection.execute(sql).fetchall()


def _reading_options(workspace: Path, path: str, file: Path) -> str:
    """How a file is opened so that none is made beside it, as SQLite does for its log."""
    with reading(workspace, path) as opened:
        opened.seek(18)
        logged = opened.read(2) == _LOGGED
    alone = not Path(f"{file}-wal").exists()
    return "mode=ro&immutable=1" if logged and alone else "mode=ro"


def _allowed(action: int, first: str | None, *_: object) -> int:
    """Everything but another file; an empty name is SQLite's own scratch."""
    if action == sqlite3.SQLITE_ATTACH and first:
        return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK


def _allowed_within(action: int, first: str | None, *more: object) -> int:
    if action in (sqlite3.SQLITE_TRANSACTION, sqlite3.SQLITE_ATTACH):
        return sqlite3.SQLITE_DENY
    return _allowed(action, first, *more)


def _ended(heed: Callable[[], None]) -> int:
    try:
        heed()
    except BaseException:  # noqa: BLE001 - SQLite is told, and whoever waits is gone
        return 1
    return 0


def _statements(script: str) -> Iterator[str]:
    """The statements of a script, one by one."""
    pending = ""
    for piece in script.split(";"):
        pending += piece
        if sqlite3.complete_statement(f"{pending};"):
            yield pending
            pending = ""
        else:
            pending += ";"
    if pending.strip(" \n\t\r;"):
        yield pending.removesuffix(";")


@contextmanager
def _said(name: str = "") -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, sqlite3.Warning) as error:
        raise DatabaseFailed(f"{name}: {error}" if name else str(error)) from None
