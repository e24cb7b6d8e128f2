"""Compressed pieces inside data: gzip as it is, gzip and zlib in base64.

Only what can be decompressed counts, and no more of it than :data:`MOST` bytes, so that a
bomb costs little.
"""

from __future__ import annotations

import base64
import re
import zlib
from collections.abc import Callable, Iterator

MOST = 4 << 20
_GZIP = b"\x1f\x8b\x08"
_HEADS = (b"H4sI", b"eJ", b"eN", b"eA", b"eF")
_PACKED = re.compile(
    rb"(?<![A-Za-z0-9+/_-])(?:H4sI|eJ|eN|eA|eF)[A-Za-z0-9+/_-]{20,1400000}"
    rb"(?:(?:\r?\n|\\r?\\n|\\n)[A-Za-z0-9+/_-]{1,120}){0,20000}={0,2}"
)
_LINES = re.compile(rb"\s|\\[rn]")


def inflated(data: bytes, suspects: Callable[[bytes], bool]) -> Iterator[tuple[int, int, bytes]]:
    """Start, end and contents of each compressed piece whose contents are suspect."""
    if any(head in data for head in _HEADS):
        for match in _PACKED.finditer(data):
            inner = _inflate(_decode(match[0]))
            if inner is not None and suspects(inner[0]):
                yield match.start(), match.end(), inner[0]
    at = data.find(_GZIP)
    while at >= 0:
        end = at + len(_GZIP)
        found = _inflate(data[at:])
        if found is not None and suspects(found[0]):
            end = at + found[1]
            yield at, end, found[0]
        at = data.find(_GZIP, end)


def _decode(text: bytes) -> bytes:
    packed = _LINES.sub(b"", text).rstrip(b"=").translate(bytes.maketrans(b"-_", b"+/"))
    return base64.b64decode(packed[: len(packed) // 4 * 4] + _tail(packed))


def _tail(packed: bytes) -> bytes:
    rest = packed[len(packed) // 4 * 4 :]
    return rest + b"=" * (4 - len(rest)) if len(rest) > 1 else b""


def _inflate(data: bytes) -> tuple[bytes, int] | None:
    """What is inside, and how many bytes of ``data`` it took."""
    try:
        machine = zlib.decompressobj(wbits=47)
        inner = machine.decompress(data, MOST)
    except zlib.error:
        return None
    return (inner, len(data) - len(machine.unused_data)) if inner else None
