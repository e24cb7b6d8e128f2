"""The journal says what happened up to the moment at which its writer was killed."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import EvidenceLost
from harness.journal import NAME, Journal, read_journal
from harness.screen.secrets import Screen, plant
from tests.unit.evidence.test_store import full_disk


def test_events_come_back_in_order_with_their_times(tmp_path: Path):
    journal = Journal(tmp_path / NAME)
    journal.write("planned", trial="x")
    journal.write("started", argv=["a", "b"], process=1)
    journal.close()
    events = read_journal(tmp_path / NAME)

    assert [event["event"] for event in events] == ["planned", "started"]
    assert events[1]["argv"] == ["a", "b"]
    assert 0 <= events[0]["t"] <= events[1]["t"]
    assert all(event["at"].endswith("Z") for event in events)


def test_an_event_is_in_the_file_when_write_returns(tmp_path: Path):
    journal = Journal(tmp_path / NAME)
    journal.write("armed", fault="cut")

    assert [event["event"] for event in read_journal(tmp_path / NAME)] == ["armed"]
    journal.close()


KILLED = """
import sys
from pathlib import Path
from harness.journal import Journal
journal = Journal(Path(sys.argv[1]))
for n in range(10**9):
    journal.write("tick", n=n, filler="x" * 500)
    if n == 100:
        print("go", flush=True)
"""


def test_a_killed_writer_leaves_every_event_it_had_written(tmp_path: Path):
    path = tmp_path / NAME
    child = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(path)], stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "go\n"
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    events = read_journal(path)

    assert len(events) > 100
    assert [event["n"] for event in events] == list(range(len(events)))


@given(st.integers(0, 200))
def test_wherever_the_last_line_is_torn_the_rest_is_read(cut: int):
    lines = [json.dumps({"t": n, "at": "", "event": f"e{n}"}).encode() + b"\n" for n in range(4)]
    data = b"".join(lines)[: sum(map(len, lines)) - min(cut, sum(map(len, lines)))]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / NAME
        path.write_bytes(data)
        events = read_journal(path)

    assert len(events) == data.count(b"\n")
    assert [event["event"] for event in events] == [f"e{n}" for n in range(len(events))]


def test_a_broken_line_before_the_end_is_no_journal(tmp_path: Path):
    (tmp_path / NAME).write_bytes(b'{"event": "a"}\nnonsense\n{"event": "b"}\n')

    with pytest.raises(EvidenceLost, match="line 2"):
        read_journal(tmp_path / NAME)


def test_a_line_that_is_no_event_is_no_journal(tmp_path: Path):
    (tmp_path / NAME).write_bytes(b'["event"]\n')

    with pytest.raises(EvidenceLost, match="line 1"):
        read_journal(tmp_path / NAME)


def test_a_missing_journal_is_lost_evidence(tmp_path: Path):
    with pytest.raises(EvidenceLost):
        read_journal(tmp_path / NAME)


def test_an_existing_journal_is_never_continued(tmp_path: Path):
    Journal(tmp_path / NAME).close()

    with pytest.raises(EvidenceLost, match="cannot be made"):
        Journal(tmp_path / NAME)


def test_a_closed_journal_takes_nothing_more(tmp_path: Path):
    journal = Journal(tmp_path / NAME)
    journal.close()
    journal.close()

    with pytest.raises(EvidenceLost, match="after the journal was closed"):
        journal.write("late")


def test_a_full_disk_is_lost_evidence(tmp_path: Path):
    journal = Journal(tmp_path / NAME)
    with full_disk(20), pytest.raises(EvidenceLost, match="cannot be written"):
        journal.write("armed", fault="cut", filler="x" * 100)
    journal.close()


def test_a_planted_secret_is_not_in_the_journal(tmp_path: Path):
    canaries = plant(["TOKEN"], Random(1))
    screen = Screen(canaries)
    journal = Journal(tmp_path / NAME, screen.redact)
    journal.write("started", argv=["curl", canaries["TOKEN"]], nested={"x": [canaries["TOKEN"]]})
    journal.write("bug", traceback=canaries["TOKEN"][::-1])
    journal.write("split", a=[[canaries["TOKEN"][:20]], canaries["TOKEN"][20:]])
    journal.close()
    data = (tmp_path / NAME).read_bytes()
    events = read_journal(tmp_path / NAME)

    assert screen.screen(data) == (data, ())
    assert events[0]["argv"] == ["curl", "[secret:TOKEN:plain]"]
    assert events[2]["event"] == "split"
    assert events[2]["withheld"] == ["[secret:TOKEN:split]"]


def test_many_threads_never_mix_their_lines(tmp_path: Path):
    journal = Journal(tmp_path / NAME)

    def write(who: int) -> None:
        for n in range(200):
            journal.write("tick", who=who, n=n, filler="y" * 300)

    threads = [threading.Thread(target=write, args=(who,)) for who in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    journal.close()
    events = read_journal(tmp_path / NAME)

    assert len(events) == 800
    for who in range(4):
        assert [event["n"] for event in events if event["who"] == who] == list(range(200))
