"""Who works in a state folder: one daemon alone, or single tasks beside each other.

The lock is the kernel's, so it ends with whoever has it, however that one ends.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from dataclasses import dataclass

from runtime.errors import AgentdError
from runtime.places import Places


class FolderBusy(AgentdError):
    """Somebody else works in the folder."""


@contextlib.contextmanager
def alone(places: Places) -> Iterator[None]:
    """Have the folder for oneself.

    Raises:
        FolderBusy: a daemon, or a task, is at work there.
    """
    with _opened(places) as lock:
        if not _taken(lock, fcntl.LOCK_EX):
            said = os.pread(lock, 32, 0).decode("ascii", "replace").strip()
            who = f"the process {said}" if said else "another agentd"
            raise FolderBusy(f"{who} works in {places.folder}", "use that one, or stop it first")
        os.ftruncate(lock, 0)
        os.pwrite(lock, f"{os.getpid()}\n".encode(), 0)
        yield


@dataclass(frozen=True, slots=True)
class Share:
    """A part in the folder.

    Attributes:
        first: whether nobody else has one; until :meth:`settle`, nobody else gets one.
    """

    first: bool
    _lock: int

    def settle(self) -> None:
        """Let others in."""
        fcntl.flock(self._lock, fcntl.LOCK_SH)


@contextlib.contextmanager
def beside(places: Places) -> Iterator[Share | None]:
    """Share the folder with others that do; ``None`` where somebody has it for himself."""
    with _opened(places) as lock:
        if _taken(lock, fcntl.LOCK_EX):
            os.ftruncate(lock, 0)
            yield Share(True, lock)
        elif _taken(lock, fcntl.LOCK_SH):
            yield Share(False, lock)
        else:
            yield None


@contextlib.contextmanager
def _opened(places: Places) -> Iterator[int]:
    places.make()
    lock = os.open(places.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        yield lock
    finally:
        os.close(lock)


def _taken(lock: int, how: int) -> bool:
    try:
        fcntl.flock(lock, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
