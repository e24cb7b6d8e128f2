"""Every request is on record, screened, in memory and on disk; nothing waits for the disk."""

from __future__ import annotations

import hashlib
import json
import re
import time
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.evidence.model import Request
from harness.services.base import Answer, Incoming
from harness.services.lines import Row, fixed, request_from_json, request_json, request_line
from harness.services.record import BIG, LAG, Hands, Recorder, Seen, Shelf
from harness.services.reply import Wire
from harness.services.screening import Screen
from tests.unit.services.stand import Scripted, ask, connect, get, hello, post, read, until

SECRET = b"canary-4711"


def redact(body: bytes) -> tuple[bytes, list[str]]:
    found = len(re.findall(SECRET, body))
    return body.replace(SECRET, b"[secret:KEY:plain]"), ["[secret:KEY:plain]"] * found


def recorder(shelf: Shelf, aside: Executor | None = None) -> Recorder:
    hands = Hands(lambda wait, work: None, aside or ThreadPoolExecutor(1), lambda: None)
    return Recorder(shelf, redact, hands)


def seen(seq: int = 1, body: bytes = b"", **headers: str) -> Seen:
    incoming = Incoming(1, "POST", "/x", headers, body)
    return Seen(seq, 0.5, "model", incoming, answer=Answer(Wire(), "turn", turn=0), status=200)


def test_a_line_holds_every_field_in_order_and_can_be_read_back(serve, tmp_path):
    live, where = serve(shelf=Shelf.of_trial(tmp_path), since=lambda: 1.25)
    ask(where, post(b'{"a": 1}', "/x?y=%20"))
    live.close()

    (line,) = (tmp_path / "requests.jsonl").read_text().splitlines()

    assert list(json.loads(line)) == [field.name for field in fields(Request)]
    assert [request_from_json(json.loads(line))] == [
        r if isinstance(r.secrets, list) else _listed(r) for r in live.requests()
    ]
    assert json.loads(line)["t"] == 1.25
    assert (tmp_path / "requests/1.body").read_bytes() == b'{"a": 1}'


def _listed(request: Request) -> Request:
    return request_from_json({**request_json(request), "secrets": list(request.secrets)})


TEXT = st.text(st.characters(codec=None), max_size=20)
REQUESTS = st.builds(
    Request,
    seq=st.integers(1),
    t=st.floats(-1e9, 1e9),
    service=TEXT,
    conn=st.integers(1),
    kind=st.sampled_from(["turn", "side", "probe", "beyond"]),
    method=TEXT,
    path=TEXT,
    headers=st.dictionaries(TEXT, TEXT, max_size=3),
    body_sha256=st.just("0" * 64),
    turn=st.none() | st.integers(0),
    attempt=st.integers(1),
    fault=st.none() | TEXT,
    status=st.integers(0, 999),
    bytes_sent=st.integers(0),
    ended=st.sampled_from(["whole", "cut", "reset", "refused"]),
    tokens_in=st.integers(0),
    tokens_out=st.integers(0),
    model=st.none() | TEXT,
    secrets=st.lists(TEXT, max_size=2),
    tool_result=st.none() | TEXT,
)


@given(REQUESTS)
def test_a_line_says_what_the_encoder_would_say(request):
    line = request_line(request)

    assert json.loads(line) == json.loads(json.dumps(request_json(request)))
    assert list(json.loads(line)) == list(request_json(request))
    assert line.endswith("}\n")
    assert line.count("\n") == 1
    row = Row(*request_json(request).values())
    assert request_line(row, fixed(row)) == line


def test_a_row_has_the_fields_of_a_request():
    assert Row._fields == tuple(field.name for field in fields(Request))


def test_secrets_are_marked_wherever_they_stand_and_never_stored(serve, tmp_path):
    live, where = serve(shelf=Shelf.of_trial(tmp_path), redact=redact)
    secret = SECRET.decode()
    body = b"one " + SECRET + b" two " + SECRET
    head = {"authorization": f"Bearer {secret}", "x_note": f"see {secret}"}
    request = get(f"/p?k={secret}", "POST", content_length=str(len(body)), **head) + body
    ask(where, request)
    with connect(where) as sock:
        sock.sendall(b"garbage " + SECRET + b"\r\n\r\n")
        read(sock, 1000)
    live.close()

    good, bad = live.requests()

    assert good.secrets == ("[secret:KEY:plain]",) * 5
    assert good.path == "/p?k=[secret:KEY:plain]"
    assert good.headers["authorization"] == "[redacted] [secret:KEY:plain]"
    assert good.headers["x-note"] == "see [secret:KEY:plain]"
    assert bad.secrets == ("[secret:KEY:plain]",)
    stored = b"".join(p.read_bytes() for p in tmp_path.rglob("*") if p.is_file())
    assert SECRET not in stored
    body = (tmp_path / "requests/1.body").read_bytes()
    assert hashlib.sha256(body).hexdigest() == good.body_sha256


