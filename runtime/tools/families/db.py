"""Databases: files of SQLite's in the workspace, and PostgreSQL by URL."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from typing import Any, Final

from anyio.from_thread import check_cancelled

from runtime.tools.base import Arguments, Context, Run, Schema, Tool, ToolResult
from runtime.tools.databases.base import MOST, Database, DatabaseFailed, lines
from runtime.tools.databases.migrations import pending
from runtime.tools.databases.pgdump import dumped
from runtime.tools.databases.postgres import Postgres
from runtime.tools.databases.sqlite import Sqlite
from runtime.tools.define import (
    LOCAL,
    PATH,
    arguments,
    on_thread,
    refused,
    says_failures,
    text,
)

FAMILY: Final = "db"


@contextmanager
def _connected(given: Arguments, context: Context, writes: bool) -> Iterator[Database]:
    database: Database
    if "url" in given:
        database = Postgres(given["url"], writes, context.settings.tools.seconds)
    else:
        database = Sqlite(context.workspace, given["path"], writes, check_cancelled)
    try:
        yield database
    finally:
        database.close()


def _working(work: Callable[[Arguments, Context, Database], ToolResult], writes: bool) -> Run:
    """A tool that works on a database, and fails with what that says."""

    def call(given: Arguments, context: Context) -> ToolResult:
        try:
            with _connected(given, context, writes) as database:
                return work(given, context, database)
        except DatabaseFailed as error:
            return refused(str(error))

    return on_thread(call)


def _query(given: Arguments, context: Context, database: Database) -> ToolResult:
    rows = lines(itertools.islice(database.query(given["sql"]), MOST + 2))
    return _up_to_cap(rows, context, MOST + 1)


def _execute(given: Arguments, context: Context, database: Database) -> ToolResult:  # noqa: ARG001
    count = database.execute(given["sql"])
    return ToolResult(f"{count} rows\n" if count >= 0 else "done\n")


def _schema(given: Arguments, context: Context, database: Database) -> ToolResult:  # noqa: ARG001
    return _up_to_cap(database.schema(), context)


def _plan(given: Arguments, context: Context, database: Database) -> ToolResult:
    found = pending(context.workspace, given["migrations"], database)
    return ToolResult("".join(f"{each.name}\n" for each in found))


def _apply(given: Arguments, context: Context, database: Database) -> ToolResult:
    said = ""
    for each in pending(context.workspace, given["migrations"], database):
        check_cancelled()
        try:
            database.apply(each.name, each.digest, each.sql)
        except DatabaseFailed as error:
            return ToolResult(said, f"{error}\n", 1)
        said += f"{each.name}\n"
    return ToolResult(said)


@on_thread
def _dump_file(given: Arguments, context: Context) -> ToolResult:
    try:
        with closing(Sqlite(context.workspace, given["path"], False, check_cancelled)) as database:
            return _up_to_cap(database.dump(), context)
    except DatabaseFailed as error:
        return refused(str(error))


@says_failures
async def dump(given: Arguments, context: Context) -> ToolResult:
    """SQL that makes the same database."""
    if "url" in given:
        return await dumped(given["url"], context)
    return await _dump_file(given, context)


def _up_to_cap(found: Iterable[str], context: Context, count: int | None = None) -> ToolResult:
    """Whole lines, as many as may be, and no more than the cap has room for."""
    kept: list[str] = []
    room = context.settings.tools.output
    for line in found:
        check_cancelled()
        room -= len(line)
        if room < 0 or len(kept) == count:
            return ToolResult("".join(kept), truncated=True)
        kept.append(line)
    return ToolResult("".join(kept))


def _of_database(*required: str, **more: Schema) -> Schema:
    """Arguments with a database: a file, or a URL."""
    path = {**PATH, "description": "of an SQLite file in the workspace"}
    url = text("of a PostgreSQL database", pattern=r"^postgres(ql)?://[^\x00]*$(?![\s\S])")
    schema = arguments(*required, path=path, url=url, **more)
    return {**schema, "oneOf": [{"required": ["path"]}, {"required": ["url"]}]}


def _tool(name: str, summary: str, schema: Schema, run: Run, **marks: Any) -> Tool:
    return Tool(name, FAMILY, summary, schema, run, price=LOCAL, **marks)


_READS: Final = {"read_only": True, "idempotent": True}
_SQL: Final = text("one statement", pattern=r"^[^\x00]+$(?![\s\S])")
_MIGRATIONS: Final = {**PATH, "description": "a folder of .sql files, applied by their names"}

TOOLS: Final = (
    _tool(
        "sql_query",
        "Ask a database; the columns and each row are a line of JSON.",
        _of_database("sql", sql=_SQL),
        _working(_query, writes=False),
        **_READS,
    ),
    _tool(
        "sql_exec",
        "Change a database by one statement.",
        _of_database("sql", sql=_SQL),
        _working(_execute, writes=True),
    ),
    _tool(
        "schema",
        "Say what tables a database has.",
        _of_database(),
        _working(_schema, writes=False),
        **_READS,
    ),
    _tool(
        "migrate_plan",
        "List the migrations that a database lacks.",
        _of_database("migrations", migrations=_MIGRATIONS),
        _working(_plan, writes=False),
        **_READS,
    ),
    _tool(
        "migrate_apply",
        "Apply the migrations that a database lacks, each in a transaction.",
        _of_database("migrations", migrations=_MIGRATIONS),
        _working(_apply, writes=True),
        idempotent=True,
    ),
    _tool("dump", "Print a database as SQL.", _of_database(), dump, **_READS),
)
