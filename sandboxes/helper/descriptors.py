"""The limit of open descriptors of what the agent runs in a sandbox, changed from outside.

Only the soft limit is changed: who lacks a capability, and that may be root, could not give the
hard one back. Who changes a limit must be the user whose process it is.
"""

from __future__ import annotations

import contextlib
import os
import resource
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from sandboxes.helper import launch

_PASSES = 50


@dataclass(slots=True)
class Descriptors:
    """What the soft limits were before they were lowered.

    Attributes:
        pid1: of the sandbox, as we see it.
        uid: of the agent.
    """

    pid1: int
    uid: int
    before: dict[int, int] = field(default_factory=dict)

    def limit(self, count: int) -> None:
        """Lower it for everybody; who is forked meanwhile is found by the next pass."""
        done: set[int] = set()
        for _ in range(_PASSES):
            new = {pid: limit for pid, limit in self._limits() if pid not in done}
            if not new:
                return
            self.before = {**new, **self.before}
            self._set({pid: min(count, limit) for pid, limit in new.items()})
            done |= set(new)

    def give_back(self) -> None:
        """Raise it again; who was born meanwhile gets what everybody begins with."""
        self._set({pid: self.before.get(pid, launch.DESCRIPTORS) for pid, _ in self._limits()})
        self.before.clear()

    def _set(self, limits: Mapping[int, int]) -> None:
        with self._as_agent():
            for pid, limit in limits.items():
                with contextlib.suppress(OSError):  # it ended, or belongs to root
                    hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)[1]
                    resource.prlimit(pid, resource.RLIMIT_NOFILE, (min(limit, hard), hard))

    @contextlib.contextmanager
    def _as_agent(self) -> Iterator[None]:
        """Be the agent's user by the real ids alone, which is what is asked for."""
        uid, gid = os.getuid(), os.getgid()
        if uid == self.uid:
            yield
            return
        os.setresgid(self.uid, -1, -1)
        os.setresuid(self.uid, -1, -1)
        try:
            yield
        finally:
            os.setresuid(uid, -1, -1)
            os.setresgid(gid, -1, -1)

    def _limits(self) -> Iterator[tuple[int, int]]:
        """Everything that lives below pid 1, and its soft limit."""
        below = {self.pid1}
        parents = dict(_parents())
        while more := {pid for pid, parent in parents.items() if parent in below} - below:
            below |= more
        for pid in below - {self.pid1}:
            with contextlib.suppress(OSError):
                yield pid, _soft_limit(pid)


def _parents() -> Iterator[tuple[int, int]]:
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
                yield int(name), int(file.read().rpartition(b") ")[2].split()[1])


def _soft_limit(pid: int) -> int:
    """How many descriptors a process may have open, as it is told."""
    with open(f"/proc/{pid}/limits", encoding="ascii") as file:
        return next(int(line.split()[3]) for line in file if line.startswith("Max open files"))
