"""One store, on SQLite and on PostgreSQL: nothing is lost, and nothing decided on what is stale."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import func, insert, select, text, update

from runtime.store import migrate
from runtime.store.engine import url_of
from runtime.store.errors import StoreCorrupt, StoreLocked, StoreTooNew, StoreUnreachable
from runtime.store.store import HEAD, Store, open_store
from runtime.store.tables import EVENTS, HANDOFFS, METADATA

ROW = {
    "id": "h",
    "failure": "f",
    "why": "",
    "state": "open",
    "sinks": {},
    "delivered": True,
    "created": 0,
    "due": 0,
}


def test_the_migrations_make_the_tables_that_the_code_speaks_of(store: Store):
    with store.read() as connection:
        context = MigrationContext.configure(connection)
        assert compare_metadata(context, METADATA) == []


def test_the_newest_revision_is_the_one_that_is_looked_for():
    assert migrate.newest() == HEAD


def test_what_was_written_is_there_after_it_was_closed(url: str):
    first = open_store(url)
    with first.write() as connection:
        connection.execute(insert(HANDOFFS), [ROW])
    first.close()

    again = open_store(url)
    with again.read() as connection:
        found = connection.execute(select(HANDOFFS)).mappings().one()
        assert {name: found[name] for name in ROW} == ROW
    again.close()


def test_what_an_exception_ends_is_undone(store: Store):
    def fail() -> None:
        with store.write() as connection:
            connection.execute(insert(HANDOFFS), [ROW])
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()

    with store.read() as connection:
        assert connection.execute(select(func.count()).select_from(HANDOFFS)).scalar_one() == 0


def test_what_is_read_in_a_writing_transaction_still_holds_when_it_is_written(store: Store):
    """Eight that each read, and then add one: none of them overwrites another's."""
    with store.write() as connection:
        connection.execute(insert(HANDOFFS), [ROW])

    def add() -> None:
        for _ in range(10):
            with store.write() as connection:
                found = connection.execute(select(HANDOFFS.c.due)).scalar_one()
                connection.execute(update(HANDOFFS).values(due=found + 1))

    threads = [threading.Thread(target=add) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    with store.read() as connection:
        assert connection.execute(select(HANDOFFS.c.due)).scalar_one() == 80


def test_rows_become_visible_in_the_order_of_their_numbers(store: Store):
    """One that looks for what is behind the last that it saw misses none."""
    row = {"at": 0, "kind": "k", "conversation": None, "data": {}}
    done = threading.Event()
    seen: list[int] = []

    def look() -> None:
        while True:
            last = done.is_set()
            with store.read() as connection:
                query = select(EVENTS.c.id).where(EVENTS.c.id > (seen[-1] if seen else 0))
                found = list(connection.execute(query.order_by(EVENTS.c.id)).scalars())
            seen.extend(found)
            if last:
                return

    def add() -> None:
        for _ in range(25):
            with store.write() as connection:
                connection.execute(insert(EVENTS), [row])

    reader = threading.Thread(target=look)
    writers = [threading.Thread(target=add) for _ in range(4)]
    for thread in (reader, *writers):
        thread.start()
    for thread in writers:
        thread.join()
    done.set()
    reader.join()

    assert len(seen) == len(set(seen)) == 100


@pytest.mark.parametrize("content", [b"", b"not a database at all, but rather a text\n" * 200])
def test_a_file_that_is_no_database_stops_and_is_left_as_it_is(tmp_path: Path, content: bytes):
    path = tmp_path / "agentd.db"
    path.write_bytes(content)

    with pytest.raises(StoreCorrupt, match=r"nothing was changed"):
        open_store(url_of(path))

    assert path.read_bytes() == content
    assert [each.name for each in tmp_path.iterdir()] == ["agentd.db"]


def test_a_damaged_database_stops_and_is_left_as_it_is(tmp_path: Path):
    path = tmp_path / "agentd.db"
    opened = open_store(url_of(path))
    with opened.write() as connection:
        row = {"at": 0, "kind": "k", "conversation": None, "data": {"x": "y" * 5000}}
        connection.execute(insert(EVENTS), [row] * 50)
    opened.close()
    content = bytearray(path.read_bytes())
    content[len(content) // 2 :] = b"\xa5" * (len(content) - len(content) // 2)
    path.write_bytes(content)

    with pytest.raises(StoreCorrupt):
        open_store(url_of(path))

    assert path.read_bytes() == content


def test_a_database_that_is_held_stops_with_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("runtime.store.engine.PATIENCE", 0.1)
    path = tmp_path / "agentd.db"
    opened = open_store(url_of(path))
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    with pytest.raises(StoreLocked, match=str(path)), opened.write():
        pass

    other.close()
    opened.close()


def test_a_later_version_s_database_is_refused(url: str):
    opened = open_store(url)
    with opened.write() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    opened.close()

    with pytest.raises(StoreTooNew, match="revision 9999"):
        open_store(url)


@pytest.mark.parametrize(
    "url", ["mysql://x/y", "no url", "postgresql://nobody@/none?host=/nonexistent"]
)
def test_what_cannot_be_reached_is_said(url: str):
    with pytest.raises(StoreUnreachable):
        open_store(url)


def test_a_new_database_is_the_user_s_alone(tmp_path: Path):
    path = tmp_path / "agentd.db"

    open_store(url_of(path)).close()

    assert path.stat().st_mode & 0o077 == 0
    assert [each.name for each in tmp_path.iterdir()] == ["agentd.db"]
