"""What is shown of a run while it goes on: true, harmless, and gone when it is over."""

from __future__ import annotations

import io
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from harness.live_area import LiveArea, without_middle
from harness.progress import Lines, heading, watched
from tests.unit.progress.screen import Screen
from verifiers.verdicts import Verdict

HOSTILE = (
    "[red]bold[/red] [link=http://x]y[/link] :smile:",
    "\x1b[2J\x1b[Hpassed\x1bP",
    "\x1b]0;title\x07\x1b]8;;http://x\x1b\\here",
    "a\rb\nc\x08d\x0be\x0cf\x9bg\u202eh\u2028i\x00j",
    "[/]",
)


@pytest.fixture(params=[40, 80, 200])
def screen(request, monkeypatch) -> Screen:
    """A terminal of that many columns."""
    screen = Screen(request.param)
    monkeypatch.setenv("COLUMNS", str(request.param))
    monkeypatch.setenv("LINES", "24")
    monkeypatch.setenv("TERM", "xterm-256color")
    for name in ("NO_COLOR", "CI", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    return screen


@pytest.fixture
def area_of(screen) -> Iterator[Callable[..., LiveArea]]:
    """Draws a live area on it, until the test is over."""
    with ExitStack() as stack:

        def draw(total: int, *, stopping: bool = False) -> LiveArea:
            area = LiveArea(screen, total, lambda: stopping)
            stack.callback(area.close)
            return area

        yield draw


def until(screen: Screen, text: str) -> list[str]:
    """Wait until something is on the screen."""
    deadline = time.monotonic() + 10
    while text not in "".join(screen.lines()):
        assert time.monotonic() < deadline, screen.lines()
        time.sleep(0.01)
    return screen.lines()


def test_what_runs_is_shown_with_its_phase_and_all_of_it_is_gone_in_the_end(screen, area_of):
    area = area_of(3)
    area.begins("one.command.bubblewrap")
    area.begins("two.command.bubblewrap")
    area.reaches("one.command.bubblewrap", "running")

    lines = until(screen, "running")
    assert any("running" in line and "one" in line for line in lines)
    assert any("two" in line for line in lines)
    assert not screen.cursor

    area.ends("one.command.bubblewrap", Verdict.PASSED, "1 expectation held")
    area.ends("two.command.bubblewrap", Verdict.FAILED, "home: expected the home as it was")
    lines = until(screen, "1 failed")
    assert any("2/3 1 passed 1 failed 0:" in line for line in lines)

    area.close()
    shown = " ".join(" ".join(screen.lines()).split())
    assert "passed one.command.bubblewrap 0." in shown
    assert "failed two.command.bubblewrap 0." in shown
    assert "home: expected the home as it was" in shown
    assert "2/3" not in shown
    assert "1 expectation held" not in shown
    assert screen.cursor


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_of_a_trial_is_obeyed(screen, area_of, text):
    area = area_of(2)
    area.begins(text)
    area.begins(f"other {text}")
    area.reaches(text, text)
    until(screen, "0/2")
    area.ends(text, Verdict.FAILED, text, text)
    until(screen, "1/2")
    area.close()

    shown = "".join("".join(screen.lines()).split())
    seen = "".join("".join(c if c.isprintable() else "\ufffd" for c in text).split())
    assert shown.count(seen) == 3  # its label, its name, its message


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_of_a_trial_is_obeyed_in_plain_lines(monkeypatch, text):
    out = io.StringIO()
    monkeypatch.setattr(sys, "stderr", out)
    lines = Lines(1)
    lines.begins(text)
    lines.ends(text, Verdict.ERROR, text)

    (line,) = out.getvalue().splitlines()
    assert line.isprintable()


def test_of_many_trials_at_once_the_last_are_counted(screen, area_of):
    area = area_of(100)
    for number in range(100):
        area.begins(f"trial-{number}.command.bubblewrap")
    lines = until(screen, "more")
    area.close()

    assert len(lines) < 24
    assert sum("trial-" in line for line in lines) == 11
    assert any("and 89 more" in line for line in lines)


def test_no_line_of_the_area_is_wider_than_the_terminal(screen, area_of):
    area = area_of(1)
    area.begins("a-long-name-" * 30 + "end")
    lines = until(screen, "0/1")
    area.close()

    assert len(lines) == 2
    assert lines[0].endswith("end")


def test_it_is_drawn_four_times_a_second_however_much_happens(screen, area_of):
    area = area_of(10_000)
    begun = time.monotonic()
    while (took := time.monotonic() - begun) < 1:
        area.begins("quick")
        area.ends("quick", Verdict.PASSED, "")
        time.sleep(0.001)
    drawn = sum("/10000" in write for write in screen.writes)
    area.close()

    assert 1 <= drawn <= 4 * took + 1


def test_a_run_that_is_being_stopped_says_so(screen, area_of):
    area_of(1, stopping=True)
    until(screen, "stopping")


def test_a_terminal_that_is_gone_stops_nothing(screen, area_of, monkeypatch):
    def gone(text: str) -> int:
        raise OSError(5, "gone")

    area = area_of(1)
    monkeypatch.setattr(screen, "write", gone)
    area.begins("one")
    area.ends("one", Verdict.PASSED, "")
    area.close()


@pytest.mark.parametrize("screen", [80], indirect=True)
@pytest.mark.parametrize(
    ("name", "value"),
    [("NO_COLOR", "1"), ("CI", "true"), ("TERM", "dumb"), ("TERM", "")],
)
def test_where_a_live_area_is_unwanted_there_are_lines(screen, monkeypatch, name, value):
    monkeypatch.setattr(sys, "stderr", screen)
    drawn = watched(1, lambda: False)
    drawn.close()
    monkeypatch.setenv(name, value)

    assert isinstance(drawn, LiveArea)
    assert isinstance(watched(1, lambda: False), Lines)


def test_without_a_terminal_there_are_lines(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())

    assert isinstance(watched(1, lambda: False), Lines)


def test_a_name_that_is_cut_keeps_both_ends():
    assert without_middle("case.command.bubblewrap.control", 15) == "case.co…control"
    assert len(without_middle("case.command.bubblewrap.control", 15)) == 15
    assert without_middle("short", 15) == "short"


def test_the_heading_says_what_repeats_the_choices():
    assert heading(3, 1, 7) == "shakeout: 3 trials of 1 case, seed 7"
