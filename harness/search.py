"""Searches what a subject wrote for a case's regular expression, and comes to an end.

The subject chooses the text: on one long line of its making, even an innocent pattern such as
``error.*fatal`` can take hours, and nothing else of this process runs meanwhile, no deadline and
no Ctrl-C. So a process of its own does the search, and the kernel ends it when its time is over.
"""

from __future__ import annotations

import atexit
import contextlib
import signal
import sys
import threading

from sandboxes import proc

SECONDS = 10
_LENGTH = 8

_WORKER = f"""
import re, signal, sys
source, sink = sys.stdin.buffer, sys.stdout.buffer
def take():
    return source.read(int.from_bytes(source.read({_LENGTH}), "big")).decode("utf-8", "surrogatepass")
while size := source.peek(1):
    pattern, text = take(), take()
    signal.alarm({SECONDS})
    found = re.compile(pattern, re.MULTILINE).search(text)
    signal.alarm(0)
    answer = b"" if found is None else b"=" + found[0].encode("utf-8", "surrogatepass")
    sink.write(len(answer).to_bytes({_LENGTH}, "big") + answer)
    sink.flush()
"""


class TooSlow(Exception):
    """A search did not end in time; whether the text matches is not known."""


class _Searcher:
    """The process that searches, started when it is first needed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._child: proc.Child | None = None

    def search(self, pattern: str, text: str) -> str | None:
        with self._lock:
            try:
                return self._ask(pattern, text)
            except BaseException:
                self._end()
                raise

    def _ask(self, pattern: str, text: str) -> str | None:
        if self._child is None:
            argv = [sys.executable, "-I", "-S", "-c", _WORKER]
            self._child = proc.start(
                argv, env=proc.minimal_env(), stdin=proc.PIPE, stdout=proc.PIPE
            )
            atexit.register(self._end)
        ours, theirs = self._child.stdin, self._child.stdout
        assert ours is not None and theirs is not None  # noqa: S101, PT018 - PIPE was asked for
        for part in (pattern, text):
            data = part.encode("utf-8", "surrogatepass")
            ours.write(len(data).to_bytes(_LENGTH, "big") + data)
        ours.flush()
        head = theirs.read(_LENGTH)
        if len(head) < _LENGTH:
            raise TooSlow(f"/{pattern}/ was searched for {SECONDS} s without an end")
        answer = theirs.read(int.from_bytes(head, "big"))
        return answer[1:].decode("utf-8", "surrogatepass") if answer else None

    def _end(self) -> None:
        atexit.unregister(self._end)
        child, self._child = self._child, None
        if child is not None:
            child.signal_group(signal.SIGKILL)
            child.wait()
            with contextlib.suppress(OSError):
                child.close()


_SEARCHER = _Searcher()


def search(pattern: str, text: str) -> str | None:
    """The first match of a valid pattern, with ``^`` and ``$`` at every line; ``None``: no match.

    Raises:
        TooSlow: it was not found out in :data:`SECONDS`.
    """
    return _SEARCHER.search(pattern, text)
