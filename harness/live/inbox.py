"""Work for a trial's thread, put there by any thread and done in order."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress

Job = Callable[[], None]


class Inbox:
    """A queue that wakes its reader through a descriptor, ``fd``.

    A job may itself wait in a way that calls :meth:`work` (a canary does): nothing is begun
    in the middle of something else, it is done when that is over.
    """

    def __init__(self) -> None:
        self.fd = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        self._jobs: deque[tuple[Job, Future[None]]] = deque()
        self._lock = threading.Lock()
        self._closed = False
        self._working = False

    def post(self, job: Job) -> Future[None]:
        """Have ``job`` done by the reader; the future ends when it is, or is dropped."""
        done: Future[None] = Future()
        done.set_running_or_notify_cancel()  # others may wait for it: nobody calls it off
        with self._lock:
            if not self._closed:
                self._jobs.append((job, done))
                os.eventfd_write(self.fd, 1)
                return done
        done.set_result(None)
        return done

    def work(self) -> None:
        """Do what is there; an error of a job goes to the caller, the rest is done next time."""
        if self._closed:
            return
        with suppress(BlockingIOError):
            os.eventfd_read(self.fd)
        if self._working:
            return
        self._working = True
        try:
            while self._jobs:
                job, done = self._jobs.popleft()
                try:
                    job()
                finally:
                    done.set_result(None)
        finally:
            self._working = False
            if self._jobs:
                os.eventfd_write(self.fd, 1)

    def close(self) -> None:
        """Drop what is left and let everyone who waits for it go on."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            os.close(self.fd)
        while self._jobs:
            self._jobs.popleft()[1].set_result(None)
