"""Whether processes of a sandbox changed anything in a folder of the host, told by the kernel.

A fanotify mark is on the folder's whole file system, so a change is seen whichever mount it came
through. Who made it is asked from within the sandbox's pid namespace: there the kernel gives a
number to the sandbox's own processes, those that have ended too, and to nobody else. What a file
holds is neither read nor opened. It takes root and Linux 5.9.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sandboxes.helper import kernel

_CLOSE_ON_EXEC, _NONBLOCK, _NAMED = 0x1, 0x2, 0x400 | 0x800
_ADD, _FILE_SYSTEM = 0x1, 0x100
_MODIFY, _META, _MOVED, _MADE, _DROPPED = 0x2, 0x4, 0x40 | 0x80, 0x100, 0x200
_OF_FOLDERS, _OVERFLOW = 0x40000000, 0x4000
_CHANGES = _MODIFY | _META | _MOVED | _MADE | _DROPPED | _OF_FOLDERS
_HEAD = struct.Struct("=IBBHQii")  # length, version, -, length of this, mask, fd, pid
_RECORD = struct.Struct("=BxH")  # kind, length
_FSID, _HANDLE = 8, struct.Struct("=Ii")  # bytes, kind
_BUFFER = 1 << 18
_MOST = 100
_libc = kernel.libc


@dataclass(frozen=True, slots=True)
class Guard:
    """A folder that is guarded.

    Attributes:
        folder: absolute, no link in it.
        group: the fanotify group.
    """

    folder: str
    group: int

    @classmethod
    def begin(cls, folder: str) -> Guard | None:
        """Guard a folder from now on; ``None`` where that cannot be."""
        group = _libc.fanotify_init(_CLOSE_ON_EXEC | _NONBLOCK | _NAMED, os.O_RDONLY)
        if group < 0:
            return None
        mask, path = ctypes.c_uint64(_CHANGES), os.fsencode(folder)
        if _libc.fanotify_mark(group, _ADD | _FILE_SYSTEM, mask, -1, path) < 0:
            os.close(group)
            return None
        return cls(folder, group)

    def paths(self, told: dict[str, Any]) -> list[str]:
        """Which of what :func:`told` gave lies in the folder."""
        folder = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            places = [_place(folder, bytes.fromhex(h), n) for h, n in told["changes"]]
        finally:
            os.close(folder)
        within = self.folder.rstrip("/") + "/"
        return sorted({p for p in places if f"{p}/".startswith(within)})


def told(group: int) -> dict[str, Any]:
    """What processes of our own pid namespace changed, by folder and name; and if that is all."""
    changes: dict[tuple[str, str], None] = {}
    whole = True
    with contextlib.suppress(BlockingIOError):
        while data := os.read(group, _BUFFER):
            at = 0
            while at < len(data):
                length, _, _, head, mask, _, pid = _HEAD.unpack_from(data, at)
                whole = whole and not mask & _OVERFLOW
                if pid and len(changes) < _MOST:
                    changes.update(dict.fromkeys(_named(data[at + head : at + length])))
                at += length
    return {"changes": list(changes), "whole": whole}


def _named(records: bytes) -> Iterator[tuple[str, str]]:
    """The handle of a folder, and the name in it, of each record of an event."""
    at = 0
    while at < len(records):
        _, length = _RECORD.unpack_from(records, at)
        begin = at + _RECORD.size + _FSID
        size, _ = _HANDLE.unpack_from(records, begin)
        end = begin + _HANDLE.size + size
        yield records[begin:end].hex(), os.fsdecode(records[end : at + length].split(b"\0")[0])
        at += length


def _place(folder: int, handle: bytes, name: str) -> str:
    """Where something is; where its folder is gone, only that it was on this file system."""
    buffer = ctypes.create_string_buffer(handle, len(handle))
    fd = _libc.open_by_handle_at(folder, buffer, os.O_PATH)
    if fd < 0:
        return os.readlink(f"/proc/self/fd/{folder}") + f"/[in a folder that is gone]/{name}"
    try:
        return os.path.normpath(os.path.join(os.readlink(f"/proc/self/fd/{fd}"), name))
    finally:
        os.close(fd)
