"""Transactions that are waiting are committed together: the disk is waited for once.

A commit takes as long for one row as for many. What comes while one is on its way is carried out
in the next one, in the order in which it came, and nobody goes on before theirs is on disk.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Final, TypeVar

import anyio
import anyio.to_thread
from sqlalchemy import Connection

T = TypeVar("T")
Work = Callable[[Connection], Any]
#: Works in one transaction, at most.
MOST: Final = 64


class _Job:
    """A work that is waiting, and what came of it."""

    def __init__(self, work: Work) -> None:
        self.work = work
        self.ended = anyio.Event()
        self.result: Any = None
        self.error: Exception | None = None


class Together:
    """Carries works out on a thread, one transaction at a time."""

    def __init__(self, write: Callable[[], AbstractContextManager[Connection]]) -> None:
        self._write = write
        self._turn = anyio.Lock()
        self._waiting: list[_Job] = []

    async def carry_out(self, work: Callable[[Connection], T]) -> T:
        """What a work gives, once it is committed.

        A work can be called a second time, after the first was undone: where another that was
        carried out with it failed, each gets a transaction of its own. Who is cancelled before the
        work began takes it back; after that, the end of it is waited for.
        """
        job = _Job(work)
        self._waiting.append(job)
        try:
            async with self._turn:
                if not job.ended.is_set():
                    await self._commit()
        except anyio.get_cancelled_exc_class():
            if job in self._waiting:
                self._waiting.remove(job)
                raise
            with anyio.CancelScope(shield=True):
                await job.ended.wait()
        if job.error:
            raise job.error
        result: T = job.result
        return result

    async def _commit(self) -> None:
        jobs, self._waiting = self._waiting[:MOST], self._waiting[MOST:]
        try:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(self._carry_out, jobs)
        finally:
            for job in jobs:
                job.ended.set()

    def _carry_out(self, jobs: Sequence[_Job]) -> None:
        try:
            with self._write() as connection:
                for job in jobs:
                    job.result = job.work(connection)
        except Exception as error:  # noqa: BLE001 - it is raised to whoever gave the work
            if len(jobs) == 1:
                jobs[0].error = error
                return
            for job in jobs:
                self._carry_out([job])
