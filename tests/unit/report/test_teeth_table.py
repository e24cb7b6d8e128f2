"""The table of teeth leaves paths whole, wherever it is printed."""

from __future__ import annotations

import io
from typing import Any

import pytest

from harness.report.teeth import print_teeth

LONG = "trials/" + "a-case-with-a-long-name." * 8 + "sabotage-no-second-attempt"


def entry(folder: str, **more: Any) -> dict[str, Any]:
    return {
        "case": "a-case-with-a-long-name",
        "subject": {"name": "claude-code"},
        "verdict": "passed",
        "message": "2 expectations held",
        "reasons": [],
        "known": None,
        "dir": folder,
        **more,
    }


def teeth(*sabotages: dict[str, Any]) -> dict[str, Any]:
    return {
        "cases": [entry("trials/short", kind="trial")],
        "sabotages": list(sabotages),
        "toothless": [],
        "matrix": None,
        "exit": 0,
    }


CAUGHT = entry(
    LONG,
    name="no-second-attempt",
    verdict="failed",
    breaks=["exit", "file"],
    broke=["exit", "file"],
    bites=True,
)
MISSED = {**CAUGHT, "bites": False, "broke": [], "verdict": "error", "message": "why " * 100}


@pytest.mark.parametrize("columns", ["40", "80", ""])
@pytest.mark.parametrize("one", [CAUGHT, MISSED], ids=["caught", "missed"])
def test_off_a_terminal_no_path_is_broken_up(monkeypatch, columns: str, one: dict[str, Any]):
    monkeypatch.setenv("COLUMNS", columns)
    out = io.StringIO()
    print_teeth(teeth(one), out)

    lines = out.getvalue().splitlines()
    assert [line.split()[-1] for line in lines if LONG in line] == [LONG]
    assert any(line.startswith(" case") and line.rstrip().endswith("evidence") for line in lines)


@pytest.mark.parametrize("width", [40, 80])
def test_a_narrow_terminal_gets_no_columns(width: int):
    out = io.StringIO()
    print_teeth(teeth(CAUGHT), out, width=width)

    lines = [line.strip() for line in out.getvalue().splitlines()]
    assert LONG in lines
    assert "no-second-attempt: exit, file" in lines
    assert "must break exit, file" in lines
    assert "teeth: yes" in lines
    assert "as it is: passed" in lines
    assert "trials/short" in lines


def test_a_wide_terminal_gets_a_table():
    out = io.StringIO()
    print_teeth(teeth(CAUGHT), out, width=400)

    assert "must break" in out.getvalue().splitlines()[1]


def test_what_broke_other_than_was_said_is_told_with_what_to_write():
    out = io.StringIO()
    print_teeth(teeth({**CAUGHT, "bites": False, "breaks": ["home"]}), out)

    assert (
        "a-case-with-a-long-name/no-second-attempt says that it breaks home, and broke exit, file: "
        "write breaks: [exit, file], or change what it takes away\n"
    ) in out.getvalue()


def test_a_sabotage_that_broke_nothing_is_told_to_take_away_more():
    out = io.StringIO()
    print_teeth(teeth({**CAUGHT, "verdict": "passed", "bites": False, "broke": []}), out)

    advice = "broke nothing, and not exit, file: have it take away what that rests on"
    assert f"a-case-with-a-long-name/no-second-attempt {advice}" in out.getvalue()


def test_nothing_is_advised_where_teeth_were_shown_or_it_is_not_known():
    for bites in (True, None):
        out = io.StringIO()
        print_teeth(teeth({**CAUGHT, "bites": bites}), out)
        assert "what it takes away" not in out.getvalue()
