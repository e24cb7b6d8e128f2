"""What ``judge`` prints: no line is broken off a terminal, and the end says what is wrong."""

from __future__ import annotations

import io
from typing import Any

import pytest

from harness.report.rejudged import print_rejudged

LONG = "trials/" + "a-name-that-goes-on-" * 20


def document(broken: tuple[str, ...] = (), **more: Any) -> dict[str, Any]:
    told = "the evidence is not as it was sealed; ask" if broken else "it is as it was sealed"
    trial = {
        "id": "a.command.bubblewrap",
        "stored": {"verdict": "passed", "reasons": []},
        "verdict": "passed",
        "message": "why " * 100,
        "same": True,
        "differences": [],
        "harness": {"version": "1", "digest": "d"},
    }
    return {
        "exit": 4 if broken else 0,
        "verdict": "error" if broken else "passed",
        "folder": "out/one",
        "seal": {"state": "broken", "told": told, "problems": list(broken)},
        "problems": [],
        "harness": {"version": "1", "digest": "d"},
        "trials": [trial],
        **more,
    }


def printed(found: dict[str, Any], width: int | None = None) -> list[str]:
    out = io.StringIO()
    print_rejudged(found, out, width)
    return out.getvalue().splitlines()


def differing() -> dict[str, Any]:
    found = document(exit=4, verdict="error")
    found["trials"][0] |= {"same": False, "differences": ["verdict.json says failed"]}
    return found


@pytest.mark.parametrize("columns", ["40", "200", ""])
def test_off_a_terminal_no_line_is_broken(columns: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", columns)

    lines = printed(document((f"{LONG}: expected 1 byte",)))

    assert f"{LONG}: expected 1 byte" in lines
    assert "    " + "why " * 100 in lines


def test_on_a_terminal_it_is_a_table_within_the_terminal():
    assert max(map(len, printed(document((LONG,)), width=80))) <= 80


@pytest.mark.parametrize(
    ("found", "end"),
    [
        (document(), "verdict passed, exit code 0"),
        (
            document(("stdout: expected 1 byte",)),
            (
                "verdict error, exit code 4: the evidence is not as it was sealed (1 thing above), so "
                "what was judged may not be what the run wrote, and proves nothing"
            ),
        ),
        (
            differing(),
            (
                "verdict error, exit code 4: the record and the evidence do not belong together in "
                "1 trial"
            ),
        ),
        (
            document(problems=["run.json says exit code 1"], exit=4, verdict="error"),
            "verdict error, exit code 4: run.json does not belong to these trials, as said above",
        ),
    ],
)
def test_the_end_says_what_is_wrong_and_what_that_means(found: dict[str, Any], end: str):
    *_, judged, last = printed(found)

    assert last == end
    assert judged.startswith("out/one: ")


def test_a_verdict_that_is_not_the_one_on_record_is_told():
    assert "    NOT as on record, which is passed" in printed(differing())
