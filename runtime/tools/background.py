"""Processes that outlive the call that started them, but never the daemon."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Final

import anyio

from runtime.processes import Ended, Started, start

#: Processes that run at a time.
MOST: Final = 16
#: Ended ones of which is known how they ended.
_KEPT: Final = 64


class Full(Exception):
    """As many processes run as may."""


class Running:
    """A process of the background.

    Attributes:
        id: what it is called.
        started: the process.
        ended: how it ended, once it has.
    """

    def __init__(self, id_: str, started: Started) -> None:
        self.id = id_
        self.started = started
        self.ended: Ended | None = None
        self._over = anyio.Event()

    async def carry(self, most: int) -> None:
        """Read what it writes, until its end."""
        try:
            self.ended = await self.started.end(math.inf, most)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is this process's alone
            self.ended = Ended(1, b"", f"{type(error).__name__}: {error}\n".encode())
        self._over.set()

    async def wait(self) -> None:
        """Wait until it has ended, with all that it started."""
        await self._over.wait()


class Background:
    """A table of processes. They end when it is left: ``async with Background() as background``."""

    def __init__(self) -> None:
        self._group = anyio.create_task_group()
        self._table: dict[str, Running] = {}
        self._count = 0

    async def __aenter__(self) -> Background:
        await self._group.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._group.cancel_scope.cancel()
        # Told of the error, the group would wrap it.
        await self._group.__aexit__(None, None, None)

    async def start(
        self, argv: Sequence[str], folder: Path, environment: Mapping[str, str], most: int
    ) -> Running:
        """Start a process that goes on.

        Args:
            argv: the program and its arguments; no shell.
            folder: where it works.
            environment: all of it.
            most: bytes of each stream that are kept.

        Raises:
            Full: as many run as may.
            ProgramMissing: there is no such program.
            OSError: the folder cannot be worked in.
        """
        if sum(each.ended is None for each in self._table.values()) >= MOST:
            raise Full(f"{MOST} processes run in the background; end one first")
        started = await start(argv, folder=folder, environment=environment)
        self._count += 1
        running = Running(f"bg-{self._count}", started)
        self._table[running.id] = running
        self._forget()
        self._group.start_soon(running.carry, most)
        return running

    def get(self, id_: str) -> Running | None:
        """The process of a name."""
        return self._table.get(id_)

    def _forget(self) -> None:
        ended = [each.id for each in self._table.values() if each.ended]
        for id_ in ended[: max(len(ended) - _KEPT, 0)]:
            del self._table[id_]
