"""One call of a watched program that waits for its answer, and what can be learned about it.

What it asks is read out of the memory of the process that waits, and its descriptors are looked
at in ``/proc`` or taken as copies. Whatever was read is of that process as long as the kernel
says that this very call still waits.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sandboxes.helper import calls, copies, kernel, numbers, resolving

_RECEIVE, _SEND, _STILL_WAITS = 0xC0502100, 0xC0182101, 0x40082102
_NOTICE = struct.Struct("=QIIiIQ6Q")
_ANSWER = struct.Struct("=QqiI")
_GO_ON = 1
_EXCHANGE = 2
_EMPTY = bytes(_NOTICE.size)
_PAGE, _PIECE, _LONGEST = 4096, 256, 4096
_GONE = b" (deleted)"
_VECTOR = struct.Struct("=QQ")
_MOST_VECTORS = 1024
_MOST_BYTES = 2**63 - 1
#: Whether it takes vectors, and which argument says where.
_WRITES = {
    "write": (False, -1),
    "pwrite64": (False, 3),
    "writev": (True, -1),
    "pwritev": (True, 3),
    "pwritev2": (True, 3),
}
_NUMBERS: Mapping[str, int] = numbers.MACHINES.get(kernel.MACHINE, (0, {}))[1]
_CALLS: Mapping[int, tuple[calls.Call, ...]] = calls.calls()


@dataclass(frozen=True, slots=True)
class Place:
    """Where a path of a call leads, and how much of it is there."""

    named: calls.Named
    path: bytes
    missing: bytes

    def act(self, flags: int) -> str:
        """See :func:`.calls.act`."""
        folder = b"/" not in self.missing
        return calls.act(self.named, flags, there=not self.missing, folder=folder)


class Caller:
    """A call that waits."""

    root = -1  # of the sandbox, opened by whoever has it
    namespace = 0  # inode of its mount namespace

    def __init__(self, listener: int) -> None:
        """Take the next one of a listener; ``OSError`` where it was given up meanwhile."""
        notice = bytearray(_EMPTY)
        fcntl.ioctl(listener, _RECEIVE, notice)
        self.listener = listener
        self._identity, pid, _, number, _, _, *arguments = _NOTICE.unpack(notice)
        self.pid: int = pid
        self.number: int = number
        self.arguments: tuple[int, ...] = tuple(arguments)
        self.call = calls.understand(_CALLS[number], arguments)
        self._places: list[Place] | None = None

    @property
    def key(self) -> tuple[int, ...]:
        """What is the same when it was interrupted and comes again."""
        return (self.pid, self.number, *self.arguments)

    def answer(self, value: int = 0, error: int = 0, *, go_on: bool = False) -> bool:
        """Let it go on, or have it give a value or an error; whether it still waited for that."""
        packed = _ANSWER.pack(self._identity, value, -error, _GO_ON if go_on else 0)
        try:
            fcntl.ioctl(self.listener, _SEND, packed)
        except OSError:  # it was interrupted or killed meanwhile; it did not happen
            return False
        return True

    def still_waits(self) -> bool:
        """Whether what was read so far was of the process that asked."""
        try:
            fcntl.ioctl(self.listener, _STILL_WAITS, self._identity.to_bytes(8, "little"))
        except OSError:
            return False
        return True

    def places(self) -> list[Place]:
        """Where its paths lead; empty where that cannot be read.

        A descriptor of what has no path, such as a pipe, leads nowhere and is left out.
        """
        if self._places is None:
            follow = self.call.follows(self.arguments)
            try:
                found = [self._find(named, follow=follow) for named in self.call.paths]
            except OSError:
                found = []
            self._places = [place for place in found if place.path]
        return self._places

    def renamed(self) -> list[bytes]:
        """What is there that it gives another name by renaming; both where they are exchanged."""
        if self.call.verb != "rename":
            return []
        swaps = self.number == _NUMBERS["renameat2"] and self.arguments[4] & _EXCHANGE
        return [
            place.path
            for place in self.places()
            if not place.missing and (swaps or place.named.act == "drop")
        ]

    def flags(self) -> int:
        """The flags of an open, the mode of an access, or the kind of a lock."""
        if self.call.flags < 0:
            return calls.CREAT_FLAGS
        argument = self.arguments[self.call.flags]
        return int.from_bytes(self.read(argument, 8), "little") if self.call.behind else argument

    def sees_the_same(self) -> bool:
        """Whether what the paths lead to is what they lead to in the sandbox itself."""
        return os.stat(f"/proc/{self.pid}/ns/mnt").st_ino == self.namespace

    def acts(self) -> list[str]:
        """What it does to each of its places, see :func:`.calls.act`; ``OSError`` likewise."""
        places, flags = self.places(), self.flags()
        vain = len(places) > 1 and places[0].missing
        return ["look" if vain else place.act(flags) for place in places]

    def all_acts(self) -> list[tuple[str, ...]]:
        """The same with what is done besides: nothing, one thing, or two to each."""
        flags = self.flags()
        return [
            (act, "read") if calls.reads_too(place.named, flags, act) else (act,) if act else ()
            for place, act in zip(self.places(), self.acts(), strict=True)
        ]

    def read(self, address: int, size: int) -> bytes:
        """Memory of the process; all of it or ``OSError``."""
        data = kernel.read_memory(self.pid, address, size) if size else b""
        if len(data) != size:
            raise OSError(errno.EFAULT, "memory that is not all there")
        return data

    def is_called(self, name: str) -> bool:
        """Whether it is the call of this name."""
        return _NUMBERS.get(name) == self.number

    def to_write(self) -> tuple[list[tuple[int, int]], int]:
        """The pieces of memory that a write is to write, address and size, and where to.

        Where is -1 for the offset of the open file. ``OSError`` where it is no such call, or one
        that the kernel will refuse.
        """
        form = next((form for name, form in _WRITES.items() if self.is_called(name)), None)
        if form is None:
            raise OSError(errno.EINVAL, "no write")
        vectors, offset = form
        _, address, size, *_ = self.arguments
        pieces = [(address, size)]
        if vectors:
            if size > _MOST_VECTORS:
                raise OSError(errno.EINVAL, "more pieces than the kernel takes")
            pieces = list(_VECTOR.iter_unpack(self.read(address, size * _VECTOR.size)))
        if sum(length for _, length in pieces) > _MOST_BYTES:
            raise OSError(errno.EINVAL, "more bytes than the kernel takes")
        where = ctypes.c_int64(self.arguments[offset]).value if offset >= 0 else -1
        if where < 0 <= offset and not (where == -1 and self.is_called("pwritev2")):
            raise OSError(errno.EINVAL, "an offset that the kernel refuses")
        return pieces, where

    def read_pieces(self, pieces: Sequence[tuple[int, int]], most: int) -> bytes:
        """The first bytes of some pieces of memory."""
        data = b""
        for address, length in pieces:
            data += self.read(address, min(length, most - len(data)))
        return data

    def descriptor(self, argument: int) -> int:
        """A copy of the descriptor that an argument names; the caller closes it."""
        return copies.copy(self.pid, _descriptor(self.arguments[argument]))

    def free_descriptors(self, limit: int) -> int:
        """How many more the process may have open, if it may have ``limit``."""
        return limit - sum(int(name) < limit for name in os.listdir(f"/proc/{self.pid}/fd"))

    def _find(self, named: calls.Named, *, follow: bool) -> Place:
        if named.text < 0:
            return Place(named, self._open_on(self._link(named)), b"")
        at = self.arguments[named.text]
        path = self._text(at) if at else b""
        if not path.startswith(b"/"):
            base = os.readlink(self._link(named))
            path = base + b"/" + path if path else base
        return Place(named, *resolving.resolve(self.root, path, follow=follow, me=self._selves))

    def _selves(self) -> tuple[bytes, bytes]:
        """What ``/proc/self`` and ``/proc/thread-self`` are for it, inside."""
        with open(f"/proc/{self.pid}/status", "rb") as file:
            fields = dict(line.split(b":", 1) for line in file)
        process, thread = (fields[name].split()[-1] for name in (b"NStgid", b"NSpid"))
        return process, process + b"/task/" + thread

    def _link(self, named: calls.Named) -> bytes:
        fd = _descriptor(self.arguments[named.folder]) if named.folder >= 0 else calls.AT_FDCWD
        return f"/proc/{self.pid}/{'cwd' if fd == calls.AT_FDCWD else f'fd/{fd}'}".encode()

    def _open_on(self, link: bytes) -> bytes:
        """The name of what a descriptor is of; empty where that has none."""
        path = os.readlink(link)
        if not path.startswith(b"/") or (path.endswith(_GONE) and not os.stat(link).st_nlink):
            return b""
        return path

    def _text(self, address: int) -> bytes:
        """The string at an address; it is read page by page."""
        text = b""
        while len(text) < _LONGEST:
            size = min(_PIECE, _PAGE - address % _PAGE)
            piece, end, _ = kernel.read_memory(self.pid, address, size).partition(b"\0")
            text += piece
            if end:
                return text
            address += size
        raise OSError(errno.ENAMETOOLONG, "a path without an end")


def _descriptor(argument: int) -> int:
    return ctypes.c_int(argument & 0xFFFFFFFF).value
