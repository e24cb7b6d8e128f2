"""Each kind of secret is found, in each way of writing it down."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime.screen.screen import Screen
from tests.unit.runtime.screen.decoding import read_back
from tests.unit.runtime.screen.planted import ENCODINGS, KEYS, TOKENS, lines

SCREEN = Screen()
WORDS = ("The quick", "fox; jumped", "over 12 lazy", "dogs.", "x = f(1)", "{", "}", "— é", "\n", "")


def telling(secret: str) -> list[str]:
    """Parts of a secret none of which may be left, its fixed beginning apart."""
    middle = len(secret) // 2
    return [secret[middle - 7 : middle + 7], secret[-14:]]


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("kind", TOKENS)
def test_a_token_survives_in_no_encoding(kind: str, encoding: str):
    secret = TOKENS[kind](random.Random(f"{kind} {encoding}"))
    text = f"before it {ENCODINGS[encoding](secret)} after it"

    shown = SCREEN.text(text)

    assert not [part for part in telling(secret) if part in read_back(shown)], text
    assert SCREEN.text(shown) == shown
    assert shown.startswith("before it ")


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_the_decoder_of_these_tests_reads_what_is_not_screened(encoding: str):
    secret = TOKENS["anthropic-key"](random.Random(encoding))

    assert all(part in read_back(ENCODINGS[encoding](secret)) for part in telling(secret))


@pytest.mark.parametrize("kind", TOKENS)
def test_a_token_is_named_by_its_kind_and_what_is_around_it_stays(kind: str):
    secret = TOKENS[kind](random.Random(kind))
    shown = SCREEN.text(f"before {secret}\nafter")

    name = max((each for each in (span.kind for span in SCREEN.spans(secret))), key=len)
    assert kind.startswith(name)
    assert shown.removeprefix("before ").removesuffix("\nafter").endswith(f"[redacted:{name}]")


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("kind", KEYS)
def test_a_private_key_survives_in_no_encoding_and_is_refused(kind: str, encoding: str):
    secret = KEYS[kind](random.Random(f"{kind} {encoding}"))
    text = f"before it {ENCODINGS[encoding](secret)} after it"

    shown = SCREEN.text(text)

    body = secret.split("\n")[1:-1]
    assert not [line for line in body if line[10:40] in read_back(shown)]
    assert SCREEN.text(shown) == shown
    assert SCREEN.refuses(text)
    assert not SCREEN.refuses(shown)


@pytest.mark.parametrize("kind", KEYS)
def test_a_private_key_that_is_cut_off_is_redacted_to_the_end(kind: str):
    secret = KEYS[kind](random.Random(kind))

    assert SCREEN.text(f"a\n{secret[:200]}") == "a\n[redacted:private-key]"


def test_a_private_key_without_its_first_line_is_redacted():
    secret = KEYS["rsa-private-key"](random.Random(3)).split("\n", 1)[1]

    assert SCREEN.text(f"see:\n{secret}\nend") == "see:\n[redacted:private-key]\nend"


@settings(max_examples=40)
@given(
    kind=st.sampled_from([*TOKENS, *KEYS]),
    encoding=st.sampled_from(list(ENCODINGS)),
    seed=st.integers(0, 2**32),
    words=st.lists(st.sampled_from(WORDS) | st.text(max_size=8), max_size=12),
    at=st.integers(0, 12),
    width=st.integers(1, 80),
    wrapped=st.booleans(),
)
def test_a_secret_in_any_text_survives_nowhere(kind, encoding, seed, words, at, width, wrapped):
    secret = {**TOKENS, **KEYS}[kind](random.Random(seed))
    written = ENCODINGS["plain" if wrapped else encoding](secret)
    written = lines(written, width, "\n") if wrapped else written
    text = " ".join([*words[:at], written, *words[at:]])

    shown = SCREEN.text(text)

    parts = secret.split("\n")[1:-1] if kind in KEYS else telling(secret)
    assert not [part for part in parts if part[-30:] in read_back(shown)]
    assert SCREEN.text(shown) == shown
    spans = SCREEN.spans(text)
    assert all(a.end <= b.start for a, b in itertools.pairwise(spans))
    assert all(0 <= span.start < span.end <= len(text) for span in spans)


@given(st.text())
def test_any_text_is_survived_and_screened_once(text: str):
    shown = SCREEN.text(text)

    assert SCREEN.text(shown) == shown
