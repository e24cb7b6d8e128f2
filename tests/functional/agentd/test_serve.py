"""The daemon starts, does its work, ends in peace and begins again; one for a folder."""

from __future__ import annotations

import http.client
import json
import signal
import socket
import sqlite3
from pathlib import Path
from typing import Any

import psutil
import pytest

from harness.case.model import Call, ScriptStep
from tests.functional.agentd.conftest import KEY, Agentd
from tests.functional.model.conftest import Serve

pytestmark = pytest.mark.slow


def scripted(agentd: Agentd, serve: Serve, *steps: ScriptStep, **settings: Any) -> None:
    served = serve(steps)
    agentd.write(model={"base_url": served.url, "protocol": "anthropic"}, **settings)


def test_a_task_goes_through_the_daemon_which_ends_in_peace_and_begins_again(
    agentd: Agentd, serve: Serve
):
    looks = ScriptStep(say="Looking.", calls=[Call("call", "list_dir", {"path": "."})])
    scripted(agentd, serve, looks, ScriptStep(say="Nothing there."), ScriptStep(say="Again."))
    daemon = agentd.serve()
    assert agentd.run("run", "look around") == (0, "Nothing there.\n", "")
    status, said = agentd.ask("GET", "/conversations")
    [first] = said["conversations"]
    assert (status, first["state"], first["kind"]) == (200, "done", "project")
    agentd.stop(daemon)
    assert not agentd.socket.exists()

    assert agentd.run("run", "once more") == (0, "Again.\n", "")
    again = agentd.serve()
    _, said = agentd.ask("GET", "/conversations")
    assert len(said["conversations"]) == 2
    _, found = agentd.ask("GET", f"/conversations/{first['id']}")
    assert [each["role"] for each in found["messages"]] == [
        "user",
        "assistant",
        "tool",
        "assistant",
    ]
    agentd.stop(again, signal.SIGINT)


def test_a_second_daemon_is_refused_and_a_dead_ones_socket_is_not_in_the_way(agentd: Agentd):
    first = agentd.serve()
    code, out, err = agentd.run("serve")
    assert (code, out) == (2, "")
    assert err == (
        f"agentd: the process {first.pid} works in {agentd.home}; use that one, or stop it first\n"
    )
    assert agentd.ask("GET", "/tools")[0] == 200
    first.kill()
    first.wait()
    assert agentd.socket.exists()
    agentd.stop(agentd.serve())


