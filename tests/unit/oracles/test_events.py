"""The subject's own record, and what was seen beside it."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.evidence.model import Evidence
from harness.oracles.records import json_lines, table
from harness.oracles.registry import ORACLES
from harness.oracles.sqlite_image import Unreadable, image
from sandboxes.base import Root
from tests.unit.oracles.making import judge, ran, request, state, verdict

LINES = (
    b'{"kind": "reserve", "usd": 0.5, "who": {"name": "a"}}\n'
    b"\n"
    b'{"kind": "settle", "usd": 0.5, "ok": true}\n'
    b'{"kind": "reserve", "usd": 1, "ok": 1}\n'
)
ASKED = {"requests": {"service": "up", "exactly": 2}}
UP = [request("up", seq=1), request("up", seq=2)]


def holding(files: Mapping[str, bytes | None], **facts: object) -> Evidence:
    paths = {
        (Root.WORKSPACE, name): None if data is None else state() for name, data in files.items()
    }
    contents = {(Root.WORKSPACE, name): data for name, data in files.items() if data is not None}
    return ran(paths=paths, contents=contents, **{"requests": UP, **facts})


def asked(**written: object) -> dict[str, object]:
    return {"file": "log", "beside": ASKED, **written}


FOUND = [
    (asked(exactly=3), "passed"),
    (asked(where={"kind": "reserve"}, exactly=2), "passed"),
    (asked(where={"kind": "^s"}, exactly=1), "passed"),
    (asked(where={"usd": 1}, exactly=1), "passed"),
    (asked(where={"ok": True}, exactly=1), "passed"),
    (asked(where={"who.name": "a"}, exactly=1), "passed"),
    (asked(where={"missing": None}, exactly=0), "passed"),
    (asked(where={"usd": "1"}, exactly=0), "passed"),
    (asked(where={"kind": "reserve"}, at_most=1), "failed"),
    (asked(exactly=3, beside={"requests": {"service": "up", "exactly": 3}}), "failed"),
    (asked(exactly=3, beside={"network": {"beyond_services": 0}}), "unavailable"),
    (asked(exactly=4, beside={"network": {"beyond_services": 0}}), "failed"),
]


@pytest.mark.parametrize(("written", "found"), FOUND, ids=str)
def test_both_must_hold(written, found):
    assert verdict("events", written, holding({"log": LINES})) == found


def test_it_says_which_of_the_two_broke():
    evidence = holding({"log": LINES})

    assert judge("events", asked(exactly=1), evidence).seen.startswith("the record breaks it: 3")
    outside = asked(exactly=3, beside={"requests": {"service": "up", "exactly": 9}})
    assert "yet outside: 2" in judge("events", outside, evidence).seen


@pytest.mark.parametrize(
    ("files", "bound", "found"),
    [
        ({"log": None}, {"at_least": 1}, "failed"),
        ({"log": None}, {"exactly": 0}, "unavailable"),
        ({}, {"exactly": 0}, "unavailable"),
        ({"log": b""}, {"exactly": 0}, "passed"),
        ({"log": b'{"torn'}, {"exactly": 0}, "unavailable"),
        ({"log": LINES + b'{"kind": "res'}, {"exactly": 3}, "passed"),
    ],
)
def test_a_record_that_is_not_there_holds_nothing_and_proves_nothing(files, bound, found):
    assert verdict("events", asked(**bound), holding(files)) == found


def test_what_was_not_kept_cannot_be_judged_and_outside_still_can():
    evidence = ran(paths={(Root.WORKSPACE, "log"): state()}, requests=UP)

    assert verdict("events", asked(exactly=3), evidence) == "unavailable"
    beside = {"requests": {"service": "up", "at_most": 1}}
    assert verdict("events", asked(exactly=3, beside=beside), evidence) == "failed"


def test_a_second_witness_is_one_from_outside():
    beside = ORACLES["events"].schema["properties"]["beside"]

    assert "events" in ORACLES
    outside = {"requests", "escalations", "attempts", "order", "spend", "network"}
    assert set(beside["properties"]) == outside
    assert "beside" in ORACLES["events"].schema["required"]


@pytest.mark.parametrize(
    ("bound", "beside", "final"),
    [
        ({"at_most": 3}, {"requests": {"at_most": 1}}, True),
        ({"at_most": 3}, {"requests": {"exactly": 1}}, False),
        ({"exactly": 3}, {"requests": {"at_most": 1}}, False),
    ],
)
def test_it_is_final_where_both_are(bound, beside, final):
    oracle = ORACLES["events"]

    assert oracle.final(oracle.parse({"file": "log", "beside": beside, **bound})) is final


def test_strange_lines_are_told_and_do_not_count():
    deep = b"[" * 100_000
    record = json_lines(b'1\n{"a": 1}\n\xff\xfe\n' + deep + b'\n{"a":' + b"9" * 5000 + b'}\n{"b"')

    assert list(record.events) == [{"a": 1}]
    assert record.remarks == ["the last line is torn", "4 lines are no JSON map"]


@given(st.lists(st.dictionaries(st.text(), st.none() | st.integers() | st.text())), st.data())
def test_a_cut_record_is_its_beginning(events, data):
    whole = b"".join(json.dumps(event).encode() + b"\n" for event in events)
    cut = data.draw(st.integers(0, len(whole)))
    record = json_lines(whole[:cut])

    complete = whole[:cut].count(b"\n")
    assert list(record.events[:complete]) == events[:complete]
    assert len(record.events) <= complete + 1


# -- databases


def files_of(path: Path) -> tuple[bytes, bytes, bytes]:
    found = [path.with_name(path.name + end) for end in ("", "-wal", "-journal")]
    one, two, three = (file.read_bytes() if file.exists() else b"" for file in found)
    return one, two, three


def rows(files: tuple[bytes, bytes, bytes], name: str = "t") -> list[dict[str, object]]:
    return [dict(event) for event in table(name, *files).events]


def test_the_rows_of_a_table_are_events(tmp_path: Path):
    path = tmp_path / "db"
    with sqlite3.connect(path) as db:
        db.execute("create table t (kind text, usd real, raw blob)")
        db.execute("insert into t values ('a', 0.5, x'00ff')")
    files = files_of(path)
    db.close()

    assert rows(files) == [{"kind": "a", "usd": 0.5, "raw": b"\0\xff"}]
    evidence = holding({"db": files[0]})
    written = {"file": "db", "table": "t", "where": {"kind": "a"}, "exactly": 1, "beside": ASKED}
    assert verdict("events", written, evidence) == "passed"
    assert (Root.WORKSPACE, "db-wal") in ORACLES["events"].wants(ORACLES["events"].parse(written))


def opened(path: Path, mode: str) -> sqlite3.Connection:
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("pragma cache_size = 1")  # so that pages reach the disk before their commit
    db.execute(f"pragma journal_mode = {mode}")
    db.execute("create table t (n integer, pad blob)")
    return db


steps = st.lists(st.tuples(st.integers(0, 30), st.sampled_from(["commit", "rollback"])), max_size=6)


@pytest.mark.parametrize("mode", ["wal", "delete", "persist", "truncate"])
@settings(max_examples=15, deadline=None)
@given(done=steps, undone=st.integers(0, 30))
def test_what_was_committed_is_found_and_what_was_not_is_not(mode, done, undone, tmp_path_factory):
    path = tmp_path_factory.mktemp("db") / "db"
    db = opened(path, mode)
    number = 0
    for count, how in done:
        db.execute("begin")
        for _ in range(count):
            number += 1
            db.execute("insert into t values (?, randomblob(900))", (number,))
        db.execute("update t set n = -n where n % 3 = 1")
        db.execute(how)
    wanted = [row[0] for row in db.execute("select n from t")]
    db.execute("begin")
    for _ in range(undone):
        db.execute("insert into t values (0, randomblob(900))")
    db.execute("update t set n = 0, pad = randomblob(1200)")
    files = files_of(path)  # as a kill would leave them
    db.close()

    assert [row["n"] for row in rows(files)] == wanted


def test_what_is_left_after_a_commit_is_really_looked_at(tmp_path: Path):
    db = opened(tmp_path / "wal", "wal")
    db.execute("insert into t values (1, null)")
    database, log, _ = files_of(tmp_path / "wal")
    db.close()
    hot = opened(tmp_path / "hot", "delete")
    hot.execute("begin")
    hot.executemany("insert into t values (?, randomblob(900))", [(n,) for n in range(50)])
    half, _, journal = files_of(tmp_path / "hot")
    hot.close()

    assert [row["n"] for row in rows((database, log, b""))] == [1]
    assert log
    assert journal
    assert image(half, b"", journal) != image(half, b"", b"")


HOSTILE = {
    "a view": "create table x (a); create view t as select random() as a",
    "a virtual table": "create virtual table t using fts5(a)",
    "another table": "create table u (a)",
    "a function in a column": "create table t (a, b as (upper(a))); insert into t (a) values (1)",
    "a function that is stored": "create table t (a, b as (upper(a)) stored)",
}


@pytest.mark.parametrize("sql", HOSTILE.values(), ids=HOSTILE)
def test_nothing_of_the_subject_is_run(tmp_path: Path, sql: str):
    with sqlite3.connect(tmp_path / "db") as db:
        db.executescript(sql)
    db.close()

    with pytest.raises(Unreadable):
        table("t", *files_of(tmp_path / "db"))


def test_a_trigger_is_no_obstacle_and_no_help(tmp_path: Path):
    with sqlite3.connect(tmp_path / "db") as db:
        db.executescript(
            "create table t (a); create trigger r after insert on t begin delete from t; end;"
        )
        db.execute("drop trigger r")
        db.execute("insert into t values (7)")
    db.close()

    assert rows(files_of(tmp_path / "db")) == [{"a": 7}]


def test_a_table_without_an_end_is_given_up(tmp_path: Path, monkeypatch):
    monkeypatch.setattr("harness.oracles.records._MOST_STEPS", 10_000)
    with sqlite3.connect(tmp_path / "db") as db:
        db.execute("create table t (a)")
        db.executemany("insert into t values (?)", [(n,) for n in range(50_000)])
    db.close()

    with pytest.raises(Unreadable, match="interrupted"):
        table("t", *files_of(tmp_path / "db"))


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_damage_is_unreadable_or_read_and_never_a_crash(data, database_in_pieces):
    files = []
    for piece in database_in_pieces:
        cut = bytearray(piece[: data.draw(st.integers(0, len(piece)))])
        for at in data.draw(st.lists(st.integers(0, max(0, len(cut) - 1)), max_size=4)):
            if cut:
                cut[at] = data.draw(st.integers(0, 255))
        files.append(bytes(cut))
    with contextlib.suppress(Unreadable):
        table("t", *files)


@pytest.fixture(scope="module")
def database_in_pieces(tmp_path_factory) -> tuple[bytes, bytes, bytes]:
    folder = tmp_path_factory.mktemp("pieces")
    db = opened(folder / "db", "wal")
    db.execute("insert into t values (1, randomblob(3000))")
    database, log, _ = files_of(folder / "db")
    db.close()
    hot = opened(folder / "hot", "delete")
    hot.execute("begin")
    hot.executemany("insert into t values (?, randomblob(900))", [(n,) for n in range(20)])
    _, _, journal = files_of(folder / "hot")
    hot.close()
    return database, log, journal


def test_pages_that_lead_to_one_page_again_and_again_make_no_room_full(tmp_path):
    path = tmp_path / "db"
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("pragma page_size = 512")
        db.execute("create table t (kind text)")
        db.executemany("insert into t values (?)", [("x" * 400,)] * 40)
        db.execute("insert into t values (?)", ("x" * (3 << 20),))
        db.commit()
        root = db.execute("select rootpage from sqlite_schema").fetchone()[0]
    data = bytearray(path.read_bytes())
    page = (root - 1) * 512
    assert data[page] == 5, "the root has to lead to other pages"
    count = int.from_bytes(data[page + 3 : page + 5], "big")
    for at in range(page + 12, page + 12 + 2 * count, 2):
        cell = page + int.from_bytes(data[at : at + 2], "big")
        data[cell : cell + 4] = data[page + 8 : page + 12]  # the last page, of the long row

    with pytest.raises(Unreadable, match="more than 64 MiB"):
        table("t", bytes(data), b"", b"")
