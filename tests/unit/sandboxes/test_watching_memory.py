"""What the watcher keeps of interrupted calls is kept for threads that can still ask again."""

from __future__ import annotations

import os
import socket

from sandboxes.helper.caller import Caller
from sandboxes.helper.rules import Answer
from sandboxes.helper.watch import Watcher, _Held

_NOBODY = 1 << 22  # beyond the highest number that a thread can have


class Interrupted(Caller):
    """A call whose thread has been interrupted."""

    def __init__(self, pid: int) -> None:
        self.pid = pid

    def answer(self, value: int = 0, error: int = 0, *, go_on: bool = False) -> bool:
        return False


def test_answers_to_threads_that_have_ended_are_forgotten():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        watcher = Watcher(ours)

        for number in (os.getpid(), *range(_NOBODY, _NOBODY + 20_000)):
            watcher._give(_Held(Interrupted(number), Answer(lasting=True), []))

    assert len(watcher._again) <= 1024
    assert os.getpid() in watcher._again
