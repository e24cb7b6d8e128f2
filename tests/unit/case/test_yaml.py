"""YAML to plain data: the core types, exact places, and limits."""

from __future__ import annotations

import contextlib
import json
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from harness.case import yaml as reader
from harness.case.errors import CaseErrors
from harness.case.yaml_build import MAX_DEPTH, MAX_NODES


@pytest.fixture(params=["libyaml", "python"], autouse=True)
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch):
    if request.param == "python":
        monkeypatch.setattr(reader, "_LOADER", yaml.SafeLoader)


def data(text: str) -> Any:
    document = reader.parse(text, "x.yaml")
    assert document.errors == ()
    return document.data


def read(text: str) -> reader.Document:
    document = reader.parse(text, "x.yaml")
    if document.errors:
        raise CaseErrors(document.errors)
    return document


def refused(text: str) -> str:
    with pytest.raises(CaseErrors) as caught:
        read(text)
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"),
        ("yes", "yes"),
        ("on", "on"),
        ("true", True),
        ("FALSE", False),
        ("012", 12),
        ("0o14", 12),
        ("0x1F", 31),
        ("1:30", "1:30"),
        ("1_000", "1_000"),
        ("+7", 7),
        ("-7", -7),
        ("1.5", 1.5),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("1.", 1.0),
        (".", "."),
        ("-", [None]),
        ("2031-02-03", "2031-02-03"),
        ("2031-02-03T04:05:06Z", "2031-02-03T04:05:06Z"),
        ("~", None),
        ("null", None),
        ("", None),
        ("'12'", "12"),
        ('"true"', "true"),
        ("! 12", "12"),
        ("!!str 12", "12"),
        ("!!int 012", 12),
        ("|\n  12\n", "12\n"),
        ("=", "="),
        ("0b1", "0b1"),
        ("9" * 300, int("9" * 300)),
    ],
)
def test_plain_text_means_what_yaml_1_2_says(text: str, value: object):
    found = data(f"a: {text}\n" if text != "-" else "a:\n- \n")["a"]

    assert found == value
    assert type(found) is type(value)


def test_keys_are_text_as_written():
    assert data("{1: a, no: b, ~: c, 1.0: d}") == {"1": "a", "no": "b", "~": "c", "1.0": "d"}


def test_every_key_and_value_has_its_place():
    document = reader.parse("a:\n  - {b: c,  d: [e, f]}\n", "x.yaml")

    assert str(document.where(("a", 0, "d", 1))) == "x.yaml:2:20"
    assert str(document.where(("a", 0, "d"), key=True)) == "x.yaml:2:13"
    assert str(document.where(("a", 0, "nope", 7))) == "x.yaml:2:5"
    assert str(document.where()) == "x.yaml:1:1"


def test_columns_count_characters_and_not_bytes():
    document = reader.parse("{é: ü, ö𝄞: x}\n", "x.yaml")

    assert str(document.where(("ö𝄞",))) == "x.yaml:1:12"


def test_an_alias_stands_for_what_its_anchor_made():
    document = reader.parse("a: &x {b: [1]}\nc: *x\n", "x.yaml")

    assert document.data == {"a": {"b": [1]}, "c": {"b": [1]}}
    assert str(document.where(("c", "b", 0))) == "x.yaml:2:4"


def test_windows_line_ends_and_a_byte_order_mark_do_no_harm():
    assert data("\ufeffa: 1\r\nb: 2\r\n") == {"a": 1, "b": 2}


def test_duplicates_are_told_and_the_rest_is_read():
    document = reader.parse("a: 1\nb: {c: 1, c: {d: 2}}\na: 3\n", "x.yaml")

    assert document.data == {"a": 1, "b": {"c": 1}}
    assert [str(error.where) for error in document.errors] == ["x.yaml:2:11", "x.yaml:3:1"]


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b"a: \xff\n", "x.yaml:1:4: the byte 0xff is no UTF-8"),
        ("é: ".encode() + b"\xc3", "x.yaml:1:4: the byte 0xc3"),
        (b"a: 1\nb: \x00\n", "x.yaml:2:4: the character U+0000"),
        (b"a: \x1b[31m\n", "x.yaml:1:4: the character U+001B"),
        ("a: 1".encode("utf-16"), "is UTF-16"),
        ("a: \ufeff".encode(), "U+FEFF"),
    ],
)
def test_bytes_that_are_no_clean_utf_8_are_refused_at_their_place(
    raw: bytes, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    Path("x.yaml").write_bytes(raw)

    with pytest.raises(CaseErrors) as caught:
        reader.read(Path("x.yaml"))

    assert says in str(caught.value)


def bombs() -> dict[str, str]:
    laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)
    )
    quadratic = "a: &a [" + "x, " * 20_000 + "]\nb: [" + "*a, " * 20_000 + "]\n"
    deeper = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}]\n" for n in range(1, 100))
    return {
        "aliases that double": laughs,
        "aliases of something long": quadratic,
        "aliases that nest": deeper,
        "brackets": "[" * 100_000,
        "braces": "{a: " * 100_000,
        "dashes": "- " * 100_000 + "x",
        "questions": "? " * 100_000 + "x",
        "indentation": "".join(" " * n + "a:\n" for n in range(1000)),
        "many values": "[" + "1," * 400_000 + "]",
        "a long number": "a: " + "9" * 900_000,
        "anchors": "".join(f"- &a{n} x\n" for n in range(MAX_NODES + 1)),
    }


@pytest.mark.parametrize("name", bombs())
def test_a_bomb_is_refused_in_no_time(name: str):
    text = bombs()[name]
    started = time.process_time()
    message = refused(text)

    assert len(message) < 500
    assert time.process_time() - started < 10


def test_the_limits_let_pass_what_is_below_them():
    assert data("[" * MAX_DEPTH + "]" * MAX_DEPTH)
    assert len(data("[" + "1," * (MAX_NODES - 1) + "]")) == MAX_NODES - 1
    assert "deep" in refused("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1))
    assert "values" in refused("[" + "1," * (MAX_NODES + 1) + "]")


def test_a_file_beyond_the_limit_is_not_read(tmp_path: Path):
    path = tmp_path / "big.yaml"
    with path.open("wb") as file:
        file.truncate(1 << 40)

    with pytest.raises(CaseErrors, match="more than 1048576"):
        reader.read(path)


@given(st.text())
def test_any_text_is_data_or_refused(text: str):
    with contextlib.suppress(CaseErrors):
        json.dumps(read(text).data, allow_nan=False).encode()


@given(st.text(alphabet="a:-[]{},&*!|>'\"#? \n\t%@`0.~<é", max_size=60))
def test_any_punctuation_is_data_or_refused(text: str):
    with contextlib.suppress(CaseErrors):
        json.dumps(read(text).data, allow_nan=False).encode()
