"""A database file of SQLite as it would be found by whoever opens it next, as bytes.

A subject that is killed leaves the last transactions in a write-ahead log, or half of one in
the database with the way back in a rollback journal. SQLite itself would put that right, but it
would do so on disk, and a rollback journal may name any file of the machine for it to look at
and to delete. So both are read here, and nothing but the three files is looked at.

The formats are those of https://www.sqlite.org/fileformat2.html.
"""

from __future__ import annotations

import struct
from typing import Final

MAGIC: Final = b"SQLite format 3\0"
_JOURNAL_MAGIC: Final = bytes.fromhex("d9d505f920a163d7")
_JOURNAL = struct.Struct(">8siIIII")
_LOG_MAGIC: Final = 0x377F0682
_LOG = struct.Struct(">8I")
_FRAME = struct.Struct(">6I")
_VERSIONS: Final = slice(18, 20)
_SIZES: Final = frozenset(1 << power for power in range(9, 17))


class Unreadable(ValueError):
    """It is no database, or not one that can be put right."""


def image(database: bytes, log: bytes, journal: bytes) -> bytes:
    """The database with what was committed, and without what was not.

    Args:
        database: the file.
        log: the file with ``-wal`` after its name; empty where there is none.
        journal: likewise ``-journal``.

    Raises:
        Unreadable: it is no database.
    """
    if journal[: len(_JOURNAL_MAGIC)] == _JOURNAL_MAGIC:
        database = _rolled_back(database, journal)
    if log:
        database = _with_log(database, log)
    if not database:
        return b""
    if database[: len(MAGIC)] != MAGIC:
        raise Unreadable("it is no SQLite database")
    plain = bytearray(database)
    plain[_VERSIONS] = b"\1\1"  # no log is beside it any more
    return bytes(plain)


def _rolled_back(database: bytes, journal: bytes) -> bytes:
    """The database before the transaction that its journal is of."""
    pages: dict[int, bytes] = {}
    at, size, first = 0, 0, None
    while len(journal) - at >= _JOURNAL.size:
        magic, count, nonce, pages_before, sector, size_here = _JOURNAL.unpack_from(journal, at)
        if magic != _JOURNAL_MAGIC:
            break
        size, first = size or size_here, pages_before if first is None else first
        if size not in _SIZES or sector not in _SIZES:
            raise Unreadable("its journal is damaged")
        at += sector
        record = 4 + size + 4
        while count and len(journal) - at >= record:
            number = int.from_bytes(journal[at : at + 4], "big")
            page = journal[at + 4 : at + 4 + size]
            told = int.from_bytes(journal[at + 4 + size : at + record], "big")
            if number == 0 or told != _sum_of_page(nonce, page):
                return _put(database, pages, size, first)
            pages.setdefault(number, page)
            at += record
            count -= 1
        at += -at % sector
    return _put(database, pages, size, first or 0)


def _sum_of_page(nonce: int, page: bytes) -> int:
    return (nonce + sum(page[at] for at in range(len(page) - 200, 0, -200))) & 0xFFFFFFFF


def _with_log(database: bytes, log: bytes) -> bytes:
    """The database with every committed transaction of its log."""
    if len(log) < _LOG.size:
        return database
    magic, _, size, _, *salt, sum0, sum1 = _LOG.unpack_from(log)
    if magic & ~1 != _LOG_MAGIC or size not in _SIZES:
        return database
    order = ">" if magic & 1 else "<"
    sums = _checksum(order, (0, 0), log[: _LOG.size - 8])
    if sums != (sum0, sum1):
        return database
    pages: dict[int, bytes] = {}
    committed: dict[int, bytes] = {}
    count = 0
    for at in range(_LOG.size, len(log) - size - _FRAME.size + 1, size + _FRAME.size):
        number, commit, *salt_here, sum0, sum1 = _FRAME.unpack_from(log, at)
        page = log[at + _FRAME.size : at + _FRAME.size + size]
        sums = _checksum(order, _checksum(order, sums, log[at : at + 8]), page)
        if number == 0 or salt_here != salt or sums != (sum0, sum1):
            break
        pages[number] = page
        if commit:
            committed |= pages
            pages, count = {}, commit
    return _put(database, committed, size, count) if committed else database


def _checksum(order: str, before: tuple[int, int], data: bytes) -> tuple[int, int]:
    one, two = before
    words = struct.unpack(f"{order}{len(data) // 4}I", data)
    for even, odd in zip(words[::2], words[1::2], strict=True):
        one = (one + even + two) & 0xFFFFFFFF
        two = (two + odd + one) & 0xFFFFFFFF
    return one, two


def _put(database: bytes, pages: dict[int, bytes], size: int, count: int) -> bytes:
    """The database with these pages in place, ``count`` pages long."""
    if count * size > len(database) + len(pages) * size:
        raise Unreadable("it is shorter than it says")
    changed = bytearray(database[: count * size].ljust(count * size, b"\0"))
    for number, page in pages.items():
        if number <= count:
            changed[(number - 1) * size : number * size] = page
    return bytes(changed)
