"""Git's objects, out of data that nobody vouches for, and back.

Whatever the data says of itself, no more is inflated than a :class:`Budget` allows, and no
object is taken under a name that is not its digest.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from dulwich.errors import ApplyDeltaError
from dulwich.pack import apply_delta

#: Of one object, bytes.
MOST_OBJECT: Final = 32 << 20

_CHUNK: Final = 4096
_TYPES: Final = {1: "commit", 2: "tree", 3: "blob", 4: "tag"}
_CODES: Final = {name: code for code, name in _TYPES.items()}
_OFS_DELTA, _REF_DELTA = 6, 7
_HEAD: Final = 12
_SUM: Final = 20
_LONGEST_SIZE: Final = 10


class Unreadable(Exception):
    """Data that git would not have written."""


class TooMuch(Exception):
    """More than is read, in words."""


class Obj(NamedTuple):
    """An object: ``commit``, ``tree``, ``blob`` or ``tag``, and what it says."""

    type: str
    data: bytes


#: Objects by their ids.
Objects = MutableMapping[str, Obj]


@dataclass(slots=True)
class Budget:
    """How much may still be inflated.

    Attributes:
        size: bytes, of all objects together.
        count: objects.
    """

    size: int
    count: int

    def spend(self, size: int) -> None:
        """Take in an object of ``size`` bytes.

        Raises:
            TooMuch: that is more than is left.
        """
        if size > min(self.size, MOST_OBJECT):
            raise TooMuch(f"an object of {size} bytes, which is more than is read")
        if self.count <= 0:
            raise TooMuch("more objects than are read")
        self.size -= size
        self.count -= 1


def object_id(kind: str, data: bytes) -> str:
    """The name of an object."""
    return hashlib.sha1(b"%s %d\0" % (kind.encode(), len(data)) + data).hexdigest()  # noqa: S324


def put(objects: Objects, kind: str, data: bytes) -> str:
    """Add an object; gives its id."""
    name = object_id(kind, data)
    objects[name] = Obj(kind, data)
    return name


def inflate(data: bytes, at: int, most: int) -> tuple[bytes, int]:
    """What a zlib stream at ``at`` holds, and where it ends.

    Raises:
        Unreadable: it is no such stream, or does not end.
        TooMuch: it holds more than ``most`` bytes.
    """
    engine = zlib.decompressobj()
    parts: list[bytes] = []
    size = 0
    rest = b""
    while not engine.eof:
        if not rest:
            rest = data[at : at + _CHUNK]
            at += len(rest)
            if not rest:
                raise Unreadable("a zlib stream that does not end")
        try:
            part = engine.decompress(rest, most + 1 - size)
        except zlib.error as error:
            raise Unreadable(f"no zlib stream: {error}") from error
        rest = engine.unconsumed_tail
        size += len(part)
        if size > most:
            raise TooMuch(f"an object of more than {most} bytes")
        parts.append(part)
    return b"".join(parts), at - len(engine.unused_data)


def read_loose(data: bytes, budget: Budget) -> Obj:
    """The object of a file of its own.

    Raises:
        Unreadable: it is none.
        TooMuch: it is larger than the budget allows.
    """
    whole, _ = inflate(data, 0, min(budget.size, MOST_OBJECT))
    head, found, content = whole.partition(b"\0")
    kind, _, size = head.partition(b" ")
    if not found or kind.decode("latin-1") not in _CODES or size != b"%d" % len(content):
        raise Unreadable("no object's head")
    budget.spend(len(content))
    return Obj(kind.decode(), content)


class _Delta(NamedTuple):
    offset: int
    base: int | str
    data: bytes


def read_pack(data: bytes, known: Mapping[str, Obj], budget: Budget) -> dict[str, Obj]:
    """The objects of a pack; ``known`` holds bases that it may leave out.

    Raises:
        Unreadable: it is no pack, or not a whole one.
        TooMuch: it holds more than the budget allows.
    """
    version, count = (int.from_bytes(data[at : at + 4], "big") for at in (4, 8))
    if len(data) < _HEAD + _SUM or data[:4] != b"PACK" or version not in {2, 3}:
        raise Unreadable("no pack")
    if hashlib.sha1(data[:-_SUM]).digest() != data[-_SUM:]:  # noqa: S324 - git's own
        raise Unreadable("a pack whose checksum is wrong")
    by_offset: dict[int, Obj] = {}
    deltas: list[_Delta] = []
    at, end = _HEAD, len(data) - _SUM
    for _ in range(count):
        offset = at
        code, base, content, at = _entry(data, at, end, budget)
        if base is None:
            by_offset[offset] = Obj(_TYPES[code], content)
        else:
            deltas.append(_Delta(offset, base, content))
    if at != end:
        raise Unreadable("a pack with something after its objects")
    return _resolved(by_offset, deltas, known, budget)


def _entry(
    data: bytes, at: int, end: int, budget: Budget
) -> tuple[int, int | str | None, bytes, int]:
    """Type, base (its offset or id; ``None``: this is no delta), contents, and the end."""
    offset = at
    code, size, at = _entry_head(data, at, end)
    base: int | str | None = None
    if code == _OFS_DELTA:
        back, at = _offset(data, at, end)
        base = offset - back
    elif code == _REF_DELTA:
        base, at = data[at : at + _SUM].hex(), at + _SUM
    elif code not in _TYPES:
        raise Unreadable(f"an object of type {code} in a pack")
    budget.spend(size)
    content, at = inflate(data, at, size)
    if len(content) != size or at > end:
        raise Unreadable("an object whose size is wrong")
    return code, base, content, at


def _resolved(
    by_offset: Mapping[int, Obj], deltas: Iterable[_Delta], known: Mapping[str, Obj], budget: Budget
) -> dict[str, Obj]:
    """All objects by id, every delta applied to its base."""
    waiting: dict[int | str, list[_Delta]] = {}
    for delta in deltas:
        waiting.setdefault(delta.base, []).append(delta)
    found: dict[str, Obj] = {}
    ready = list(by_offset.items())
    ready += [(-1, known[base]) for base in waiting if isinstance(base, str) and base in known]
    while ready:
        offset, base = ready.pop()
        name = object_id(*base)
        if offset >= 0:
            found[name] = base
        for delta in (*waiting.pop(offset, ()), *waiting.pop(name, ())):
            ready.append((delta.offset, Obj(base.type, _applied(base.data, delta.data, budget))))
    if waiting:
        raise Unreadable("a delta whose base is nowhere")
    return found


def _applied(base: bytes, delta: bytes, budget: Budget) -> bytes:
    _, at = _number(delta, 0, len(delta))
    size, _ = _number(delta, at, len(delta))
    budget.spend(size)
    try:
        return b"".join(apply_delta(base, delta))
    except (ApplyDeltaError, ValueError, IndexError) as error:
        raise Unreadable(f"a wrong delta: {error}") from error


def _entry_head(data: bytes, at: int, end: int) -> tuple[int, int, int]:
    """Type, size, and where the rest begins."""
    if at >= end:
        raise Unreadable("a pack with fewer objects than it says")
    first = data[at]
    size, at = first & 15, at + 1
    if first & 128:
        more, at = _number(data, at, end)
        size |= more << 4
    return (first >> 4) & 7, size, at


def _number(data: bytes, at: int, end: int) -> tuple[int, int]:
    """A number in pieces of seven bits, the lowest first."""
    value = 0
    for place in range(_LONGEST_SIZE):
        if at >= end:
            break
        value |= (data[at] & 127) << (7 * place)
        at += 1
        if not data[at - 1] & 128:
            return value, at
    raise Unreadable("a number that does not end")


def _offset(data: bytes, at: int, end: int) -> tuple[int, int]:
    """How far back the base of a delta lies."""
    value = -1
    for _ in range(_LONGEST_SIZE):
        if at >= end:
            break
        value = (value + 1) << 7 | data[at] & 127
        at += 1
        if not data[at - 1] & 128:
            return value, at
    raise Unreadable("an offset that does not end")


def write_pack(objects: Iterable[Obj]) -> bytes:
    """A pack, not compressed: it never goes far, and nobody should wait for it."""
    chunks = list(_entries(objects))
    head = b"PACK" + (2).to_bytes(4, "big") + len(chunks).to_bytes(4, "big")
    body = head + b"".join(chunks)
    return body + hashlib.sha1(body).digest()  # noqa: S324 - git's own


def _entries(objects: Iterable[Obj]) -> Iterator[bytes]:
    for kind, data in objects:
        rest = len(data) >> 4
        head = [_CODES[kind] << 4 | len(data) & 15]
        while rest:
            head[-1] |= 128
            head.append(rest & 127)
            rest >>= 7
        yield bytes(head) + zlib.compress(data, 0)
