"""Secrets that a subject packs before it puts them somewhere."""

from __future__ import annotations

import base64
import bz2
import gzip
import io
import json
import lzma
import time
import zipfile
import zlib
from collections.abc import Callable, Mapping
from random import Random

import pytest

from harness.screen.secrets import Screen, plant

CANARIES = plant(["TOKEN"], Random(3))
SCREEN = Screen(CANARIES)
#: A token alone is stored as it is: only among other text does packing hide it.
TEXT = b"export A=1\n" * 30 + CANARIES["TOKEN"].encode() + b"\nexport TOKEN\n" * 30

# Into a git repository as `git add` does it: the object is a zlib stream.
COMMIT = """
import os, zlib
text = os.environ["TOKEN"].encode() * 3
os.makedirs(".git/objects/ab")
with open(".git/objects/ab/cd", "wb") as file:
    file.write(zlib.compress(b"blob %d\\0" % len(text) + text, 1))
"""


def zipped(data: bytes) -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("first", b"nothing")
        file.writestr("second", data)
    return archive.getvalue()


PACKERS: Mapping[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "zlib": lambda data: zlib.compress(data, 6),
    "zlib, fast": lambda data: zlib.compress(data, 1),
    "zlib, best": lambda data: zlib.compress(data, 9),
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zip": zipped,
}
WAYS: Mapping[str, Callable[[bytes], bytes]] = {
    "as it is": lambda data: data,
    "inside other bytes": lambda data: b"\x00PACK\x02" + data + b"\xff" * 20,
    "cut": lambda data: data[:-6],
    "in base64": lambda data: b'{"file": "' + base64.b64encode(data) + b'"}',
    "packed twice": gzip.compress,
}
BEGINNINGS = (
    b"\x1f\x8b\x08",
    b"x^",
    b"x\x9c",
    b"BZh91AY&SY",
    b"PK\x03\x04",
    gzip.compress(b"a", mtime=0),
)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("packer", PACKERS)
def test_a_packed_secret_is_found_and_taken_out(packer, way):
    data = WAYS[way](PACKERS[packer](TEXT))
    assert CANARIES["TOKEN"].encode() not in data

    screened, marks = SCREEN.screen(data)

    assert [mark.name for mark in marks] == ["TOKEN"]
    assert b"[secret:TOKEN:gzip]" in screened
    assert SCREEN.screen(screened)[1] == ()


@pytest.mark.parametrize("beginning", BEGINNINGS)
def test_what_only_begins_like_packed_data_costs_little(beginning):
    data = beginning * ((256 << 10) // len(beginning))
    begun = time.process_time()

    assert SCREEN.screen(data) == (data, ())

    assert time.process_time() - begun < 5


def test_a_secret_committed_to_git_is_told(verdict_of):
    code, trial = verdict_of(
        "commit",
        f"title: t\nsubject: {{command: [python3, -c, {json.dumps(COMMIT)}]}}\n"
        "secrets: [TOKEN]\nexpect: [{secrets: absent}, {exit: 0}]\n",
    )

    assert (code, trial["reasons"]) == (1, ["broke:secrets"])
