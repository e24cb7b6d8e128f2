"""Rules by which calls of watched programs are answered differently, and what they did so far."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import time
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Protocol

from sandboxes.helper import resolving
from sandboxes.helper.caller import Caller


@dataclass(slots=True)
class Answer:
    """What a call will be told.

    Attributes:
        value: what it gives, where it does not go on and there is no error.
        error: the number of the error that it fails with, or 0.
        go_on: whether the kernel does what was asked.
        due: from when on it may be told, on the monotonic clock; 0: at once.
        lasting: whether it holds also for the same call that was interrupted and comes again.
        holding: the rules that hold it back.
        taken: what is to be done when the kernel took the answer.
    """

    value: int = 0
    error: int = 0
    go_on: bool = True
    due: float = 0.0
    lasting: bool = False
    holding: list[Rule] = field(default_factory=list)
    taken: list[Callable[[], None]] = field(default_factory=list)

    def fail(self, error: int) -> None:
        """Have the call fail."""
        self.error, self.go_on = error, False

    def give(self, value: int) -> None:
        """Have the call give a value without anything being done."""
        self.value, self.go_on = value, False


class Rule(Protocol):
    """What is done with some calls.

    Attributes:
        met: what it did so far, in numbers.
    """

    met: Counter[str]

    def decide(self, caller: Caller, answer: Answer) -> None:
        """Look at a call, and change its answer; ``OSError`` leaves it as it is."""

    def close(self) -> None:
        """Undo what it did."""


@dataclass(frozen=True, slots=True)
class Target:
    """What a rule is about: what is done to a path or below it, by the name of the doing."""

    path: bytes
    verbs: Collection[str]

    def verb(self, caller: Caller) -> str:
        """What the call does there; empty where the rule is not about it.

        A call that fails for what is there or not there, whatever is allowed, is left alone.
        """
        at = [p for p in caller.places() if resolving.where(p.path, self.path)]
        if not at or not caller.sees_the_same():
            return ""
        for place, act in zip(caller.places(), caller.acts(), strict=True):
            verb = place.named.verb or caller.call.verb
            passive = place.missing if verb == "look" else act in {"look", "link"}
            vain = not place.named.verb and passive
            if place in at and verb in self.verbs and not vain:
                return verb
        return ""


@dataclass(slots=True)
class Fail:
    """Calls fail with an error, and nothing is done."""

    target: Target
    error: int
    met: Counter[str] = field(default_factory=Counter)

    def decide(self, caller: Caller, answer: Answer) -> None:
        """See :class:`Rule`."""
        if answer.go_on and (verb := self.target.verb(caller)):
            answer.fail(self.error)
            answer.taken.append(lambda: self.met.update([verb]))

    def close(self) -> None:
        """There is nothing to undo."""


@dataclass(slots=True, eq=False)
class Slow:
    """Calls take so much longer; ``met`` counts those that began to, and under ``whole`` those
    that were held back to the end.
    """

    target: Target
    seconds: float
    met: Counter[str] = field(default_factory=Counter)

    def decide(self, caller: Caller, answer: Answer) -> None:
        """See :class:`Rule`."""
        verb = self.target.verb(caller)
        if not verb:
            return
        due = time.monotonic() + self.seconds
        answer.due = max(answer.due, due)
        answer.lasting = True
        answer.holding.append(self)
        self.met.update([verb])
        answer.taken.append(lambda: self.met.update(["whole"] if time.monotonic() >= due else []))

    def close(self) -> None:
        """Whoever is held back is let go by the watcher."""


@dataclass(slots=True)
class Full:
    """A call that needs a descriptor fails where its process has as many as it may have.

    Answered here, nobody can close one in between or raise its own limit again, and the count
    is exact.
    """

    descriptors: int
    met: Counter[str] = field(default_factory=Counter)

    def decide(self, caller: Caller, answer: Answer) -> None:
        """See :class:`Rule`."""
        makes = caller.call.makes
        if answer.go_on and makes and caller.free_descriptors(self.descriptors) < makes:
            answer.fail(errno.EMFILE)
            answer.taken.append(lambda: self.met.update(["calls"]))

    def close(self) -> None:
        """There is nothing to undo."""


@dataclass(slots=True)
class Tear:
    """The first write of more than ``size`` bytes to a regular file is cut there.

    They are written here, through the very open file of the process, so that its offset moves
    and a file that is appended to is.
    """

    target: Target
    size: int
    then: str
    kill: Callable[[], bool]
    met: Counter[str] = field(default_factory=Counter)

    def decide(self, caller: Caller, answer: Answer) -> None:
        """See :class:`Rule`."""
        if self.met or not answer.go_on or not self.target.verb(caller):
            return
        pieces, offset = caller.to_write()
        total = sum(length for _, length in pieces)
        if total <= self.size:
            return
        data = caller.read_pieces(pieces, self.size)
        file = caller.descriptor(0)
        try:
            if not caller.still_waits() or not os.path.isfile(f"/proc/self/fd/{file}"):
                return
            done = os.write(file, data) if offset < 0 else os.pwrite(file, data, offset)
        finally:
            os.close(file)
        self.met.update({"bytes": done, "of": total})
        answer.lasting = True
        if self.then == "short":
            answer.give(done)
            return
        if self.then == "kill":
            self.met["killed"] = int(self.kill())
        answer.fail(errno.EIO)

    def close(self) -> None:
        """What was written stays."""


@dataclass(slots=True)
class Room:
    """Counts writes of more pages behind the end of a file than are free, as they are asked for.

    What lies before the end may be there already, and is taken to be.
    """

    top: str
    met: Counter[str] = field(default_factory=Counter)

    def decide(self, caller: Caller, answer: Answer) -> None:
        """See :class:`Rule`."""
        if not answer.go_on:
            return
        pieces, offset = caller.to_write()
        total = sum(length for _, length in pieces)
        file = caller.descriptor(0)
        try:
            there, room = os.fstat(file), os.statvfs(self.top)
            if there.st_dev != os.stat(self.top).st_dev or not stat.S_ISREG(there.st_mode):
                return
            if fcntl.fcntl(file, fcntl.F_GETFL) & os.O_APPEND:
                offset = there.st_size
            elif offset < 0:
                offset = os.lseek(file, 0, os.SEEK_CUR)
        finally:
            os.close(file)
        page = room.f_frsize
        first = max(offset // page, -(-there.st_size // page))
        if -(-(offset + total) // page) - first > room.f_bavail:
            answer.taken.append(lambda: self.met.update(["calls"]))

    def close(self) -> None:
        """There is nothing to undo."""
