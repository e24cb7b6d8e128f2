"""Databases are asked without being written, and changed by one statement or one migration."""

from __future__ import annotations

import json
import shutil
import sqlite3
import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from runtime.settings import Settings, ToolSettings
from runtime.tools.base import Context
from tests.postgres import Server
from tests.unit.runtime.tools.calls import Call, caller, snapshot

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, workspace: Path) -> Iterator[dict[str, str]]:
    """A database with a table, as the arguments that name it."""
    if request.param == "sqlite":
        connection = sqlite3.connect(workspace / "data #1.db")
        connection.executescript(
            "CREATE TABLE x (a INTEGER, b TEXT); INSERT INTO x VALUES (1, 'q')"
        )
        connection.close()
        yield {"path": "data #1.db"}
        return
    import psycopg

    server: Server = request.getfixturevalue("postgres")
    url = server.database(f"t{uuid.uuid4().hex}")
    with psycopg.connect(url) as connected:
        connected.execute("CREATE TABLE x (a INTEGER, b TEXT)")
        connected.execute("INSERT INTO x VALUES (1, 'q')")
    yield {"url": url}


async def rows(call: Call, database: dict[str, str], sql: str = "SELECT a, b FROM x") -> Any:
    result = await call("sql_query", sql=sql, **database)
    assert result.ok, result.error
    return [json.loads(line) for line in result.output.splitlines()]


async def test_rows_come_with_their_columns(call: Call, database: dict[str, str]):
    assert await rows(call, database) == [["a", "b"], [1, "q"]]
    odd = "SELECT NULL AS n, CAST(1.5 AS DOUBLE PRECISION) AS f"
    assert await rows(call, database, odd) == [["n", "f"], [None, 1.5]]


WRITES = [
    "INSERT INTO x VALUES (2, 'r')",
    "DELETE FROM x",
    "DROP TABLE x",
    "CREATE TABLE y (a INTEGER)",
    "SELECT 1; DROP TABLE x",
    "COMMIT; DROP TABLE x",
    "SELECT 1; COMMIT; DROP TABLE x",
    "WITH y AS (SELECT 1) DELETE FROM x",
    "PRAGMA query_only = OFF; DELETE FROM x",
    "SET TRANSACTION READ WRITE",
    "COPY x TO PROGRAM 'cat > /tmp/out'",
    "ATTACH '{top}/other.db' AS other",
    "VACUUM INTO '{top}/other.db'",
]


@pytest.mark.parametrize("sql", WRITES)
async def test_a_question_changes_nothing(
    call: Call, database: dict[str, str], workspace: Path, sql: str
):
    before = snapshot(workspace.parent)

    result = await call("sql_query", sql=sql.format(top=workspace), **database)

    assert not result.ok
    assert result.error
    assert await rows(call, database) == [["a", "b"], [1, "q"]]
    assert snapshot(workspace.parent) == before


async def test_a_statement_changes_what_it_says_and_is_one(call: Call, database: dict[str, str]):
    done = await call("sql_exec", sql="UPDATE x SET b = 's'", **database)
    two = await call("sql_exec", sql="DELETE FROM x; DELETE FROM x", **database)
    wrong = await call("sql_exec", sql="DELETE FROM nowhere", **database)

    assert done.output == "1 rows\n"
    assert not two.ok
    assert "nowhere" in wrong.error
    assert await rows(call, database) == [["a", "b"], [1, "s"]]


async def test_a_schema_names_the_columns(call: Call, database: dict[str, str]):
    result = await call("schema", **database)

    assert result.ok
    assert "INTEGER" in result.output.upper()


