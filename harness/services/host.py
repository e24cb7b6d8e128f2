"""The host of all services of a run: one thread with one event loop, many trials on it."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Any, Final, Self, TypeVar

import uvloop

from harness.services.authority import Authority
from harness.services.cast import Cast
from harness.services.live import Live
from sandboxes.base import Listen

T = TypeVar("T")

_PATIENCE: Final = 30.0


class ServiceHost:
    """Serves the trials of one run; a context manager, entered once."""

    def __init__(self) -> None:
        self.loop: asyncio.AbstractEventLoop = uvloop.new_event_loop()
        self.aside = ThreadPoolExecutor(1, thread_name_prefix="shakeout-record")
        self._thread = threading.Thread(target=self._run, name="shakeout-services", daemon=True)
        self._live: set[Live] = set()
        self.authority = Authority()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for live in list(self._live):
            live.close()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.aside.shutdown()

    def serve(self, cast: Cast, listeners: Mapping[Listen, socket.socket]) -> Live:
        """Bring up the services of one trial on sockets that are bound already.

        The sockets are the services' own from now on, and closed with them.
        """
        live = Live(self, cast, self._live.discard)
        self._live.add(live)
        self.call(lambda: live.open(listeners))
        return live

    def call(self, work: Callable[[], T]) -> T:
        """Run ``work`` in the loop's thread and give what it gives; from any thread."""
        if threading.current_thread() is self._thread:
            return work()
        outcome: Future[T] = Future()
        self.loop.call_soon_threadsafe(_settle, outcome, work)
        return outcome.result(_PATIENCE)

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.set_exception_handler(self._crashed)
        try:
            self.loop.run_forever()
        finally:
            self.loop.run_until_complete(self.loop.shutdown_asyncgens())
            self.loop.close()

    def _crashed(self, _loop: asyncio.AbstractEventLoop, context: Mapping[str, Any]) -> None:
        """Something in the loop raised: every trial that is live is told."""
        bug = context.get("exception") or RuntimeError(str(context.get("message")))
        for live in list(self._live):
            live.crashed(bug)


def _settle(outcome: Future[T], work: Callable[[], T]) -> None:
    try:
        outcome.set_result(work())
    except BaseException as error:  # noqa: BLE001 - goes to the thread that asked
        outcome.set_exception(error)
