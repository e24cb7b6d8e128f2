"""Compressed pieces inside data, where a secret would not be seen: what agents pack and commit.

gzip, zlib (also the objects and packs of a git repository), zip, bzip2, xz and lzma are found as
they are, wherever they begin, and in base64; a deflate stream without a header is found where the
data begins with it. Only what can be decompressed counts, and no more of a piece than :data:`MOST`
bytes, so that a bomb costs little. Uuencoded lines, each of which says its own length, are pieces
too.
"""

from __future__ import annotations

import base64
import binascii
import bz2
import contextlib
import lzma
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Protocol

MOST = 4 << 20
_FIRST, _PIECE = 1 << 12, 1 << 16
_TRIES = 1 << 18  # of one head: data that is nothing but beginnings must cost little too
_PACKED = re.compile(
    rb"(?<![A-Za-z0-9+/_-])(?:H4sI|eJ|eN|eA|eF|UEsDB|Qlpo|_Td6WF|/Td6WF)[A-Za-z0-9+/_-]{20,1400000}"
    rb"(?:(?:\r?\n|\\r?\\n|\\n)[A-Za-z0-9+/_-]{1,120}){0,20000}={0,2}"
)
_BASE64_HEADS = (b"H4sI", b"eJ", b"eN", b"eA", b"eF", b"UEsDB", b"Qlpo", b"Td6WF")
_LINES = re.compile(rb"\s|\\[rn]")
_UU = re.compile(
    rb"^(?:begin [0-7]{3,4} [^\n]{1,200}\n(?:[!-M][ -`]{1,61}\r?\n)+|(?:M[ -`]{60}\r?\n)+)"
    rb"(?:[!-M][ -`]{1,61}\r?$)?",
    re.MULTILINE,
)
_LZMA_MEMORY = 64 << 20
_ZIP, _ZIP_HEADER = b"PK\x03\x04", 30


class _Machine(Protocol):
    """A decompressor, as all of the standard library's are."""

    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: memoryview, max_length: int, /) -> bytes: ...


@dataclass(frozen=True, slots=True)
class _Format:
    """How compressed data begins, and what undoes it."""

    head: bytes
    machine: Callable[[], _Machine]
    at_once: bool = True  # whether something comes out of the first few bytes


_FORMATS = (
    _Format(b"\x1f\x8b\x08", partial(zlib.decompressobj, 31)),
    *(_Format(b"x" + level, zlib.decompressobj) for level in (b"\x01", b"^", b"\x9c", b"\xda")),
    _Format(_ZIP, partial(zlib.decompressobj, -15)),
    _Format(b"BZh", bz2.BZ2Decompressor, at_once=False),
    _Format(b"\xfd7zXZ\0", lzma.LZMADecompressor, at_once=False),
    _Format(
        b"]\0\0",
        partial(lzma.LZMADecompressor, lzma.FORMAT_ALONE, _LZMA_MEMORY),
        at_once=False,
    ),
)
_BARE = _Format(b"", partial(zlib.decompressobj, -15))

Piece = tuple[int, int, bytes]


def inflated(data: bytes, suspects: Callable[[bytes], bool]) -> list[Piece]:
    """Start, end and contents of each compressed piece whose contents are suspect, in order."""
    kept: list[Piece] = []
    for piece in sorted(_pieces(data)):
        if (not kept or piece[0] >= kept[-1][1]) and suspects(piece[2]):
            kept.append(piece)
    return kept


def _pieces(data: bytes) -> Iterator[Piece]:
    yield from _plain_pieces(data)
    if found := _inflate(data, 0, _BARE):
        yield 0, found[1], found[0]
    for match in _UU.finditer(data):
        yield match.start(), match.end(), _undone(match[0])
    if any(head in data for head in _BASE64_HEADS):
        for match in _PACKED.finditer(data):
            for _, _, inner in _plain_pieces(_decode(match[0])):
                yield match.start(), match.end(), inner


def _plain_pieces(data: bytes) -> Iterator[Piece]:
    for form in _FORMATS:
        at = data.find(form.head)
        for _ in range(_TRIES):
            if at < 0:
                break
            if found := _inflate(data, at, form):
                yield at, found[1], found[0]
            at = data.find(form.head, at + len(form.head))


def _undone(lines: bytes) -> bytes:
    """What uuencoded lines hold; a line that is none holds nothing."""
    inner = bytearray()
    for line in lines.splitlines():
        with contextlib.suppress(binascii.Error):
            inner += binascii.a2b_uu(line)
    return bytes(inner)


def _decode(text: bytes) -> bytes:
    packed = _LINES.sub(b"", text).rstrip(b"=").translate(bytes.maketrans(b"-_", b"+/"))
    return base64.b64decode(packed[: len(packed) // 4 * 4] + _tail(packed))


def _tail(packed: bytes) -> bytes:
    rest = packed[len(packed) // 4 * 4 :]
    return rest + b"=" * (4 - len(rest)) if len(rest) > 1 else b""


def _inflate(data: bytes, at: int, form: _Format) -> tuple[bytes, int] | None:
    """What is inside the piece that begins at ``at``, damaged or cut as it may be, and its end."""
    at += _zip_header(data, at) if form.head == _ZIP else 0
    machine, inner, size = form.machine(), bytearray(), _FIRST
    with memoryview(data) as view:
        try:
            while at < len(data) and len(inner) < MOST:
                piece = view[at : at + size]
                inner += machine.decompress(piece, MOST - len(inner))
                at += len(piece)
                if machine.eof:
                    at -= len(machine.unused_data)
                    break
                if form.at_once and not inner:
                    return None
                size = _PIECE
        except (zlib.error, lzma.LZMAError, OSError, EOFError):
            pass  # what came out so far came out
    return (bytes(inner), min(at, len(data))) if inner else None


def _zip_header(data: bytes, at: int) -> int:
    """The length of the header of a file in an archive."""
    name, extra = data[at + 26 : at + 28], data[at + 28 : at + 30]
    return _ZIP_HEADER + int.from_bytes(name, "little") + int.from_bytes(extra, "little")
