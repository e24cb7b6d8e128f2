"""How long the daemon's event loop is held up while a hundred calls fail and the disk is slow.

The daemon's application runs whole, in a process of its own that does nothing else. Each commit of
its store waits a second on the thread that commits, as it does for a disk whose fsync takes that
long. Conversations go on at the same time; every failure is classified and recorded. A tick that is
due every few milliseconds says how late it came at worst.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from sqlalchemy import event

from ci.measure.figures import Figure, Unavailable
from runtime.daemon.parts import Parts
from runtime.model.base import Asked, Reply
from runtime.store.engine import READING
from sandboxes import clock, proc
from tests.unit.runtime.daemon.running import Running, running

#: Conversations at the same time, and failing calls in each.
CONVERSATIONS: Final = 10
CALLS: Final = 10
#: Seconds that a commit takes.
FSYNC: Final = 1.0
#: Milliseconds that a tick may be late.
BOUND: Final = 100.0
_TICK: Final = 0.005
_LONGEST: Final = 300.0
_TOP: Final = Path(__file__).resolve().parents[2]


def figures() -> Iterator[Figure | Unavailable]:
    """The worst lateness beside the bound."""
    words = [sys.executable, "-m", "ci.measure.lag"]
    done = proc.run(words, cwd=_TOP, env=proc.minimal_env(), timeout=_LONGEST)
    if not done.ok:
        yield Unavailable("loop lag on a slow disk", done.stderr.decode()[-300:])
        return
    said = json.loads(done.stdout)
    note = "{failures} failures, {commits} commits of {fsync:g} s in {seconds:.0f} s".format(**said)
    yield Figure("loop lag on a slow disk", said["worst"], BOUND, "ms", "bound", 1, note=note)


class Ticks:
    """A tick that is due again and again, and how late it came at worst, in seconds."""

    def __init__(self) -> None:
        self.worst = 0.0

    async def go_on(self) -> None:
        """Until it is cancelled."""
        while True:
            due = clock.monotonic() + _TICK
            await asyncio.sleep(_TICK)
            self.worst = max(self.worst, clock.monotonic() - due)


class Disk:
    """What each commit of a store waits for."""

    def __init__(self) -> None:
        self.commits = 0

    def slow(self, parts: Parts) -> None:
        """Have the store of these parts on it."""
        event.listen(parts.store.engine, "commit", self._commit)

    def _commit(self, connection: Any) -> None:
        if not connection.get_execution_options().get(READING):
            self.commits += 1
            clock.sleep(FSYNC)


async def measured(folder: Path) -> dict[str, float]:
    """What came of it, in a folder."""
    failing = tuple(Asked(f"c{each}", "read_file", {"path": f"{each}"}) for each in range(CALLS))
    first, last = Reply("", failing, "calls"), Reply("all failed", (), "end")
    answers = [*[first] * CONVERSATIONS, *[last] * CONVERSATIONS]
    settings = {"recovery": {"observe": True}}
    disk, ticks, began = Disk(), Ticks(), clock.monotonic()
    async with running(folder, *answers, settings=settings, change=disk.slow) as agentd:
        body = {"kind": "project", "message": "read them"}
        ticking = asyncio.create_task(ticks.go_on())
        asked = [agentd.ask("POST", "/conversations", body) for _ in range(CONVERSATIONS)]
        made = [said["id"] for _, said in await asyncio.gather(*asked)]
        while await _running(agentd):  # noqa: ASYNC110 - a state in a database tells nobody
            await asyncio.sleep(FSYNC)
        ticking.cancel()
        failures = len((await agentd.ask("GET", "/failures"))[1]["failures"])
    assert failures == len(made) * CALLS, failures
    return {
        "worst": ticks.worst * 1000,
        "failures": failures,
        "commits": disk.commits,
        "fsync": FSYNC,
        "seconds": clock.monotonic() - began,
    }


async def _running(agentd: Running) -> bool:
    _, found = await agentd.ask("GET", "/conversations")
    return any(each["state"] == "running" for each in found["conversations"])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        print(json.dumps(asyncio.run(measured(Path(name)))))
