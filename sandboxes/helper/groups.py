"""The control groups of one sandbox, through descriptors of their folders."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

_POLL = 0.0005


@dataclass(slots=True)
class Group:
    """The groups of one sandbox.

    Attributes:
        by_name: descriptor of the folder for ``memory``, ``pids``, ``freezer``.
        folders: each folder once.
        unified: whether memory is version 2.
        unified_freezer: whether the freezer is version 2.
        ours: how many processes in it are not the subject's.
    """

    by_name: Mapping[str, int]
    folders: Sequence[int]
    unified: bool
    unified_freezer: bool
    ours: int = 0

    def entrances(self) -> list[int]:
        """Descriptors of files: a process of one thread that writes 0 to each has joined.

        Version 1 has ``tasks``, which moves a thread without the lock over all processes of
        the machine that ``cgroup.procs`` takes; on an idle machine that lock costs 15 ms.
        """
        return [_entrance(fd) for fd in self.folders]

    def limit_memory(self, size: int) -> None:
        """Limit memory, with no swap beside it."""
        folder = self.by_name["memory"]
        if self.unified:
            write(folder, "memory.max", size)
            with contextlib.suppress(FileNotFoundError):
                write(folder, "memory.swap.max", 0)
            return
        names = ["memory.limit_in_bytes", "memory.memsw.limit_in_bytes"]
        if size > _counter(read(folder, names[0])):  # the sum may never be below the part
            names.reverse()
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                write(folder, name, size)

    def limit_pids(self, count: int) -> None:
        """Limit processes and threads."""
        write(self.by_name["pids"], "pids.max", count + self.ours)

    def freeze(self, *, on: bool, timeout: float) -> bool:
        """Stop or continue everything; whether the kernel confirmed it in time."""
        folder = self.by_name["freezer"]
        if self.unified_freezer:
            write(folder, "cgroup.freeze", int(on))
            name, wanted = "cgroup.events", f"frozen {int(on)}"
        else:
            wanted = "FROZEN" if on else "THAWED"
            name = "freezer.state"
            write(folder, name, wanted)
        deadline = time.monotonic() + timeout
        while wanted not in read(folder, name):
            if time.monotonic() > deadline:
                return False
            time.sleep(_POLL)
        return True

    def counters(self) -> dict[str, int | None]:
        """What the kernel counted for this sandbox."""
        memory, pids = self.by_name.get("memory"), self.by_name.get("pids")
        oom = peak = refused = None
        if memory is not None:
            oom = _field(
                memory, "memory.events" if self.unified else "memory.oom_control", "oom_kill"
            )
            peak = _optional(memory, "memory.peak" if self.unified else "memory.max_usage_in_bytes")
        if pids is not None:
            refused = _field(pids, "pids.events", "max")
        return {"oom_kills": oom, "memory_peak": peak, "pids_refused": refused}

    def close(self) -> None:
        """Close the descriptors; the groups stay."""
        for fd in self.folders:
            os.close(fd)


def remove(parent: int, name: str) -> bool:
    """Kill what is in a group, then remove it and its children; whether it is gone."""
    try:
        folder = os.open(name, os.O_RDONLY | os.O_DIRECTORY, dir_fd=parent)
    except FileNotFoundError:
        return True
    try:
        children = [e.name for e in os.scandir(folder) if e.is_dir(follow_symlinks=False)]
        for child in children:
            remove(folder, child)
        for pause in _pauses():
            _kill(folder)
            try:
                os.rmdir(name, dir_fd=parent)
            except FileNotFoundError:
                return True
            except OSError:
                time.sleep(pause)
            else:
                return True
        return False
    finally:
        os.close(folder)


def _entrance(folder: int) -> int:
    try:
        return os.open("tasks", os.O_WRONLY, dir_fd=folder)
    except FileNotFoundError:
        return os.open("cgroup.procs", os.O_WRONLY, dir_fd=folder)


def _pauses() -> Iterator[float]:
    """Waits that grow to about one second in all."""
    pause = 0.0002
    while pause < 0.3:
        yield pause
        pause *= 1.5


def _kill(folder: int) -> None:
    with contextlib.suppress(OSError):  # version 1's freezer holds the dying back
        write(folder, "freezer.state", "THAWED")
    with contextlib.suppress(OSError):
        for pid in read(folder, "cgroup.procs").split():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)


def read(folder: int, name: str) -> str:
    """The text of a control file."""
    fd = os.open(name, os.O_RDONLY, dir_fd=folder)
    try:
        return os.read(fd, 1 << 16).decode("ascii", "replace")
    finally:
        os.close(fd)


def write(folder: int, name: str, value: object) -> None:
    """Write a value to a control file."""
    fd = os.open(name, os.O_WRONLY, dir_fd=folder)
    try:
        os.write(fd, str(value).encode())
    finally:
        os.close(fd)


def _counter(text: str) -> int:
    return 1 << 63 if text.strip() == "max" else int(text)


def _optional(folder: int, name: str) -> int | None:
    try:
        return int(read(folder, name))
    except (OSError, ValueError):
        return None


def _field(folder: int, name: str, wanted: str) -> int | None:
    try:
        text = read(folder, name)
    except OSError:
        return None
    return next(
        (int(v) for k, _, v in (s.partition(" ") for s in text.splitlines()) if k == wanted), None
    )
