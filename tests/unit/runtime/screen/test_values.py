"""Values like JSON, exceptions and log records are screened whole."""

from __future__ import annotations

import io
import json
import logging
import sys

import pytest

from runtime.screen.logs import ScreenFilter, ScreenFormatter
from runtime.screen.screen import Screen

TOKEN = "ghp_" + "a1B2c3D4e5F6" * 3
MARK = "[redacted:github-token]"
SCREEN = Screen({"PIN": "48151623"})


def test_a_value_is_screened_in_keys_items_bytes_and_numbers():
    value = {
        TOKEN: [1, True, None, 2.5, (TOKEN, {TOKEN})],
        "raw": f"\xff {TOKEN}".encode("latin-1"),
        "pin": 48151623,
        7: "x",
    }

    assert SCREEN.value(value) == {
        MARK: [1, True, None, 2.5, [MARK, [MARK]]],
        "raw": b"\xff " + MARK.encode(),
        "pin": "[redacted:pin]",
        "7": "x",
    }


def test_two_keys_that_become_the_same_both_stay():
    assert SCREEN.value({TOKEN: 1, TOKEN + "x": 2}) == {MARK: 1, f"{MARK}-2": 2}


@pytest.mark.parametrize(
    "value",
    [
        {"password": "hunter"},
        {"headers": {"Authorization": "opaque"}},
        [["Cookie", "opaque1"]],
        ["tool", "--password", "hunter", "go"],
        {"db": {"apiKey": "0a1b2c3d"}},
    ],
)
def test_a_name_says_that_its_value_is_secret(value: object):
    shown = json.dumps(SCREEN.value(value))

    assert "[redacted:credential]" in shown
    assert not [word for word in ("hunter", "opaque", "0a1b") if word in shown]


def test_cycles_and_depth_are_bounded():
    cycle: list[object] = []
    cycle.append({"again": cycle})
    deep: object = TOKEN
    for _ in range(5000):
        deep = [deep]

    assert SCREEN.value(cycle) == [{"again": "[redacted:cycle]"}]
    assert "[redacted:too-deep]" in json.dumps(SCREEN.value(deep))


def test_what_json_does_not_know_becomes_its_screened_text():
    class Odd:
        def __str__(self) -> str:
            raise RuntimeError(TOKEN)

    assert SCREEN.value(ValueError(TOKEN)) == MARK
    assert SCREEN.value(Odd()) == "<Odd that cannot be shown: RuntimeError>"


def failing() -> BaseException:
    try:
        try:
            json.loads("{}")[TOKEN]
        except KeyError as error:
            raise ValueError("first", f"--token={TOKEN}") from error
    except ValueError as error:
        error.add_note(f"seen: {TOKEN}")
        return ExceptionGroup("many", [error, OSError(2, TOKEN)])
    raise AssertionError


def test_an_exception_is_screened_with_its_chain_notes_and_group():
    shown = SCREEN.exception(failing())

    assert TOKEN not in shown
    assert shown.count(MARK) >= 4
    for word in ("KeyError", "ValueError", "FileNotFoundError", "direct cause", "seen:", "many"):
        assert word in shown


@pytest.fixture(params=["filter", "formatter"])
def log(request: pytest.FixtureRequest) -> tuple[logging.Logger, io.StringIO]:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    plain = logging.Formatter("%(message)s %(extra)s", defaults={"extra": ""})
    if request.param == "filter":
        handler.addFilter(ScreenFilter(SCREEN))
        handler.setFormatter(plain)
    else:
        handler.setFormatter(ScreenFormatter(SCREEN, plain))
    logger = logging.getLogger(f"screened by {request.param}")
    logger.addHandler(handler)
    return logger, stream


def test_a_log_record_is_screened_in_all_its_parts(log: tuple[logging.Logger, io.StringIO]):
    logger, stream = log
    try:
        raise failing()
    except ExceptionGroup:
        logger.exception("got %s", TOKEN, stack_info=True, extra={"extra": {"t": TOKEN}})
    logger.info("dict %(t)s", {"t": TOKEN})
    logger.info("password %s", "= hunter2")

    shown = stream.getvalue()
    assert TOKEN not in shown
    assert "hunter2" not in shown
    assert "Stack (most recent call last)" in shown
    assert "FileNotFoundError" in shown
    assert shown.count(MARK) >= 6


def test_arguments_that_do_not_fit_lose_no_record():
    record = logging.LogRecord("x", 20, "f", 1, "%d of %s", (TOKEN,), None)

    assert ScreenFilter(SCREEN).filter(record)
    assert record.getMessage() == f"%d of %s ('{MARK}',)"


def test_a_record_with_an_exception_of_now_keeps_nothing_unscreened():
    try:
        raise failing()
    except ExceptionGroup:
        record = logging.LogRecord("x", 40, "f", 1, "m", (), sys.exc_info())
    ScreenFilter(SCREEN).filter(record)

    assert TOKEN not in repr(vars(record))
