"""Data laid bare: escapes undone, capitals small, and nothing left but letters and digits.

:func:`bare` is what is searched; :func:`bare_with_places` also tells where in the data each
character came from, and is for the few places where something was found.
"""

from __future__ import annotations

import re

_ESCAPE = re.compile(
    rb"%(?:25)*([0-9A-Fa-f]{2})"
    rb"|\\+u\{?0{0,6}([0-9A-Fa-f]{2})\}?"
    rb"|\\+x([0-9A-Fa-f]{2})"
    rb"|&#[xX]0{0,6}([0-9A-Fa-f]{2});?"
    rb"|(?<![0-9A-Za-z])0[xX]([0-9A-Fa-f]{2})(?![0-9A-Za-z])"
    rb"|\\+([0-3][0-7]{2})"
    rb"|&#0{0,6}([0-9]{2,3});?"
    rb"|\\+[nrtbfv]"
)
_BASES = (16, 16, 16, 16, 16, 8, 10)
_SIGNS = (b"%", b"\\", b"&#", b"0x", b"0X")
_SMALL = bytes(c + 32 if 65 <= c <= 90 else c for c in range(256))
_DROPPED = bytes(c for c in range(256) if not (c < 128 and chr(c).isalnum()))
_KEPT = re.compile(rb"[0-9A-Za-z]")
_DEPTH = 3


def bare(data: bytes) -> bytes:
    """The data laid bare."""
    for _ in range(_DEPTH):
        if not any(sign in data for sign in _SIGNS):
            break
        changed = _ESCAPE.sub(_undo, data)
        if changed == data:
            break
        data = changed
    return data.translate(_SMALL, _DROPPED)


def bare_with_places(data: bytes) -> tuple[bytes, list[int], list[int]]:
    """The data laid bare, and for each of its characters where its writing starts and ends."""
    starts, ends = list(range(len(data))), list(range(1, len(data) + 1))
    for _ in range(_DEPTH):
        changed, starts, ends = _undone(data, starts, ends)
        if changed == data:
            break
        data = changed
    kept = [match.start() for match in _KEPT.finditer(data)]
    return data.translate(_SMALL, _DROPPED), [starts[i] for i in kept], [ends[i] for i in kept]


def _undone(data: bytes, starts: list[int], ends: list[int]) -> tuple[bytes, list[int], list[int]]:
    out = bytearray()
    new_starts: list[int] = []
    new_ends: list[int] = []
    at = 0
    for match in _ESCAPE.finditer(data):
        first, after = match.span()
        out += data[at:first]
        new_starts += starts[at:first]
        new_ends += ends[at:first]
        if undone := _undo(match):
            out += undone
            new_starts.append(starts[first])
            new_ends.append(ends[after - 1])
        at = after
    out += data[at:]
    return bytes(out), new_starts + starts[at:], new_ends + ends[at:]


def _undo(match: re.Match[bytes]) -> bytes:
    if match.lastindex is None:
        return b""
    return bytes([int(match[match.lastindex], _BASES[match.lastindex - 1]) & 0xFF])
