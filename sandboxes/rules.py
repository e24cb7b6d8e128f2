"""What can be done to chosen system calls of watched programs, from outside.

A rule is in force from :meth:`sandboxes.base.Sandbox.intercept` until ``release``. It reaches
calls and nothing else: what a program maps into its memory it reads and writes without one, and
a mapping made before the rule stays. No sandbox has an io_uring, and where data is watched the
older asynchronous calls do not exist either (ENOSYS), so nothing goes past through them.
"""

from __future__ import annotations

import enum
from collections.abc import Collection
from dataclasses import dataclass, fields
from typing import Any


class Watch(enum.StrEnum):
    """Kinds of system calls that can be watched; what a sandbox is made without costs nothing.

    With ``HOLD`` calls can be held back. They then wait interruptibly: a signal whose handler
    does not restart calls makes one that waits fail with EINTR.
    """

    NAMES = "names"  # that name a path
    LOCKS = "locks"  # that lock a file: fcntl and flock
    DATA = "data"  # that read, write, list, map or sync what is open
    DESCRIPTORS = "descriptors"  # that need a new descriptor
    BINDS = "binds"  # that give a socket an address
    HOLD = "hold"


class Verb(enum.StrEnum):
    """What is done to a path or to a descriptor of it, as rules call it."""

    READ = "read"  # read, pread, readv, and the source of sendfile, splice, copy_file_range
    WRITE = "write"  # write, pwrite, writev, and the target of those
    FSYNC = "fsync"  # fsync, fdatasync, sync_file_range, syncfs
    TRUNCATE = "truncate"  # truncate, ftruncate, fallocate
    MAP = "map"  # mmap
    LIST = "list"  # getdents
    OPEN = "open"
    LOOK = "look"  # stat, access, readlink
    RUN = "run"  # execute, or enter a folder
    MAKE = "make"  # a folder, link, socket or fifo
    RENAME = "rename"
    UNLINK = "unlink"  # remove
    CHANGE = "change"  # mode, owner, times


#: Those that go through a descriptor, which ``Watch.DATA`` is for (``truncate`` also by name).
DATA_VERBS = frozenset({Verb.READ, Verb.WRITE, Verb.FSYNC, Verb.TRUNCATE, Verb.MAP, Verb.LIST})


class Then(enum.StrEnum):
    """What comes of a torn write."""

    KILL = "kill"  # the program that was watched last is killed
    ERROR = "error"  # the call fails with EIO
    SHORT = "short"  # the call says how much it wrote


class After(enum.StrEnum):
    """What a path is swapped after."""

    LOOK = "look"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Fail:
    """Calls on an absolute path, or below it, fail with an error; nothing is done.

    Met, by verb: the calls that failed so.
    """

    path: str
    verbs: Collection[Verb]
    error: int  # an errno


@dataclass(frozen=True, slots=True)
class Slow:
    """Calls on an absolute path, or below it, take ``seconds`` longer.

    Met, by verb: the calls that began to wait; ``whole``: those that waited to the end. One
    that is interrupted and comes again waits for the rest, and is counted once.
    """

    path: str
    verbs: Collection[Verb]
    seconds: float


@dataclass(frozen=True, slots=True)
class Tear:
    """Of the first write of more than ``size`` bytes, only so many reach the file.

    Met: ``bytes`` that reached it, ``of`` so many, and ``killed`` where that was to be done:
    whether there was somebody to kill. Only write, pwrite and writev are torn.
    """

    path: str
    size: int
    then: Then


@dataclass(frozen=True, slots=True)
class Swap:
    """Between a look at a path and the use of it, it is replaced by a symbolic link.

    The path is relative to the home or the workspace (``root``), the link's target is taken as
    it is. ``release`` puts back what was there, unless something was done to the link since.
    Met: ``through`` where the use followed the link, ``itself`` where it did not.
    """

    root: str
    path: str
    target: str
    after: After


@dataclass(frozen=True, slots=True)
class Taken:
    """Somebody listens on an address inside, or on all of them (``0.0.0.0``, ``::``), over TCP.

    Nobody answers there. Met: ``binds`` that the kernel refused for that.
    """

    host: str
    port: int


@dataclass(frozen=True, slots=True)
class Full:
    """A call that needs a descriptor fails where its process has so many already.

    It holds also for a program that raises its own limit, which ``Sandbox.limit`` lowers.
    Met: ``calls`` that failed with EMFILE.
    """

    descriptors: int


@dataclass(frozen=True, slots=True)
class Room:
    """Writes to a file that want more room than the private file system has left are counted.

    Nothing is done to them: the kernel writes what fits, or fails them. Met: ``calls`` to
    write, pwrite and writev that were so.
    """


Rule = Fail | Slow | Tear | Swap | Taken | Full | Room


def needs(rule: Rule) -> frozenset[Watch]:
    """What a sandbox has to be made to watch for a rule."""
    match rule:
        case Swap():
            return frozenset({Watch.NAMES})
        case Taken():
            return frozenset({Watch.BINDS})
        case Full():
            return frozenset({Watch.DESCRIPTORS})
        case Tear() | Room():
            return frozenset({Watch.DATA})
        case Slow():
            return _kinds(rule.verbs) | {Watch.HOLD}
        case Fail():
            return _kinds(rule.verbs)


def _kinds(verbs: Collection[Verb]) -> frozenset[Watch]:
    by_name = not DATA_VERBS.issuperset(verbs) or Verb.TRUNCATE in verbs
    through = not DATA_VERBS.isdisjoint(verbs)
    return frozenset([*([Watch.NAMES] if by_name else []), *([Watch.DATA] if through else [])])


def request(rule: Rule) -> dict[str, Any]:
    """A rule as the keeper reads it."""
    values = {field.name: getattr(rule, field.name) for field in fields(rule)}
    values |= {"verbs": sorted(values["verbs"])} if "verbs" in values else {}
    return {"kind": type(rule).__name__, "rule": values, "needs": sorted(needs(rule))}
