"""Stands between the daemon and a program that must not survive it. Standard library only.

``python warden.py DESCRIPTOR PROGRAM ARGUMENT…`` starts the program with its own input, output
and errors, and ends it, with whatever came of it, when the other end of the descriptor's pipe is
closed: by the daemon, or by the kernel when the daemon is gone in whatever way.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import sys

_PR_SET_CHILD_SUBREAPER = 36
_LOOK_EVERY = 5_000  # milliseconds between two looks for orphans that have ended
_ROUNDS = 50


def main(words: list[str]) -> int:
    """Start it, wait for its end or the daemon's, and leave nothing behind."""
    lifeline, argv = int(words[0]), words[1:]
    os.set_inheritable(lifeline, False)
    # What loses its parent below becomes ours, and so nothing gets away.
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    child = os.fork()
    if not child:
        _become(argv)
    _let_go()
    code = _wait(child, lifeline)
    _end_descendants()
    return code


def _become(argv: list[str]) -> None:
    try:
        os.execvp(argv[0], argv)  # noqa: S606 - no shell is wanted
    except OSError as error:
        os.write(2, f"{argv[0]}: {error.strerror}\n".encode())
    finally:
        os._exit(127)


def _let_go() -> None:
    """Hold none of the pipes open that are the program's."""
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)


def _wait(child: int, lifeline: int) -> int:
    waiting = select.poll()
    waiting.register(lifeline, select.POLLIN | select.POLLHUP)
    waiting.register(os.pidfd_open(child), select.POLLIN)
    while True:
        ready = [descriptor for descriptor, _ in waiting.poll(_LOOK_EVERY)]
        for pid, status in _ended():
            if pid == child:
                return max(os.waitstatus_to_exitcode(status), -1) & 0xFF
        if lifeline in ready:
            return 0


def _ended() -> list[tuple[int, int]]:
    found = []
    with contextlib.suppress(ChildProcessError):
        while (each := os.waitpid(-1, os.WNOHANG))[0]:
            found.append(each)
    return found


def _end_descendants() -> None:
    for _ in range(_ROUNDS):
        _ended()
        found = _descendants()
        if not found:
            return
        for pid in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)


def _descendants() -> set[int]:
    parents = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
            parents[int(name)] = int(file.read().rpartition(b")")[2].split()[1])
    found = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {os.getpid()}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
