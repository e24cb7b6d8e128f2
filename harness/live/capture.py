"""Takes down what a process prints, up to a cap, without ever making it wait for us.

Reading goes on after the cap, so that a subject is neither blocked nor killed by the harness
for printing much; what is beyond the cap is counted and dropped. The end is the end of the
processes, not of the pipe: whoever still holds the pipe when the sandbox is killed is dead.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress

from harness.evidence.model import Output

CAP = 8 << 20
_CHUNK = 1 << 18


class Capture:
    """One stream of one trial; its pipes are read in the thread of the event loop."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        heard: Callable[[bytes], None] | None = None,
        cap: int = CAP,
    ) -> None:
        """``heard`` is called with each piece, in the loop's thread."""
        self._loop = loop
        self._heard = heard
        self._cap = cap
        self._kept = bytearray()
        self._total = 0
        self._open: set[int] = set()
        self._idle: Future[None] | None = None

    def pipe(self) -> int:
        """A new pipe into this stream; gives its writing end, which the caller closes."""
        reading, writing = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(reading, False)
        os.fchmod(writing, 0o622)  # the agent may open /dev/stdout, and may not read it back
        self._open.add(reading)
        self._loop.call_soon_threadsafe(self._loop.add_reader, reading, self._read, reading)
        return writing

    def finish(self, timeout: float) -> Output:
        """What came, once every writer is gone; pipes still open after ``timeout`` are left."""
        idle: Future[None] = Future()
        self._loop.call_soon_threadsafe(self._await_idle, idle)
        with suppress(TimeoutError):
            idle.result(timeout)
        closed: Future[None] = Future()
        self._loop.call_soon_threadsafe(self._close, closed)
        closed.result()
        return Output(bytes(self._kept), self._total, self._total > len(self._kept))

    def _read(self, reading: int) -> None:
        try:
            data = os.read(reading, _CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._drop(reading)
            return
        self._total += len(data)
        if (room := self._cap - len(self._kept)) > 0:
            self._kept += data[:room]
        if self._heard is not None:
            self._heard(data)

    def _drop(self, reading: int) -> None:
        self._loop.remove_reader(reading)
        self._open.discard(reading)
        os.close(reading)
        self._settle()

    def _await_idle(self, idle: Future[None]) -> None:
        self._idle = idle
        self._settle()

    def _settle(self) -> None:
        if not self._open and self._idle is not None and not self._idle.done():
            self._idle.set_result(None)

    def _close(self, closed: Future[None]) -> None:
        for reading in tuple(self._open):
            self._drop(reading)
        closed.set_result(None)
