"""Looking at the processes of a sandbox from outside, through its own ``/proc``."""

from __future__ import annotations

import contextlib
import os
import struct
from typing import Any

_SLOT = 32  # bytes in the shim's table of reads: a name of 16, a state of 8, a count of 8
_ARGUMENTS = 1 << 16


def listing(proc: str) -> list[dict[str, Any]]:
    """Every process but pid 1, zombies among them."""
    found = []
    for name in os.listdir(proc):
        if name.isdigit() and name != "1":
            with contextlib.suppress(OSError, IndexError, ValueError):
                found.append(_look(f"{proc}/{name}", int(name)))
    return sorted(found, key=lambda process: int(process["pid"]))


def _look(folder: str, pid: int) -> dict[str, Any]:
    stat = _read(f"{folder}/stat")
    name = stat[stat.index(b"(") + 1 : stat.rindex(b")")]
    fields = stat[stat.rindex(b")") + 2 :].split()
    status = _read(f"{folder}/status")
    uid = next(line.split()[1] for line in status.splitlines() if line.startswith(b"Uid:"))
    argv = _read(f"{folder}/cmdline").removesuffix(b"\0").split(b"\0")
    return {
        "pid": pid,
        "ppid": int(fields[1]),
        "state": fields[0].decode("ascii"),
        "argv": [os.fsdecode(word) for word in argv]
        if argv != [b""]
        else [f"[{os.fsdecode(name)}]"],
        "uid": int(uid),
    }


def _read(path: str) -> bytes:
    with open(path, "rb", buffering=0) as file:
        return file.read(_ARGUMENTS) or b""


def clock_reads(table: bytes) -> dict[str, int]:
    """The shim's counters, by program name."""
    reads: dict[str, int] = {}
    for at in range(0, len(table) - _SLOT + 1, _SLOT):
        name, ready, count = struct.unpack_from("=16sQQ", table, at)
        if ready:
            text = os.fsdecode(name.split(b"\0")[0])
            reads[text] = reads.get(text, 0) + count
    return reads
