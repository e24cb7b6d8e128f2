"""Looking at the processes of a sandbox from outside, through its own ``/proc``."""

from __future__ import annotations

import contextlib
import os
import struct
from typing import Any

_SLOT = 32  # bytes in the shim's table of reads: a name of 16, a state of 8, a count of 8
_LATE = 8  # and what comes for each slot after all of them: a count of late reads
_ARGUMENTS = 1 << 16
_DEAD = frozenset("ZXx")
_LOOKS = 20


def pids(proc: str) -> list[int]:
    """Every process but pid 1, as the kernel lists them: in ascending order."""
    return sorted(int(name) for name in os.listdir(proc) if name.isdigit() and name != "1")


def states(proc: str) -> dict[int, str]:
    """The state letter of each process; nothing that is read here can wait for its memory."""
    found = {}
    for pid in pids(proc):
        with contextlib.suppress(OSError, IndexError, ValueError):
            found[pid] = _state(_stat(_liveliest(f"{proc}/{pid}")))
    return found


def listing(proc: str, before: dict[int, str]) -> list[dict[str, Any]]:
    """Every process but pid 1, zombies among them.

    A process that replaces itself faster than it can be looked at is never found in place, so
    a look under which something vanished is taken again, and what vanishes every time counts
    as running.

    Args:
        proc: where the sandbox's ``/proc`` is.
        before: states from before everything was frozen, which would show as another.
    """
    found: list[dict[str, Any]] = []
    gone: list[int] = []
    for _ in range(_LOOKS):
        found, gone = [], []
        for pid in pids(proc):
            try:
                found.append(_look(f"{proc}/{pid}", pid, before))
            except (OSError, IndexError, ValueError):
                gone.append(pid)
        if not gone:
            break
    return found + [_vanished(pid) for pid in gone]


def blocks(folder: str, signum: int) -> bool:
    """Whether a process, given by its folder, holds a signal back."""
    return bool(int(_told(folder, b"SigBlk:"), 16) >> (signum - 1) & 1)


def filters(folder: str) -> int:
    """How many system-call filters it carries; ``StopIteration`` where the kernel does not tell."""
    return int(_told(folder, b"Seccomp_filters:"))


def _told(folder: str, what: bytes) -> bytes:
    lines = _read(f"{folder}/status").splitlines()
    return next(line.split()[1] for line in lines if line.startswith(what))


def _vanished(pid: int) -> dict[str, Any]:
    return {"pid": pid, "ppid": 0, "state": "R", "argv": ["[vanished]"], "uid": -1}


def _look(folder: str, pid: int, before: dict[int, str]) -> dict[str, Any]:
    thread = _liveliest(folder)
    stat, status = _stat(thread), _read(f"{thread}/status")
    name = stat[stat.index(b"(") + 1 : stat.rindex(b")")]
    state = _state(stat)
    uid = next(line.split()[1] for line in status.splitlines() if line.startswith(b"Uid:"))
    argv = _read(f"{thread}/cmdline").removesuffix(b"\0").split(b"\0")
    return {
        "pid": pid,
        "ppid": int(stat[stat.rindex(b")") + 2 :].split()[1]),
        "state": state if state in _DEAD else before.get(pid, state),
        "argv": [os.fsdecode(word) for word in argv]
        if argv != [b""]
        else [f"[{os.fsdecode(name)}]"],
        "uid": int(uid),
    }


def _liveliest(folder: str) -> str:
    """The folder of a thread that speaks for a process: the first one that is not dead.

    A program may end its first thread and go on in others; that one alone is then a zombie.
    """
    if _state(_stat(folder)) in _DEAD:
        for task in sorted(map(int, os.listdir(f"{folder}/task"))):
            with contextlib.suppress(OSError, IndexError):
                thread = f"{folder}/task/{task}"
                if _state(_stat(thread)) not in _DEAD:
                    return thread
    return folder


def _stat(folder: str) -> bytes:
    return _read(f"{folder}/stat")


def _state(stat: bytes) -> str:
    return chr(stat[stat.rindex(b")") + 2])


def _read(path: str) -> bytes:
    with open(path, "rb", buffering=0) as file:
        return file.read(_ARGUMENTS) or b""


def clock_reads(table: bytes) -> tuple[dict[str, int], dict[str, int]]:
    """The shim's counters by program name: of all reads, and of those at or past the mark."""
    reads: dict[str, int] = {}
    late: dict[str, int] = {}
    slots = len(table) // (_SLOT + _LATE)
    for number in range(slots):
        name, ready, count = struct.unpack_from("=16sQQ", table, number * _SLOT)
        (past,) = struct.unpack_from("=Q", table, slots * _SLOT + number * _LATE)
        if ready:
            text = os.fsdecode(name.split(b"\0")[0])
            reads[text] = reads.get(text, 0) + count
            late[text] = late.get(text, 0) + past
    return reads, late
