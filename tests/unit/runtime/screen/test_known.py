"""Secrets that the process was given are found wherever and however they are written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.screen.known import environment_secrets
from runtime.screen.screen import Screen
from tests.unit.runtime.screen.planted import ENCODINGS

VALUES = (
    "purple-Elephant_42",
    "s3cret-x",
    "pässwort-und-so-weiter",
    "a\nbb\nc-multi\nline",
)


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("value", VALUES)
def test_a_given_value_is_found_in_every_encoding(value: str, encoding: str):
    screen = Screen({"DAEMON_TOKEN": value})

    shown = screen.text(f"see {ENCODINGS[encoding](value)} there")

    assert "[redacted:daemon-token]" in shown
    assert screen.text(shown) == shown


@pytest.mark.parametrize("encoding", ["plain", "hex", "URL", "JSON", "HTML", "added up"])
def test_a_given_value_that_looks_escaped_is_found(encoding: str):
    value = "x%41y\\u0042z-and-more"

    shown = Screen({"it": value}).text(ENCODINGS[encoding](value))

    assert "[redacted:it]" in shown


def test_a_short_or_empty_value_is_not_looked_for():
    assert Screen({"A_KEY": "", "B_KEY": "abc", "C_KEY": "  x  "}).text("abc x") == "abc x"


def test_a_value_that_stands_in_a_mark_is_found_outside_of_it_alone():
    screen = Screen({"A": "redacted", "B": "password"})

    assert screen.text("redacted [redacted:password] password") == (
        "[redacted:a] [redacted:password] [redacted:b]"
    )


@given(st.text(min_size=6, max_size=40), st.text(max_size=30), st.text(max_size=30))
def test_no_given_value_survives(value: str, before: str, after: str):
    shown = Screen({"it": value}).text(before + value + after)

    outside = shown.split("[redacted:")
    assert not value.strip() or len(value.strip()) < 6 or value.strip() not in "".join(outside[:1])


def test_the_environment_tells_its_secrets_by_name():
    environ = {
        "OPENAI_API_KEY": "k-123456",
        "MY_TOKEN": "t-123456",
        "DATABASE_URL": "postgresql://u:p4ssw0rd@h/d",
        "DB_PASSWORD": "Hunter2!",
        "SSH_AUTH_SOCK": "/tmp/agent.1",
        "PWD": "/root/x",
        "XAUTHORITY": "/root/.Xauthority",
        "TOKEN_FILE": "/run/token1",
        "AWS_ACCESS_KEY_ID": "AKIA2345",
        "HOME": "/root",
        "TOKENIZERS_PARALLELISM": "true",
        "BROKEN_URL": "http://[",
    }

    assert environment_secrets(environ) == {
        "OPENAI_API_KEY": "k-123456",
        "MY_TOKEN": "t-123456",
        "DATABASE_URL": "p4ssw0rd",
        "DB_PASSWORD": "Hunter2!",
    }
