"""Objects are read as git wrote them, and hostile ones cost no more than they may."""

from __future__ import annotations

import hashlib
import subprocess
import tracemalloc
import zlib
from pathlib import Path

import pytest

from harness.git.objects import (
    MOST_OBJECT,
    Budget,
    Obj,
    TooMuch,
    Unreadable,
    inflate,
    object_id,
    read_loose,
    read_pack,
    write_pack,
)

TEXT = b"some text, long enough to be worth a delta\n" * 50
BLOB = Obj("blob", TEXT)


def budget(size: int = 1 << 20, count: int = 1000) -> Budget:
    return Budget(size, count)


def packed(*entries: bytes, count: int | None = None) -> bytes:
    number = len(entries) if count is None else count
    body = b"PACK" + (2).to_bytes(4, "big") + number.to_bytes(4, "big") + b"".join(entries)
    return body + hashlib.sha1(body).digest()


def number(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def entry(code: int, data: bytes, size: int | None = None, base: bytes = b"") -> bytes:
    size = len(data) if size is None else size
    head = bytes([code << 4 | size & 15 | (128 if size > 15 else 0)])
    more = number(size >> 4) if size > 15 else b""
    return head + more + base + zlib.compress(data)


def delta(base: bytes, size: int, *ops: bytes) -> bytes:
    return number(len(base)) + number(size) + b"".join(ops)


def copied(size: int) -> bytes:
    """An instruction: ``size`` bytes from the start of the base."""
    return bytes([0x80 | 0x10 | 0x20, size & 255, size >> 8])


def test_a_pack_of_ours_is_read_by_git_and_by_us(tmp_path: Path):
    path = tmp_path / "a.pack"
    pack = write_pack([BLOB, Obj("blob", b"")])
    path.write_bytes(pack)

    subprocess.run(["git", "index-pack", "--strict", path], check=True, capture_output=True)

    expected = {object_id(*BLOB): BLOB, object_id("blob", b""): Obj("blob", b"")}
    assert read_pack(pack, {}, budget()) == expected


def test_a_pack_of_git_with_deltas_is_read(tmp_path: Path):
    def git(*words: str, text: bytes = b"") -> bytes:
        return subprocess.run(
            ["git", *words], cwd=tmp_path, check=True, capture_output=True, input=text
        ).stdout

    git("init", "--quiet")
    ids = [
        git("hash-object", "-w", "--stdin", text=TEXT * 9 + b"%d\n" % n).decode().strip()
        for n in range(20)
    ]
    pack = git("pack-objects", "--stdout", "--delta-base-offset", text="\n".join(ids).encode())
    assert len(pack) < len(TEXT) * 9

    assert sorted(read_pack(pack, {}, budget())) == sorted(ids)


@pytest.mark.parametrize("thin", [True, False])
def test_a_base_may_be_left_out_if_it_is_known(thin):
    base = bytes.fromhex(object_id(*BLOB))
    pack = packed(entry(7, delta(TEXT, 10, copied(10)), base=base))
    known = {object_id(*BLOB): BLOB} if thin else {}

    if thin:
        assert list(read_pack(pack, known, budget()).values()) == [Obj("blob", TEXT[:10])]
    else:
        with pytest.raises(Unreadable, match="base"):
            read_pack(pack, known, budget())


BASE = entry(3, TEXT)
HOSTILE = {
    "empty": b"",
    "no pack": b"PACK" + b"\0" * 30,
    "wrong checksum": packed(BASE)[:-1] + b"?",
    "more objects than there are": packed(BASE, count=1 << 31),
    "fewer objects than there are": packed(BASE, BASE, count=1),
    "cut stream": packed(BASE[:-4]),
    "no stream": packed(bytes([0x35]) + b"hello world"),
    "size too small": packed(entry(3, TEXT, size=len(TEXT) + 1)),
    "unknown type": packed(entry(5, b"x")),
    "endless number": packed(bytes([0xB0]) + b"\xff" * 40),
    "delta before the pack": packed(BASE, entry(6, b"", base=b"\xff\xff\x7f")),
    "delta of itself": packed(entry(6, b"", base=b"\0")),
    "wrong delta": packed(BASE, entry(6, b"\x05\x05hello", base=number(len(BASE)))),
    "ids in a ring": packed(entry(7, b"\0\0", base=b"a" * 20), entry(7, b"\0\0", base=b"b" * 20)),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_no_pack_is_told(name):
    with pytest.raises(Unreadable):
        read_pack(HOSTILE[name], {}, budget())


ZEROS = bytes(MOST_OBJECT)
BOMBS = {
    "declared": packed(entry(3, b"", size=1 << 40)),
    "undeclared": packed(entry(3, ZEROS, size=100)),
    "many": packed(*[entry(3, b"%d" % n) for n in range(1001)]),
    "by delta": packed(
        entry(3, bytes(65535)),
        entry(6, delta(bytes(65535), 65535 * 900, *[copied(65535)] * 900),
              base=bytes([len(entry(3, bytes(65535)))])),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_left_before_it_goes_off(name):
    tracemalloc.start()
    try:
        with pytest.raises(TooMuch):
            read_pack(BOMBS[name], {}, budget())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert peak < 4 << 20


def test_a_loose_object_is_read():
    assert read_loose(zlib.compress(b"blob 5\0hello"), budget()) == Obj("blob", b"hello")


@pytest.mark.parametrize(
    "data", [b"", b"hello", zlib.compress(b"blob 4\0hello"), zlib.compress(b"tree"),
             zlib.compress(b"bl\xffob 0\0"), zlib.compress(b"blob 5\0hello")[:-3]]
)  # fmt: skip
def test_what_is_no_loose_object_is_told(data):
    with pytest.raises(Unreadable):
        read_loose(data, budget())


def test_a_loose_bomb_is_left():
    with pytest.raises(TooMuch):
        read_loose(zlib.compress(b"blob %d\0" % len(ZEROS) + ZEROS), budget())


def test_a_stream_ends_where_it_ends():
    data = zlib.compress(TEXT)

    assert inflate(b"xx" + data + b"more", 2, len(TEXT)) == (TEXT, 2 + len(data))
