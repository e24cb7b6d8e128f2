"""The screen finds a planted secret in every form, and nothing else."""

from __future__ import annotations

import base64
import codecs
import gzip
import html
import json
import textwrap
import time
import urllib.parse
import zlib
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.screen.secrets import Mark, Screen, Stream, plant
from harness.screen.views import bare, bare_with_places

CANARIES = plant(["API_TOKEN", "DB_PASSWORD"], Random(7))
TOKEN = CANARIES["API_TOKEN"]
RAW = TOKEN.encode()
SCREEN = Screen(CANARIES)


def percent(text: str) -> bytes:
    return "".join(f"%{ord(c):02x}" for c in text).encode()


FORMS = {
    "plain": ("plain", RAW),
    "base64": ("base64", base64.b64encode(RAW)),
    "base64 one byte in": ("base64", base64.b64encode(b"x" + RAW + b"yz")),
    "base64 two bytes in": ("base64", base64.b64encode(b"user:" + RAW)),
    "base64 without padding": ("base64", base64.b64encode(RAW).rstrip(b"=")),
    "base64 for urls": ("base64", base64.urlsafe_b64encode(b"\xff\xfe\xfd" + RAW + b"\xfb\xff")),
    "base64 wrapped": (
        "base64",
        "\n".join(textwrap.wrap(base64.b64encode(RAW).decode(), 20)).encode(),
    ),
    "base64 wrapped, in JSON": (
        "base64",
        json.dumps("\n".join(textwrap.wrap(base64.b64encode(RAW).decode(), 20))).encode(),
    ),
    "base64 of UTF-16": ("base64", base64.b64encode(TOKEN.encode("utf-16"))),
    "base64 with percent": ("base64", urllib.parse.quote(base64.b64encode(RAW)).encode()),
    "hex": ("hex", RAW.hex().encode()),
    "HEX": ("hex", RAW.hex().upper().encode()),
    "hex with colons": ("hex", RAW.hex(":").encode()),
    "hex with spaces": ("hex", RAW.hex(" ", 2).encode()),
    "hex literals": ("hex", ", ".join(f"0x{c:02x}" for c in RAW).encode()),
    "hex escapes": ("hex", "".join(f"\\x{c:02x}" for c in RAW).encode()),
    "percent, all of it": ("url", percent(TOKEN)),
    "percent, some of it": ("url", TOKEN.replace("-", "%2D").encode()),
    "percent twice": ("url", percent(TOKEN).replace(b"%", b"%25")),
    "JSON, all of it": ("json", "".join(f"\\u{ord(c):04x}" for c in TOKEN).encode()),
    "JSON, some of it": ("json", TOKEN.replace("-", "\\u002d").encode()),
    "JSON in JSON": ("json", json.dumps(TOKEN.replace("-", "\\u002d")).encode()),
    "HTML decimal": ("html", "".join(f"&#{ord(c)};" for c in TOKEN).encode()),
    "HTML hex": ("html", "".join(f"&#x{ord(c):X};" for c in TOKEN).encode()),
    "octal": ("escaped", "".join(f"\\{c:03o}" for c in RAW).encode()),
    "UTF-16": ("utf-16", TOKEN.encode("utf-16")),
    "UTF-16 big end first": ("utf-16", TOKEN.encode("utf-16-be")),
    "UTF-32": ("utf-16", TOKEN.encode("utf-32")),
    "reversed": ("reversed", RAW[::-1]),
    "rot13": ("rot13", codecs.encode(TOKEN, "rot13").encode()),
    "base32": ("base32", base64.b32encode(RAW)),
    "base32 three bytes in": ("base32", base64.b32encode(b"abc" + RAW)),
    "decimal": ("decimal", str(list(RAW)).encode()),
    "in small letters": ("plain", TOKEN.lower().encode()),
    "split over lines": ("split", "\n".join(textwrap.wrap(TOKEN, 7)).encode()),
    "split with spaces": ("split", " ".join(TOKEN).encode()),
    "glued with quotes and plus": ("split", f'{TOKEN[:9]}" + "{TOKEN[9:]}'.encode()),
    "zero-width spaces": ("split", "\u200b".join(TOKEN).encode()),
    "gzip": ("gzip", gzip.compress(b"x" * 100 + RAW)),
    "gzip in base64": ("gzip", base64.b64encode(gzip.compress(b"some words " + RAW))),
    "zlib in base64": ("gzip", base64.b64encode(zlib.compress(b"some words " + RAW))),
}


@pytest.mark.parametrize(("encoding", "data"), FORMS.values(), ids=FORMS.keys())
def test_a_secret_is_found_in_this_form_and_replaced_by_its_mark(encoding: str, data: bytes):
    before, after = b"before, ", b" and after"
    screened, marks = SCREEN.screen(before + data + after)

    assert marks == (Mark("API_TOKEN", encoding),)
    assert str(marks[0]).encode() in screened
    assert screened.startswith(before)
    assert screened.endswith(after)
    assert SCREEN.screen(screened) == (screened, ())
    assert len(screened) <= len(before) + len(after) + len(str(marks[0])) + 16


#: A compressed piece is found only where it is whole.
STREAMED = {name: form for name, form in FORMS.items() if form[0] != "gzip"}


