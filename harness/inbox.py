"""Work for a trial's thread, put there by the thread of the event loop."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress

Job = Callable[[], None]


class Inbox:
    """A queue that wakes its reader through a descriptor, ``fd``."""

    def __init__(self) -> None:
        self.fd = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        self._jobs: deque[tuple[Job, Future[None]]] = deque()
        self._closed = False

    def post(self, job: Job) -> Future[None]:
        """Have ``job`` done by the reader; the future ends when it is, or is dropped."""
        done: Future[None] = Future()
        if self._closed:
            done.set_result(None)
            return done
        self._jobs.append((job, done))
        os.eventfd_write(self.fd, 1)
        return done

    def work(self) -> None:
        """Do what is there; an error of a job goes to the caller, the rest is done next time."""
        if not self._jobs:
            return
        with suppress(BlockingIOError):
            os.eventfd_read(self.fd)
        while self._jobs:
            job, done = self._jobs.popleft()
            try:
                job()
            finally:
                done.set_result(None)

    def close(self) -> None:
        """Drop what is left and let everyone who waits for it go on."""
        if self._closed:
            return
        self._closed = True
        while self._jobs:
            self._jobs.popleft()[1].set_result(None)
        os.close(self.fd)