def test_credentials_are_hidden_and_ids_only_numbered():
    made = recorder(Shelf())
    body = b'{"metadata": {"user_id": "{\\"device_id\\":\\"abc\\"}"}, "thread_id":"t-1", "text": "t-1"}'
    made.add(seen(1, body, **{"x-api-key": "sk-live", "thread-id": "t-1", "accept": "t-1"}))
    made.add(seen(2, b'{"thread_id":"t-2"}', authorization="Bearer x", cookie="a=b"))
    made.add(seen(3, b'{"thread_id":"t-1"}'))

    first, second, third = made.requests()

    assert first.headers == {"x-api-key": "[redacted]", "thread-id": "[id:1]", "accept": "t-1"}
    assert second.headers == {"authorization": "[redacted]", "cookie": "[redacted]"}
    assert third.body_sha256 == hashlib.sha256(b'{"thread_id":"[id:1]"}').hexdigest()
    assert (
        first.body_sha256
        == hashlib.sha256(
            b'{"metadata": {"user_id": "[id:2]"}, "thread_id":"[id:1]", "text": "t-1"}'
        ).hexdigest()
    )


KEYS = ["user_id", "device_id", "session_id", "thread_id", "installation_id", "account_uuid"]
KEYS += ["prompt_cache_key"]
OTHERS = ["id", "_id", "my_user_id", "user_ids", "account_id", "device_uuid", "cache_key", "text"]
IDS = st.text(min_size=1, max_size=8).map(lambda text: f"{text}_id")


@given(st.dictionaries(st.sampled_from(KEYS + OTHERS), IDS), st.sampled_from([":", " : ", ":\n"]))
def test_an_agents_ids_are_numbered_in_its_body_and_nothing_else_is(found, colon):
    def body(values: list[str]) -> bytes:
        pairs = zip(map(json.dumps, found), values, strict=True)
        return "{{{}}}".format(",".join(f"{key}{colon}{value}" for key, value in pairs)).encode()

    screened, _ = Screen(None).body(
        body([json.dumps(each) for each in found.values()]), of_agent=True
    )

    distinct = list(dict.fromkeys(value for key, value in found.items() if key in KEYS))
    assert screened == body(
        [
            json.dumps(f"[id:{distinct.index(value) + 1}]" if key in KEYS else value)
            for key, value in found.items()
        ]
    )


def test_the_body_of_an_upstream_keeps_its_ids(serve, tmp_path):
    live, where = serve(shelf=Shelf.of_trial(tmp_path))
    body = b'{"user_id": "42"}'
    ask(where, post(body))
    live.close()

    assert (tmp_path / "requests/1.body").read_bytes() == body


def test_lines_are_on_disk_soon_although_nothing_is_closed(serve, tmp_path):
    _, where = serve(shelf=Shelf.of_trial(tmp_path))
    ask(where, get())

    began = time.monotonic()
    until((tmp_path / "requests.jsonl").read_bytes)

    assert time.monotonic() - began < LAG + 0.5


class Slow(Executor):
    """Does nothing until it is told to."""

    def __init__(self) -> None:
        self.jobs: list[Any] = []

    def submit(self, fn, /, *args, **kwargs):
        self.jobs.append((fn, args))
        return Future()


def test_a_big_body_is_stored_aside_and_waited_for(tmp_path):
    aside = Slow()
    made = recorder(Shelf.of_trial(tmp_path), aside)
    made.add(seen(1, b"x" * BIG))
    made.add(seen(2, b"small"))
    assert not (tmp_path / "requests/1.body").exists()

    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(made.requests)
        time.sleep(0.05)
        assert not waiting.done()
        work, args = aside.jobs[0]
        work(*args)
        assert [r.seq for r in waiting.result(5)] == [1, 2]

    made.close()
    assert (tmp_path / "requests/1.body").stat().st_size == BIG


def test_a_record_that_cannot_be_written_is_a_failure_and_not_silence(tmp_path):
    made = recorder(Shelf.of_trial(tmp_path))
    (tmp_path / "requests/1.body").write_bytes(b"somebody else's")
    made.add(seen(1))
    made.close()

    assert isinstance(made.failure, FileExistsError)
    assert made.requests() == []


def test_a_full_disk_is_a_failure():
    made = recorder(Shelf(lines=Path("/dev/full")))
    made.add(seen(1))
    made.close()

    assert isinstance(made.failure, OSError)


def test_without_bodies_and_memory_only_lines_are_left(tmp_path):
    made = recorder(Shelf(lines=tmp_path / "log", keep=False))
    for number in range(3):
        made.add(seen(number, b"abc"))
    made.close()

    assert made.requests() == []
    assert len((tmp_path / "log").read_text().splitlines()) == 3
    assert [p.name for p in tmp_path.iterdir()] == ["log"]


def test_lines_of_an_earlier_run_are_kept(tmp_path):
    (tmp_path / "log").write_text("before\n")
    made = recorder(Shelf(lines=tmp_path / "log"))
    made.add(seen(1))
    made.close()

    assert (tmp_path / "log").read_text().startswith("before\n{")


@pytest.mark.parametrize("ended", ["whole"])
def test_the_model_that_is_asked_for_is_screened_too(ended):
    made = recorder(Shelf())
    one = seen(1)
    one.model, one.ended = SECRET.decode(), ended
    made.add(one)

    assert made.requests()[0].model == "[secret:KEY:plain]"


def test_the_service_is_answered_before_its_record_is_written(serve, tmp_path):
    service = Scripted()
    live, where = serve(service, shelf=Shelf.of_trial(tmp_path))

    assert ask(where, post(b"x" * (4 << 20))) == hello()
    live.close()

    assert (tmp_path / "requests/1.body").stat().st_size == 4 << 20
