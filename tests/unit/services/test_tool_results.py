"""The tool result that a request carried is on record: its start, and no secret of it."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor

import pytest

from harness.services.base import Answer, Incoming
from harness.services.record import Hands, Recorder, Seen, Shelf
from harness.services.reply import Wire

SECRET = b"canary-4711-of-some-length"
MARK = "[secret:KEY:plain]"


def redact(body: bytes) -> tuple[bytes, list[str]]:
    found = len(re.findall(SECRET, body))
    return body.replace(SECRET, MARK.encode()), [MARK] * found


def on_record(result: str | None) -> str | None:
    hands = Hands(lambda wait, work: None, ThreadPoolExecutor(1), lambda: None)
    recorder = Recorder(Shelf(), redact, hands)
    incoming = Incoming(1, "POST", "/v1/responses", {}, b"{}")
    answer = Answer(Wire(), "turn", turn=1, tool_result=result)
    recorder.add(Seen(1, 0.5, "model", incoming, answer=answer, status=200))
    (request,) = recorder.requests()
    recorder.close()
    return request.tool_result


@pytest.mark.parametrize("result", [None, "", "refused", "it is \N{SNOWMAN}"])
def test_it_is_kept_as_it_was(result: str | None):
    assert on_record(result) == result


def test_of_a_long_one_the_start_is_kept():
    kept = on_record("line\n" * 100_000)
    assert kept is not None
    assert kept.startswith("line\nline\n")
    assert len(kept) < 5000


def test_a_secret_in_it_is_a_mark_also_where_it_is_cut():
    for before in range(1970, 2010):
        kept = on_record("x" * before + SECRET.decode() + "y" * 100)
        assert kept is not None
        assert "canary" not in kept
