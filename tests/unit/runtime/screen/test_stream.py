"""A text in pieces gives no secret out, wherever it is cut, and waits no longer than it must."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime.screen.screen import Screen
from runtime.screen.stream import StreamScreen
from tests.unit.runtime.screen.decoding import read_back
from tests.unit.runtime.screen.planted import ENCODINGS, KEYS, TOKENS
from tests.unit.runtime.screen.test_context import GIVEN_AWAY
from tests.unit.runtime.screen.test_kinds import telling

SCREEN = Screen({"DAEMON_TOKEN": "purple-elephant"})
PROSE = "It was a fine day, and nobody had any plans. So they went out.\nThen it rained a lot.\n"


def streamed(text: str, sizes: list[int], screen: Screen = SCREEN) -> str:
    stream = StreamScreen(screen)
    out: list[str] = []
    at = number = 0
    while at < len(text):
        size = sizes[number % len(sizes)]
        out.append(stream.feed(text[at : at + size]))
        at += size
        number += 1
    return "".join([*out, stream.finish()])


@settings(max_examples=40)
@given(
    kind=st.sampled_from([*TOKENS, *KEYS]),
    encoding=st.sampled_from(list(ENCODINGS)),
    seed=st.integers(0, 2**32),
    sizes=st.lists(st.integers(1, 60), min_size=1, max_size=8),
)
def test_no_secret_gets_through_in_pieces(kind, encoding, seed, sizes):
    secret = {**TOKENS, **KEYS}[kind](random.Random(seed))
    text = f"{PROSE}{ENCODINGS[encoding](secret)}\n{PROSE}"

    shown = streamed(text, sizes)

    parts = secret.split("\n")[1:-1] if kind in KEYS else telling(secret)
    assert not [part for part in parts if part[-30:] in read_back(shown)]
    assert shown.startswith(PROSE[:40])


@pytest.mark.parametrize("size", [1, 3, 7])
@pytest.mark.parametrize("text", GIVEN_AWAY)
def test_what_is_given_away_by_its_surroundings_is_screened_in_pieces(text: str, size: int):
    shown = streamed(f"{PROSE}{text}\n{PROSE}", [size])

    assert GIVEN_AWAY[text] not in shown
    assert shown.endswith(PROSE)


@given(st.text(), st.lists(st.integers(1, 9), min_size=1))
def test_pieces_without_a_secret_come_out_as_they_went_in(text: str, sizes: list[int]):
    plain = SCREEN.text(text)

    if plain == text:
        assert streamed(text, sizes) == text


@pytest.mark.parametrize("size", [1, 5, 64])
def test_prose_waits_for_a_few_words_alone(size: int):
    stream = StreamScreen(SCREEN)
    waiting = 0
    text = PROSE * 20
    given_out = 0
    for at in range(0, len(text), size):
        given_out += len(stream.feed(text[at : at + size]))
        waiting = max(waiting, min(at + size, len(text)) - given_out)

    assert waiting <= 40 + size


@pytest.mark.parametrize(
    ("head", "unit", "tail", "mark"),
    [
        (
            "-----BEGIN RSA PRIVATE KEY-----\n",
            "MIIEow" * 10 + "\n",
            "-----END RSA PRIVATE KEY-----\n",
            "private-key",
        ),
        ("sk-ant-api03-", "aB3dE6gH", " ", "anthropic-key"),
        ('password = "', "aB3dE6gH", '"\n', "password"),
        ("Cookie: a=", "aB3dE6gH; b=", "c\n", "cookie"),
    ],
)
def test_a_secret_without_an_end_is_one_mark_and_costs_no_memory(head, unit, tail, mark):
    stream = StreamScreen(SCREEN)
    out = [stream.feed("before\n\n"), stream.feed(head)]
    for _ in range(60):
        out.append(stream.feed(unit * 200))
        assert len(stream._held) < 60_000
    out += [stream.feed(tail), stream.feed("and after it\n"), stream.finish()]

    shown = "".join(out)
    assert unit.strip() not in shown
    assert f"[redacted:{mark}]" in shown
    assert shown.endswith("and after it\n")


def test_what_is_left_of_a_cut_stream_is_screened():
    stream = StreamScreen(SCREEN)
    shown = stream.feed("the key is purple-ele") + stream.feed("phant") + stream.finish()

    assert shown == "the key is [redacted:daemon-token]"