@pytest.mark.parametrize(("encoding", "data"), STREAMED.values(), ids=STREAMED.keys())
@pytest.mark.parametrize("size", [1, 4096])
def test_a_stream_finds_it_across_the_borders_of_its_pieces(encoding: str, data: bytes, size: int):
    whole = b"begin " * 15_000 + data + b" end" * 15_000
    stream = Stream(SCREEN)
    begin = 6 * 15_000 - 50
    out = [stream.feed(whole[:begin])]
    out += [stream.feed(whole[at : at + size]) for at in range(begin, begin + 3000, size)]
    at = begin + len(range(0, 3000, size)) * size
    out += [stream.feed(whole[at:]), stream.close()]

    assert stream.marks == [Mark("API_TOKEN", encoding)]
    assert b"".join(out) == SCREEN.screen(whole)[0]


def test_a_block_border_hides_nothing():
    for shift in range(0, 120, 17):
        data = b"." * ((1 << 18) - shift) + RAW + b"." * (1 << 18)
        screened, marks = SCREEN.screen(data)
        assert marks == (Mark("API_TOKEN", "plain"),)
        assert RAW not in screened


def test_several_secrets_keep_their_names_and_their_order():
    data = b"a " + CANARIES["DB_PASSWORD"].encode() + b" b " + base64.b64encode(RAW) + b" c"
    screened, marks = SCREEN.screen(data)

    assert marks == (Mark("DB_PASSWORD", "plain"), Mark("API_TOKEN", "base64"))
    assert screened == b"a [secret:DB_PASSWORD:plain] b [secret:API_TOKEN:base64] c"
    assert SCREEN.redact(data) == (
        screened,
        ("[secret:DB_PASSWORD:plain]", "[secret:API_TOKEN:base64]"),
    )


def test_without_secrets_the_very_same_data_comes_back():
    data = b"anything " + RAW
    screened, marks = Screen({}).screen(data)

    assert screened is data
    assert marks == ()
    assert Stream(Screen({})).feed(data) is data


def test_a_secret_that_would_be_found_everywhere_is_refused():
    with pytest.raises(ValueError, match="fewer than"):
        Screen({"PIN": "1234"})


def test_another_trials_canary_is_no_hit():
    other = plant(["API_TOKEN"], Random(8))["API_TOKEN"]
    data = f"sk-canary- {other} {base64.b64encode(other.encode()).decode()} {other[::-1]}".encode()

    assert SCREEN.screen(data) == (data, ())


def test_almost_the_secret_is_no_hit():
    assert SCREEN.screen(RAW[:-1]) == (RAW[:-1], ())
    assert SCREEN.screen(RAW[1:]) == (RAW[1:], ())
    assert SCREEN.screen(RAW[:-1] + b"0" + RAW[-1:])[1] == ()


@given(st.binary(max_size=3000))
def test_data_without_a_secret_comes_back_unchanged(data: bytes):
    assert SCREEN.screen(data) == (data, ())


@given(st.binary(max_size=300), st.sampled_from(list(FORMS.values())), st.binary(max_size=300))
def test_no_surroundings_hide_a_secret(before: bytes, form: tuple[str, bytes], after: bytes):
    encoding, data = form
    if encoding in {"gzip", "base64", "base32", "utf-16"}:
        before, after = b"<" + before + b"\n<", b">" + after
    else:
        before, after = before + b"\n~", b"~" + after
    screened, marks = SCREEN.screen(before + data + after)

    assert marks
    assert RAW not in screened
    assert bare(RAW) not in bare(screened)


@given(
    st.binary(max_size=500)
    | st.from_regex(rb"(%[0-9a-f]{2}|\\u00[0-9a-f]{2}|\\n|&#[0-9]{2};|[a-z]){0,80}", fullmatch=True)
)
def test_both_ways_of_laying_bare_agree(data: bytes):
    text, starts, ends = bare_with_places(data)

    assert text == bare(data)
    assert len(text) == len(starts) == len(ends)
    assert starts == sorted(starts)
    assert all(start < end for start, end in zip(starts, ends, strict=True))


def test_text_with_undecodable_bytes_survives():
    text = "caf\udce9 " + TOKEN

    assert SCREEN.text(text) == (
        "caf\udce9 [secret:API_TOKEN:plain]",
        (Mark("API_TOKEN", "plain"),),
    )


def test_canaries_are_new_in_each_trial_and_the_same_for_the_same_seed():
    assert plant(["A"], Random(1)) == plant(["A"], Random(1))
    assert plant(["A"], Random(1)) != plant(["A"], Random(2))
    planted = plant(["A", "B"], Random(1))
    assert planted["A"] != planted["B"]
    assert all(len(value) >= 32 for value in planted.values())


def test_many_megabytes_of_clean_output_take_time_in_proportion():
    line = b'2031-02-03 04:05:06 INFO {"path": "/a/b%20c", "text": "a\\nb \\u00e9", "n": 0x1f}\n'
    screen = Screen(plant([f"T{n}" for n in range(14)], Random(3)))
    small, big = line * 12_000, line * 48_000

    def seconds(data: bytes) -> float:
        begun = time.perf_counter()
        assert screen.screen(data) == (data, ())
        return time.perf_counter() - begun

    once, fourfold = min(seconds(small) for _ in range(3)), min(seconds(big) for _ in range(3))
    assert fourfold < 12 * once + 0.1
    assert fourfold / len(big) * 100e6 < 60


def test_a_bomb_is_not_inflated_beyond_its_limit():
    bomb = base64.b64encode(gzip.compress(b"\0" * (64 << 20)))
    begun = time.perf_counter()
    assert SCREEN.screen(bomb) == (bomb, ())
    assert time.perf_counter() - begun < 5


def test_html_entities_beside_a_secret_do_not_hide_it():
    data = html.escape(f'<a href="?t={TOKEN}&x=1">').encode()

    assert SCREEN.screen(data)[1] == (Mark("API_TOKEN", "plain"),)
