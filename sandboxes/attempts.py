"""What programs inside attempted, by their system calls, and what they changed on the host."""

from __future__ import annotations

import enum
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field


class Depth(enum.StrEnum):
    """How a path lies to a watched one."""

    ON = "on"
    IN = "in"  # directly
    BELOW = "below"  # deeper


class Act(enum.StrEnum):
    """What a system call was to do to a path, as far as it could get.

    A call that the kernel turns down for what is there or is not there, whatever is allowed,
    is a look. To open for both reading and writing is two things.
    """

    LOOK = "look"
    READ = "read"  # open for reading, or ask whether that is allowed
    RUN = "run"  # execute, or enter a folder
    WRITE = "write"  # contents, mode, owner or times
    NAME = "name"  # make, remove or rename
    LINK = "link"  # give another name, also to a folder above; it can be used unseen under that
    LOCK = "lock"  # a lock of the whole or of a part, shared or not, waiting for it or not


@dataclass(frozen=True, slots=True)
class Attempts:
    """What watched programs attempted on a path and below it, whether it was allowed or not.

    It is taken from the system calls that name a path, relative to whatever folder and
    through whatever link, and from those that lock what a descriptor is of, whenever it was
    opened and under whatever name; each counts where the sandbox was made to watch that kind.
    Giving a lock up is not counted, and asking whether it is free neither. A lower bound: what
    else goes through a descriptor that was open before is not seen, and a program that changes
    a path in its memory during the call can hide it.
    """

    counts: Mapping[tuple[Depth, Act], int] = field(default_factory=dict)

    def count(
        self, acts: Collection[Act] = tuple(Act), depths: Collection[Depth] = tuple(Depth)
    ) -> int:
        """How many there were of these."""
        return sum(n for (depth, act), n in self.counts.items() if act in acts and depth in depths)

    def since(self, before: Attempts) -> Attempts:
        """What came on top of an earlier count."""
        more = {key: n - before.counts.get(key, 0) for key, n in self.counts.items()}
        return Attempts({key: n for key, n in more.items() if n})


@dataclass(frozen=True, slots=True)
class Touched:
    """What processes of a sandbox changed in a folder of the host.

    Attributes:
        paths: absolute on the host; some of them where there are many.
        whole: whether every change would be among them; ``False`` where nobody could look.
    """

    paths: Sequence[str]
    whole: bool