def test_it_listens_on_a_port_of_the_loopback_where_that_is_set(agentd: Agentd):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        agentd.write(listen={"port": port})
        code, _, err = agentd.run("serve")
        assert code == 2
        assert f"cannot listen on 127.0.0.1:{port}: Address already in use" in err
    daemon = agentd.serve()
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(b"GET /health HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
        answer = b"".join(iter(lambda: connection.recv(4096), b""))
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert answer.endswith(b'{"status": "ok"}')
    agentd.stop(daemon)


def test_stopping_interrupts_what_runs_and_leaves_no_process(agentd: Agentd, serve: Serve):
    sleeps = ScriptStep(calls=[Call("call", "run", {"command": "sleep 987 & sleep 987"})])
    scripted(agentd, serve, sleeps, ScriptStep(say="Back."))
    daemon = agentd.serve()
    _, made = agentd.ask("POST", "/conversations", {"kind": "chat", "message": "wait"})

    def sleeping() -> list[psutil.Process]:
        below = psutil.Process(daemon.pid).children(recursive=True)
        found = [each for each in below if each.name() == "sleep"]
        return found if len(found) == 2 else []

    left = agentd.until(sleeping)
    assert agentd.ask("POST", "/stop")[0] == 202
    _, err = daemon.communicate(timeout=30)
    assert daemon.returncode == 0, err
    assert not [each for each in left if each.is_running()]

    again = agentd.serve()
    _, found = agentd.ask("GET", f"/conversations/{made['id']}")
    assert found["state"] == "interrupted"
    agentd.ask("POST", f"/conversations/{made['id']}/messages", {"text": "go on"})
    agentd.until(lambda: agentd.ask("GET", f"/conversations/{made['id']}")[1]["state"] == "done")
    agentd.stop(again)


def test_a_turn_that_the_daemon_died_in_is_interrupted_and_can_be_gone_on_with(
    agentd: Agentd, serve: Serve
):
    sleeps = ScriptStep(calls=[Call("call", "run", {"command": "sleep 3"})])
    scripted(agentd, serve, sleeps, ScriptStep(say="Back."))
    daemon = agentd.serve()
    _, made = agentd.ask("POST", "/conversations", {"message": "wait"})
    path = f"/conversations/{made['id']}"
    agentd.until(lambda: len(agentd.ask("GET", path)[1]["messages"]) == 2)
    daemon.kill()
    daemon.wait()
    again = agentd.serve()
    assert agentd.ask("GET", path)[1]["state"] == "interrupted"
    agentd.ask("POST", f"{path}/messages", {"text": "go on"})
    agentd.until(lambda: agentd.ask("GET", path)[1]["state"] == "done")
    agentd.stop(again)


def corrupt(path: Path) -> None:
    path.write_bytes(b"SQLite format 3\0" + bytes(range(256)) * 64)


def empty(path: Path) -> None:
    path.write_bytes(b"")


def too_new(path: Path) -> None:
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("CREATE TABLE alembic_version (version_num TEXT)")
        database.execute("INSERT INTO alembic_version VALUES ('9999')")
    database.close()


@pytest.mark.parametrize(
    ("spoil", "said"),
    [(corrupt, "damaged or none"), (empty, "is an empty file"), (too_new, "of revision 9999")],
)
def test_a_store_that_cannot_be_worked_with_is_told_and_left_alone(
    agentd: Agentd, spoil: Any, said: str
):
    path = agentd.home / "agentd.db"
    spoil(path)
    before = path.read_bytes()
    for words in (("serve",), ("run", "x")):
        code, out, err = agentd.run(*words)
        assert (code, out) == (2, "")
        assert said in err
        assert "Traceback" not in err
        assert path.read_bytes() == before


def test_a_store_that_breaks_while_it_runs_ends_the_daemon_with_a_message(agentd: Agentd):
    daemon = agentd.serve()
    agentd.ask("POST", "/conversations", {})
    holder = sqlite3.connect(agentd.home / "agentd.db", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    status, said = agentd.ask("POST", "/conversations", {})
    assert (status, said["error"]["code"]) == (503, "store")
    holder.rollback()
    holder.close()
    out, err = daemon.communicate(timeout=60)
    assert (daemon.returncode, out) == (2, "")
    assert "is held by another process" in err
    assert "Traceback" not in err
    again = agentd.serve()
    assert len(agentd.ask("GET", "/conversations")[1]["conversations"]) == 1
    agentd.stop(again)


def test_the_token_is_the_users_alone(agentd: Agentd):
    daemon = agentd.serve()
    token = agentd.home / "token"
    assert token.stat().st_mode & 0o777 == 0o600
    assert agentd.home.stat().st_mode & 0o777 == 0o700
    kept = token.read_text()
    agentd.stop(daemon)
    token.chmod(0o644)
    code, _, err = agentd.run("serve")
    assert (code, "can be read by others" in err) == (2, True)
    token.chmod(0o600)
    agentd.stop(agentd.serve())
    assert token.read_text() == kept


def read(stream: http.client.HTTPResponse, last: str) -> list[tuple[str, str, Any]]:
    """Of a stream of events up to the first of a kind: number, kind and data of each."""
    found, number, kind = [], "", ""
    for line in stream:
        name, _, value = line.decode().rstrip("\n").partition(": ")
        if name == "id":
            number = value
        elif name == "event":
            kind = value
        elif name == "data":
            found.append((number, kind, json.loads(value)))
            number = ""
            if kind == last:
                return found
    raise AssertionError(found)


def events(agentd: Agentd, headers: dict[str, str], last: str) -> list[tuple[str, str, Any]]:
    connection = agentd.connection()
    token = (agentd.home / "token").read_text().strip()
    connection.request("GET", "/events", headers={"Authorization": f"Bearer {token}", **headers})
    return [each for each in read(connection.getresponse(), last) if each[1] != "text"]


def test_events_go_on_where_who_listens_left_off_and_words_come_as_they_are_said(
    agentd: Agentd, serve: Serve
):
    words = f"The key is {KEY} and stays."
    scripted(agentd, serve, ScriptStep(say="One."), ScriptStep(say="Two."), ScriptStep(say=words))
    daemon = agentd.serve()
    agentd.ask("POST", "/conversations", {"message": "one"})
    told = events(agentd, {}, "turn.ended")
    assert told[0][1] == "daemon.started"
    number = int(told[-1][0])
    _, made = agentd.ask("POST", "/conversations", {"message": "two"})
    again = events(agentd, {"Last-Event-ID": str(number)}, "turn.ended")
    assert [(int(each[0]), each[2]["conversation"]) for each in again] == [(number + 1, made["id"])]

    connection = agentd.connection()
    token = (agentd.home / "token").read_text().strip()
    path = f"/events?conversation={made['id']}&after={number + 1}"
    connection.request("GET", path, headers={"Authorization": f"Bearer {token}"})
    listening = connection.getresponse()
    agentd.ask("POST", f"/conversations/{made['id']}/messages", {"text": "three"})
    heard = read(listening, "turn.ended")
    pieces = [each for each in heard if each[1] == "text"]
    assert len(pieces) > 1
    assert {each[0] for each in pieces} == {""}
    said = "".join(each[2]["text"] for each in pieces)
    assert said == "The key is [redacted:anthropic-api-key] and stays."
    agentd.stop(daemon)


def test_single_tasks_work_beside_each_other_and_no_daemon_begins_among_them(
    agentd: Agentd, serve: Serve
):
    sleeps = ScriptStep(calls=[Call("call", "run", {"command": "sleep 4"})], repeat=2)
    scripted(agentd, serve, sleeps, ScriptStep(say="Done.", repeat=2))
    one, two = agentd.start("run", "one"), agentd.start("run", "two")
    agentd.until((agentd.home / "agentd.db").exists)
    code, _, err = agentd.run("serve")
    assert (code, "works in" in err) == (2, True)
    for each in (one, two):
        out, err = each.communicate(timeout=60)
        assert (each.returncode, out) == (0, "Done.\n"), err
