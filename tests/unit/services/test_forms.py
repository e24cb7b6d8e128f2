"""A request says the same in each of the forms that clients put it in."""

from __future__ import annotations

import json
from urllib.parse import quote, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.services.base import Incoming
from harness.services.chat.forms import File, fields, nested, number_of

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
NAMES = st.text("abcxyz_", min_size=1, max_size=8)
BOUNDARY = "----b0undary"


def asked(body: bytes = b"", kind: str = "", path: str = "/x") -> Incoming:
    return Incoming(1, "POST", path, {"content-type": kind} if kind else {}, body)


def multipart(given: dict[str, str], file: bytes) -> bytes:
    parts = [
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n{value}\r\n'.encode()
        for key, value in given.items()
    ]
    head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="f.bin"\r\n'
    kind = "Content-Type: image/png\r\n\r\n"
    return b"".join([*parts, (head + kind).encode(), file, f"\r\n--{BOUNDARY}--\r\n".encode()])


@given(said=st.dictionaries(NAMES, TEXT, max_size=4))
def test_a_request_says_the_same_in_every_form(said):
    form = urlencode(said, quote_via=quote)
    ways = [
        asked(json.dumps(said).encode(), "application/json; charset=utf-8"),
        asked(form.encode(), "application/x-www-form-urlencoded"),
        asked(path=f"/x?{form}"),
    ]

    assert [fields(way) for way in ways] == [said] * 3


@given(
    said=st.dictionaries(NAMES.filter(lambda name: name != "file"), TEXT, max_size=3),
    data=st.binary(max_size=200),
)
def test_a_file_comes_beside_the_rest_as_it_was(said, data):
    found = fields(asked(multipart(said, data), f"multipart/form-data; boundary={BOUNDARY}"))

    assert found == {**said, "file": File("f.bin", "image/png", data)}


@given(
    body=st.binary(max_size=100),
    kind=st.sampled_from(
        [
            "application/json",
            "application/x-www-form-urlencoded",
            "multipart/form-data; boundary=x",
            "multipart/form-data",
            "text/plain",
            "",
        ]
    ),
)
def test_whatever_a_body_holds_it_can_be_read(body, kind):
    assert all(isinstance(name, str) for name in fields(asked(body, kind)))


@pytest.mark.parametrize("body", [b"[1]", b"7", b"{", b"[" * 100_000])
def test_json_that_is_no_map_says_nothing(body):
    assert fields(asked(body, "application/json")) == {}


def test_a_value_may_come_as_it_is_or_as_json_in_a_text():
    assert nested({"a": 1}) == nested('{"a": 1}') == {"a": 1}
    assert nested("{") is None
    assert (number_of("7", 0), number_of(7, 0), number_of("x", 3), number_of(None, 4)) == (
        7,
        7,
        3,
        4,
    )
