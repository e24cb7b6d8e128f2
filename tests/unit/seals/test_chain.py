"""The pure parts: a statement in an envelope, and a log of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from securesystemslib.signer import CryptoSigner

from verifiers.seals.chain import NOTHING, read, sha256
from verifiers.seals.envelope import Artifact, Link, Unsound, opened, signed, statement

SIGNER = CryptoSigner.generate_ed25519()
OTHER = CryptoSigner.generate_ed25519()
ABOUT = [Artifact("x", "0" * 64)]
NOW = 2_000_000_000.0
WORDS = st.dictionaries(st.text(), st.text() | st.integers() | st.lists(st.text()), max_size=4)


def chain(count: int, signer: CryptoSigner = SIGNER) -> list[bytes]:
    lines: list[bytes] = []
    for number in range(count):
        prev = sha256(lines[-1]) if lines else NOTHING
        content = statement("urn:x", ABOUT, {"n": number}, Link(number, prev, NOW + number))
        lines.append(signed(content, signer))
    return lines


def found(lines: list[bytes]) -> list[int | None]:
    data = b"".join(line + b"\n" for line in lines)
    return [problem.record for problem in read(data, SIGNER.public_key, "log").problems]


@given(WORDS)
def test_what_was_signed_is_what_is_opened(words):
    content = statement("urn:x", ABOUT, {"words": words}, Link(0, NOTHING, NOW))

    assert opened(signed(content, SIGNER), SIGNER.public_key) == content


@given(st.data())
def test_no_byte_of_a_line_can_be_another(data):
    line = bytearray(chain(1)[0])
    at = data.draw(st.integers(0, len(line) - 1))
    line[at] = data.draw(st.integers(0, 255).filter(lambda byte: byte != line[at]))

    with pytest.raises(Unsound):
        opened(bytes(line), SIGNER.public_key)


@given(st.binary(max_size=300))
def test_what_is_no_line_is_none(data):
    with pytest.raises(Unsound):
        opened(data, SIGNER.public_key)


def test_a_line_of_another_key_names_it():
    with pytest.raises(Unsound) as caught:
        opened(chain(1, OTHER)[0], SIGNER.public_key)

    assert caught.value.keyid == OTHER.public_key.keyid


@given(st.integers(0, 6))
def test_a_log_is_whole_at_any_length(count):
    assert found(chain(count)) == []


@given(st.permutations(range(5)))
def test_lines_in_any_other_order_are_found(order):
    lines = chain(5)

    assert (found([lines[n] for n in order]) == []) == (order == list(range(5)))


@given(st.sets(st.integers(0, 4), max_size=4))
def test_a_line_that_is_missing_before_the_last_is_found(gone):
    kept = [line for number, line in enumerate(chain(6)) if number not in gone]

    assert (found(kept) == []) == (not gone)


@given(st.integers(0, 4), st.integers(0, 5))
def test_a_line_twice_is_found(which, where):
    lines = chain(5)

    assert found([*lines[:where], lines[which], *lines[where:]]) != []


def test_time_that_goes_back_is_found_unless_that_was_mended():
    def log(event: str, back: float) -> bytes:
        first = signed(statement("urn:x", ABOUT, {}, Link(0, NOTHING, NOW)), SIGNER)
        place = Link(1, sha256(first), NOW - back)
        second = signed(statement("urn:x", ABOUT, {"event": event}, place), SIGNER)
        return first + b"\n" + second + b"\n"

    key = SIGNER.public_key
    assert [p.record for p in read(log("x", 10), key, "log", ("reset",)).problems] == [1]
    assert read(log("reset", 10), key, "log", ("reset",)).problems == []
    assert read(log("x", 1), key, "log").problems == []


def test_half_a_line_is_found():
    line = chain(1)[0]

    (problem,) = read(line[:-10], SIGNER.public_key, "log").problems
    assert (problem.record, problem.expected) == (0, "a line with its end")
