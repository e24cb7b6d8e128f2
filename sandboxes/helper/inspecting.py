"""What the kernel holds of a program: as it begins, and whether it waits for a pipe.

A program that is to be inspected is traced from before its ``execve`` to right after it: it
stops with its new memory and before its first instruction, is looked at, and is let go for
good. So nothing is missed however short it lives, and nothing of it can interfere.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import struct
from collections.abc import Iterable, Iterator
from typing import Any

from sandboxes.helper import kernel, processes

_TTY = 4  # field of /proc/PID/stat, counted behind the name
_WORD = 8
_POLLED = struct.Struct("=ihh")
_IN = 0x001
_MANY = 4096  # of the descriptors of one call, as many as are looked at
_LONGEST = 1 << 20

#: What waits for a descriptor to be read, and how it names it: as an argument (``fd``), in an
#: array (``poll``), as a bit (``select``), or in a set of the kernel's (``epoll``).
_WAITS = {
    "x86_64": {
        0: "fd", 19: "fd", 275: "fd", 276: "fd", 7: "poll", 271: "poll", 23: "select",
        270: "select", 232: "epoll", 281: "epoll", 441: "epoll",
    },
    "aarch64": {
        63: "fd", 65: "fd", 76: "fd", 77: "fd", 73: "poll", 72: "select", 22: "epoll",
        441: "epoll",
    },
}.get(kernel.MACHINE, {})  # fmt: skip


def beginning(pid: int) -> dict[str, Any] | None:
    """Look at a child that is traced and about to begin, and let it go.

    ``None`` where it was killed before it began.
    """
    status = os.waitid(os.P_PID, pid, os.WEXITED | os.WSTOPPED | os.WNOWAIT)
    if status is None or status.si_code != os.CLD_TRAPPED:
        return None
    try:
        return _look(f"/proc/{pid}")
    except OSError:  # killed while it was looked at
        return None
    finally:
        with contextlib.suppress(ProcessLookupError):
            kernel.let_go(pid, 0 if status.si_status == signal.SIGTRAP else status.si_status)


def _look(folder: str) -> dict[str, Any]:
    environ = _read(f"{folder}/environ").split(b"\0")
    uid = next(
        line.split()[1] for line in _read(f"{folder}/status").splitlines() if line[:4] == b"Uid:"
    )
    stat = _read(f"{folder}/stat")
    return {
        "env": dict(os.fsdecode(word).partition("=")[::2] for word in environ if b"=" in word),
        "uid": int(uid),
        "stdin": os.readlink(f"{folder}/fd/0"),
        "terminal": stat[stat.rindex(b")") + 2 :].split()[_TTY] != b"0",
    }


def waiting(proc: str, pipe: int) -> int:
    """How many threads wait for something to read from a pipe, given by its inode."""
    name = f"pipe:[{pipe}]"
    count = 0
    for pid in processes.pids(proc):
        with contextlib.suppress(OSError):
            tasks = os.listdir(f"{proc}/{pid}/task")
            count += sum(_waits(f"{proc}/{pid}/task/{task}", name) for task in tasks)
    return count


def _waits(folder: str, pipe: str) -> bool:
    with contextlib.suppress(OSError, ValueError, OverflowError):
        number, *words = _read(f"{folder}/syscall").split()
        how = _WAITS.get(int(number), "")
        if how:
            arguments = [int(word, 16) for word in words]
            return any(_leads(folder, fd, pipe) for fd in _named(folder, how, arguments))
    return False


def _leads(folder: str, fd: int, pipe: str) -> bool:
    with contextlib.suppress(OSError):
        return os.readlink(f"{folder}/fd/{fd}") == pipe
    return False


def _named(folder: str, how: str, arguments: list[int]) -> Iterable[int]:
    """The descriptors that a call waits for to be read."""
    first, second, *_ = arguments
    if how == "fd":
        return [ctypes.c_int(first & 0xFFFFFFFF).value]
    if how == "epoll":
        return _in_set(_read(f"{folder}/fdinfo/{first}"))
    if how == "poll":
        array = _memory(folder, first, min(second, _MANY) * _POLLED.size)
        return [fd for fd, events, _ in _POLLED.iter_unpack(array) if events & _IN]
    bits = int.from_bytes(_memory(folder, second, -(-min(first, _MANY) // 64) * _WORD), "little")
    return [fd for fd in range(min(first, _MANY)) if bits >> fd & 1]


def _in_set(text: bytes) -> Iterator[int]:
    for line in text.splitlines():
        words = line.split()
        if line.startswith(b"tfd:") and int(words[3], 16) & _IN:
            yield int(words[1])


def _memory(folder: str, address: int, size: int) -> bytes:
    if not address or not size:
        return b""
    with open(f"{folder}/mem", "rb", buffering=0) as file:
        return os.pread(file.fileno(), size, address)


def _read(path: str) -> bytes:
    with open(path, "rb", buffering=0) as file:
        text = b""
        while piece := file.read(_LONGEST):
            text += piece
        return text
