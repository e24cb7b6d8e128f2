"""Screening is linear, texts without an end are cut, and nothing ordinary is touched."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from runtime.screen.screen import LONGEST, Screen
from tests.house.checkout import ROOT, tracked

SCREEN = Screen({"DAEMON_TOKEN": "purple-elephant"})

HOSTILE: dict[str, Callable[[int], str]] = {
    "backslashes": lambda n: "\\" * n,
    "percent signs": lambda n: "%25" * (n // 3),
    "escape signs": lambda n: "\x1b]" * (n // 2),
    "quotes": lambda n: "\"'" * (n // 2),
    "spaces": lambda n: " " * n,
    "blank lines": lambda n: " \n" * (n // 2),
    "one letter": lambda n: "a" * n,
    "digits": lambda n: "41" * (n // 2),
    "digits with spaces": lambda n: "41 " * (n // 3),
    "base64 of itself": lambda n: "QUFB" * (n // 4),
    "headers of keys": lambda n: "-----BEGIN PRIVATE KEY" * (n // 22),
    "last lines of keys": lambda n: "abcdefghijklmnopqrst\n-----END PRIVATE KEY-----" * (n // 45),
    "passwords": lambda n: "password=" * (n // 9),
    "passwords in quotes": lambda n: "password='" * (n // 10),
    "cookies": lambda n: "cookie:a=" * (n // 9),
    "URLs": lambda n: "a://b:" * (n // 6),
    "beginnings of tokens": lambda n: "sk-ant-" * (n // 7),
    "beginnings of JWTs": lambda n: "eyJ" * (n // 3),
    "curls": lambda n: "curl -u " * (n // 8),
    "digits of a bot": lambda n: "1234567890:AA" * (n // 13),
    "surrogates": lambda n: "\ud800\x00" * (n // 2),
    "marks": lambda n: "[redacted:a]" * (n // 12),
}


def seconds(text: str) -> float:
    started = time.process_time()
    SCREEN.text(text)
    return time.process_time() - started


@pytest.mark.parametrize("kind", HOSTILE)
def test_the_cost_is_linear(kind: str):
    make = HOSTILE[kind]
    seconds(make(1000))
    small = min(seconds(make(1 << 13)) for _ in range(3))
    large = min(seconds(make(1 << 16)) for _ in range(2))

    assert large < 24 * max(small, 0.01)


def test_a_text_that_is_too_long_is_cut_and_says_so():
    token = "ghp_" + "a1B2c3D4e5F6" * 3
    text = "word " * (LONGEST // 5 - 4) + token + " word" * 100_000 + token

    shown = SCREEN.text(text)

    assert len(shown) <= LONGEST
    assert "ghp_" not in shown
    assert shown.endswith("[redacted:too-long]")
    assert SCREEN.text(shown) == shown


HITS = {
    "cases/schema/case.schema.json": ["xoxb-17653672481-19874698323"],
    "harness/services/slack.py": ["xoxb-17653672481-19874698323"],
    "runtime/tools/databases/pgdump.py": ["PGPASSWORD"],
}
"""Examples in the documentation of a service, written as real tokens are, and what is said to be
the variable of a password, in the form of a password's setting."""


def test_the_files_of_the_checkout_come_out_as_they_are():
    """All but tests, which plant secrets, and the rules, which hold the first lines of keys."""
    found = {}
    for path in tracked("**.py", "**.md", "**.yaml", "**.json", "**.toml", "ci/*", "**.jsonl"):
        name = str(path.relative_to(ROOT))
        if name.startswith(("tests/", "runtime/screen/keys.py")):
            continue
        text = path.read_text(errors="surrogateescape")
        hits = [text[span.start : span.end] for span in SCREEN.spans(text[:LONGEST])]
        if hits:
            found[name] = hits

    assert found == {name: HITS[name] for name in HITS if (ROOT / name).exists()}