async def test_migrations_are_applied_once_and_whole(
    call: Call, database: dict[str, str], workspace: Path
):
    folder = workspace / "migrations"
    folder.mkdir()
    (folder / "1.sql").write_text("CREATE TABLE m (a TEXT); INSERT INTO m VALUES (';');\n-- end\n")
    (folder / "2.sql").write_text("INSERT INTO m VALUES ('2'); INSERT INTO nowhere VALUES (1);")
    (folder / "notes.txt").write_text("none")
    where = {**database, "migrations": "migrations"}

    plan = await call("migrate_plan", **where)
    broken = await call("migrate_apply", **where)
    half = await rows(call, database, "SELECT a FROM m")
    (folder / "2.sql").write_text("INSERT INTO m VALUES ('2');")
    mended = await call("migrate_apply", **where)
    again = await call("migrate_apply", **where)
    (folder / "3.sql").write_text("INSERT INTO m VALUES ('3'); COMMIT; DROP TABLE x")
    ends = await call("migrate_apply", **where)
    (folder / "1.sql").write_text("changed")
    changed = await call("migrate_plan", **where)

    assert plan.output == "1.sql\n2.sql\n"
    assert (broken.output, broken.exit_code) == ("1.sql\n", 1)
    assert "nowhere" in broken.error
    assert half == [["a"], [";"]]
    assert (mended.output, again.output) == ("2.sql\n", "")
    assert not ends.ok
    assert "1.sql was applied, and has changed since" in changed.error


async def test_a_dump_is_sql(call: Call, database: dict[str, str], context: Context):
    if "url" in database and not shutil.which("pg_dump"):
        pytest.skip("no pg_dump is installed")
    result = await call("dump", **database)

    assert "CREATE TABLE" in result.output
    if "url" in database:
        bare = replace(context, environment={"PATH": "/nowhere"})
        missing = await caller(bare)("dump", **database)
        assert (missing.exit_code, missing.data["program"]) == (127, "pg_dump")


@pytest.mark.parametrize("name", ["sql_query", "sql_exec", "schema", "dump"])
@pytest.mark.parametrize("path", ["../other.db", "out", "data.csv", "a", "pipe", "missing/x.db"])
async def test_what_is_no_database_of_the_workspace_s_is_refused(
    call: Call, workspace: Path, name: str, path: str
):
    before = snapshot(workspace.parent)
    more = {"sql": "SELECT * FROM sqlite_master"} if name.startswith("sql") else {}

    result = await call(name, path=path, **more)

    assert result.exit_code == 1
    assert result.error
    assert snapshot(workspace.parent) == before


async def test_a_file_with_a_log_is_read_and_nothing_is_left_beside_it(call: Call, workspace: Path):
    connection = sqlite3.connect(workspace / "wal.db")
    connection.executescript(
        "PRAGMA journal_mode = WAL; CREATE TABLE x (a); INSERT INTO x VALUES (1)"
    )
    live = await rows(call, {"path": "wal.db"}, "SELECT a FROM x")
    connection.close()
    before = snapshot(workspace)

    assert await rows(call, {"path": "wal.db"}, "SELECT a FROM x") == live == [["a"], [1]]
    assert snapshot(workspace) == before


async def test_a_question_that_takes_for_ever_is_ended(context: Context, workspace: Path):
    sqlite3.connect(workspace / "x.db").close()
    (workspace / "x.db").touch()
    short = replace(context, settings=Settings(tools=ToolSettings(seconds=0.5)))
    sql = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"

    result = await caller(short)("sql_query", path="x.db", sql=sql)

    assert result.exit_code == 124


async def test_values_that_json_lacks_are_shown(call: Call, workspace: Path):
    sqlite3.connect(workspace / "x.db").close()

    found = await call("sql_exec", path="x.db", sql="CREATE TABLE x (a)")
    blob = await rows(call, {"path": "x.db"}, "SELECT x'ff00' AS b, CAST(x'ff' AS TEXT) AS t")

    assert found.ok
    assert blob == [["b", "t"], ["\\xff00", "\udcff"]]


@pytest.mark.parametrize(
    "arguments",
    [
        {"sql": "SELECT 1"},
        {"sql": "SELECT 1", "path": "x.db", "url": "postgresql://h/d"},
        {"sql": "SELECT 1", "url": "mysql://h/d"},
        {"sql": "SELECT 1\0", "path": "x.db"},
    ],
)
async def test_one_database_is_named(call: Call, arguments: dict[str, str]):
    assert (await call("sql_query", **arguments)).exit_code == 2


async def test_a_server_that_is_not_there_is_said_to_be_so(call: Call, tmp_path: Path):
    url = f"postgresql://u:pw@/d?host={tmp_path}"

    result = await call("sql_query", url=url, sql="SELECT 1")
    odd = await call("dump", url="postgresql://h/d?service=x")

    assert result.exit_code == 1
    assert "connection" in result.error
    assert "leave it out of the URL" in odd.error
