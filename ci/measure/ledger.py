"""How fast attempts are reserved and settled, beside what SQLite itself commits.

An attempt is reserved, which looks at every limit, and then settled; each is on disk before whoever
asked for it goes on. Beside an attempt stand two raw commits, a row inserted and that row updated,
through ``sqlite3`` alone, one after the other: the same file system, the same columns and indices,
write-ahead log and ``synchronous=FULL``, and as many rows already there. Runs that are carried on
at the same time share commits; the raw ones never do. The second figure is of a run that is alone.
"""

from __future__ import annotations

import asyncio
import sqlite3
import tempfile
import uuid
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Final

import anyio

from ci.measure.figures import Figure, Unavailable, alternate
from runtime.clock import SystemClock
from runtime.recovery.budget import Budget, Reservation
from runtime.recovery.classes import Classified, FailureClass
from runtime.recovery.observe import Failed, RunScope
from runtime.settings import RecoverySettings
from runtime.store.engine import url_of
from runtime.store.store import Store, open_store
from runtime.tools.base import ToolCall, ToolResult
from runtime.tools.families.net import TOOLS

ROUNDS: Final = 20
#: Attempts in each round.
ATTEMPTS: Final = 32
#: Runs that make them at the same time.
RUNS: Final = 8
TOOL: Final = next(tool for tool in TOOLS if tool.name == "http_get")
CLASSIFIED: Final = Classified(FailureClass.NETWORK, None, "bench")
_COLUMNS: Final = (
    "id, failure, conversation, tool, number, day, state, reserved_micro_usd, reserved"
)
_INSERT: Final = f"INSERT INTO attempts ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
_UPDATE: Final = (
    "UPDATE attempts SET state = 'settled', outcome = 'ok', settled_micro_usd = 1000, settled = 1 "
    "WHERE id = ?"
)


def figures() -> Iterator[Figure | Unavailable]:
    """Attempts in a second, beside pairs of raw commits in a second."""
    with tempfile.TemporaryDirectory() as folder, asyncio.Runner() as runner:
        store = open_store(url_of(Path(folder) / "ours.db"))
        open_store(url_of(Path(folder) / "raw.db")).close()
        raw, ours = Raw(Path(folder) / "raw.db"), Ours(store)
        times = alternate(
            ROUNDS,
            lambda: runner.run(ours.attempts(RUNS)),
            lambda: runner.run(ours.attempts(1)),
            raw.attempts,
        )
        raw.close()
        store.close()
    together, alone, beside = (ATTEMPTS * 1000 / taken for taken in times)
    for what, each in ((f"reserve and settle, {RUNS} runs", together), ("the same, 1 run", alone)):
        against = "pairs of raw commits"
        yield Figure(what, each, beside, "in 1 s", against, goal=0.7, more_is_better=True)


class Ours:
    """Attempts by the budget's own code, each of another failure."""

    def __init__(self, store: Store) -> None:
        unlimited = RecoverySettings(attempts=1, usd_per_run=Decimal(1), usd_per_day=Decimal(10**5))
        self._budget = Budget(store, SystemClock(), unlimited)

    async def attempts(self, runs: int) -> None:
        """A round of them, by that many runs at the same time."""
        async with anyio.create_task_group() as group:
            for _ in range(runs):
                group.start_soon(self._run, ATTEMPTS // runs)

    async def _run(self, attempts: int) -> None:
        scope = RunScope(uuid.uuid4().hex)
        for _ in range(attempts):
            failed = Failed(ToolCall("1", TOOL.name, {}), TOOL, ToolResult(exit_code=7), CLASSIFIED)
            reserved = await self._budget.reserve(failed, scope)
            assert isinstance(reserved, Reservation), reserved
            await self._budget.settle(reserved, "ok")


class Raw:
    """The same rows through ``sqlite3`` alone, without a look at anything."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = FULL")
        self._made = 0

    def attempts(self) -> None:
        """A round of them."""
        for _ in range(ATTEMPTS):
            self._made += 1
            name = f"{self._made:032}"
            row = (name, name, f"run{self._made}", "http_get", 1, "2031-02-03", "reserved", 1000, 0)
            self._commit(_INSERT, row)
            self._commit(_UPDATE, (name,))

    def close(self) -> None:
        """Give the file back."""
        self._connection.close()

    def _commit(self, statement: str, values: tuple[str | int, ...]) -> None:
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.execute(statement, values)
        self._connection.execute("COMMIT")
