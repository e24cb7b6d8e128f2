"""What models write is taken for what it is, and comes back in a form that every protocol takes."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.model.base import LONGEST, MOST_CALLS, Asked, ModelError
from runtime.model.reading import Pieces, Text, arguments_of, distinct, named, sound

PLAIN = re.compile(r"[A-Za-z0-9_-]{1,64}")


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("", {}),
        (" \n", {}),
        ('{"a": 1}', {"a": 1}),
        ('{"a": ["\\ud83d\\ude00", null]}', {"a": ["\U0001f600", None]}),
    ],
)
def test_arguments_are_read_and_fit_to_be_stored(written: str, found: Any):
    assert arguments_of(written) == (found, "")


@pytest.mark.parametrize(
    "written",
    [
        "{",
        '{"a": 1',
        "[]",
        "3",
        "null",
        '"text"',
        '{"a": NaN}',
        '{"a": 1e999}',
        '{"a": "\\ud800"}',
        '{"a": {"\\udfff": 1}}',
        '{"a": ["x\\u0000"]}',
        "[" * 100_000,
        '{"a":' * 5000 + "1" + "}" * 5000,
        "1" * 5000,
    ],
)
def test_what_is_no_object_is_told_and_never_taken_for_one(written: str):
    found, problem = arguments_of(written)
    assert found is None
    assert problem.startswith("the arguments are no ")


@given(st.text(alphabet=st.characters(exclude_categories=())))
def test_a_sound_text_can_be_stored_anywhere(text: str):
    assert "\0" not in sound(text).encode().decode()


@given(st.lists(st.text(alphabet=st.characters(exclude_categories=()), max_size=80), max_size=20))
def test_ids_are_distinct_and_names_are_ones_that_are_taken_back(ids: list[str]):
    calls = [Asked(each, each, {}) for each in ids]
    taken = frozenset(ids[:3])
    found = distinct(calls, taken)
    chosen = [call.id for call in found]
    assert len(set(chosen)) == len(chosen)
    assert not set(chosen) & taken
    for each in chosen:
        assert PLAIN.fullmatch(each)
        json.dumps(each).encode()
    assert all(PLAIN.fullmatch(named(each)) for each in ids)


def test_what_goes_on_for_ever_is_cut():
    call = Pieces("a", "run")
    call.add("x" * LONGEST)
    with pytest.raises(ModelError, match="longer than"):
        call.add("x")
    with pytest.raises(ModelError, match="more than 100 calls"):
        distinct([Asked("", "run", {})] * (MOST_CALLS + 1), frozenset())


def test_halves_of_a_character_are_put_together_and_a_half_alone_is_no_text():
    text = Text()
    for piece in ("a\ud83d", "\ude00\0"):
        text.add(piece)
    assert str(text) == "a\U0001f600\\x00"
    text.add("\ud83d")
    with pytest.raises(ValueError, match="half of a character"):
        str(text)
