"""Secrets encoded in ways that no protocol asks for, and every language has at hand."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from random import Random

import pytest

from harness.screen.secrets import Screen, plant

CANARIES = plant(["TOKEN", "OTHER"], Random(5))
RAW = CANARIES["TOKEN"].encode()
SCREEN = Screen(CANARIES)

ENCODINGS: Mapping[str, Callable[[bytes], bytes]] = {
    "base85": lambda data: base64.b85encode(data, pad=False),
    "ascii85": lambda data: base64.a85encode(data, pad=False),
    "base64 of base64": lambda data: base64.b64encode(base64.b64encode(data)),
    "base64 of hex": lambda data: base64.b64encode(data.hex().encode()),
    "hex of base64": lambda data: base64.b64encode(data).hex().encode(),
    "octal": lambda data: "".join(f"{byte:03o}" for byte in data).encode(),
    "octal, apart": lambda data: " ".join(f"{byte:03o}" for byte in data).encode(),
    "binary": lambda data: " ".join(f"{byte:08b}" for byte in data).encode(),
}


@pytest.mark.parametrize("before", range(5))
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_an_encoded_secret_is_found_whatever_stands_before_it(encoding, before):
    data = b"see: " + ENCODINGS[encoding](b"k" * before + RAW + b"\n") + b" ok"

    screened, marks = SCREEN.screen(data)

    assert [mark.name for mark in marks] == ["TOKEN"]
    assert screened.startswith(b"see: ")
    assert SCREEN.screen(screened)[1] == ()


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_what_is_encoded_and_no_secret_stays_as_it_is(encoding):
    data = ENCODINGS[encoding](Random(1).randbytes(5000))

    assert SCREEN.screen(data) == (data, ())
