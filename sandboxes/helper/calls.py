"""The system calls that can be watched, and where in their arguments the path is.

Left out, so that what goes through them is not counted: extended attributes, binding
a Unix socket to a path, and descriptors that are open already, locks and changes of mode, owner
and times apart (a read-only remount is refused while one is open for writing).
"""

from __future__ import annotations

import fcntl
import mmap
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from sandboxes.helper import numbers
from sandboxes.helper.kernel import MACHINE

AT_FDCWD = -100
AT_EMPTY_PATH = 0x1000
AT_SYMLINK_NOFOLLOW = 0x100
_AT_SYMLINK_FOLLOW = 0x400
CREAT_FLAGS = os.O_CREAT | os.O_WRONLY | os.O_TRUNC
_F_SETLK, _F_SETLKW, _F_OFD_SETLK, _F_OFD_SETLKW = 6, 7, 37, 38
_F_DUPFD, _F_DUPFD_CLOEXEC = 0, 1030
_F_UNLCK = 2
_LOW = 0xFFFFFFFF
_TYPE = 0xFFFF  # of a lock: the first field behind the pointer of fcntl
#: What is done to an open file, and what rules call it.
_ON_OPEN: Mapping[str, str] = {
    f"{verb}s": verb for verb in ("read", "write", "fsync", "truncate", "list", "map")
}


@dataclass(frozen=True, slots=True)
class Named:
    """A path among the arguments of a call; arguments are counted from 0.

    Attributes:
        folder: where the descriptor of the folder is that it is relative to; -1: it has none.
        text: where the pointer to the path is; -1: it is what ``folder`` is open on.
        act: what is done to it: ``look``, ``run``, ``write``, ``make`` (a name that is not
            there yet), ``drop`` (one that is), ``put`` (either), ``link`` (it gets
            another name), or ``open``, ``access``,
            ``lock`` and ``flock``, where the flags say it. What is done to an open file ends
            in an s: ``reads``, ``writes``, ``fsyncs``, ``truncates``, ``lists`` or ``maps``.
    """

    folder: int
    text: int
    act: str

    @property
    def verb(self) -> str:
        """What a rule calls it, where it is done to an open file; else empty."""
        return _ON_OPEN.get(self.act, "")


@dataclass(frozen=True, slots=True)
class Call:
    """One system call.

    Attributes:
        paths: what it names; if the first of two is not there, nothing happens to the second.
        flags: where the flags of ``open``, the mode of ``access``, or the kind of lock, are.
        behind: whether they are behind a pointer (``openat2``).
        follow: whether a link that is the last name is followed.
        at: where ``AT_`` flags are that say otherwise.
        spared: an argument and bits of it with which it is not asked about.
        only: an argument and the values of it with which alone it is.
        verb: what a rule calls it; empty where the act of each path says it.
        makes: how many descriptors it makes.
    """

    paths: tuple[Named, ...]
    flags: int = -1
    behind: bool = False
    follow: bool = True
    at: int = -1
    spared: tuple[int, int] = (-1, 0)
    only: tuple[int, tuple[int, ...]] = (-1, ())
    verb: str = ""
    makes: int = 0

    def follows(self, arguments: tuple[int, ...]) -> bool:
        """Whether this one follows a link that is the last name."""
        if self.at < 0:
            return self.follow
        flag = AT_SYMLINK_NOFOLLOW if self.follow else _AT_SYMLINK_FOLLOW
        return bool(arguments[self.at] & flag) is not self.follow


def act(named: Named, flags: int, *, there: bool, folder: bool) -> str:
    """What a call does to a path: ``look``, ``read``, ``run``, ``write``, ``name``, ``link``, ``lock``.

    It goes no further than a look where the path is not as the call needs it: then the kernel
    says so before it asks whether the call is allowed.

    Args:
        named: the path.
        flags: of ``open``, the mode of ``access``, or the kind of lock.
        there: whether the path is there.
        folder: whether the folder is there that it is in.

    Returns:
        The act; empty for a lock that is given up, and for what is done to an open file.
    """
    if named.verb or named.act in _UNLOCKS:
        return "" if named.verb or _UNLOCKS[named.act](flags) else "lock"
    if named.act == "open":
        return _opened(flags, there=there, folder=folder)
    if named.act in {"make", "put"}:
        return "name" if folder and not (there and named.act == "make") else "look"
    if not there:
        return "look"
    if named.act == "access":
        return next((name for bit, name in _ACCESS if flags & bit), "look")
    return "name" if named.act == "drop" else named.act


def reads_too(named: Named, flags: int, done: str) -> bool:
    """Whether a call that does ``done`` reads besides: it opens for reading and for writing."""
    mode = flags & (os.O_ACCMODE | os.O_TRUNC)
    return named.act == "open" and done == "write" and mode == os.O_RDWR


def _opened(flags: int, *, there: bool, folder: bool) -> str:
    if flags & os.O_PATH:
        return "look"
    if not there:
        return "name" if folder and flags & os.O_CREAT else "look"
    if flags & os.O_CREAT and flags & os.O_EXCL:
        return "look"
    return "write" if flags & (os.O_ACCMODE | os.O_TRUNC) else "read"


#: Whether a lock is given up.
_UNLOCKS: Mapping[str, Callable[[int], bool]] = {
    "lock": lambda flags: flags & _TYPE == _F_UNLCK,
    "flock": lambda flags: bool(flags & fcntl.LOCK_UN),
}
_ACCESS = ((os.W_OK, "write"), (os.R_OK, "read"), (os.X_OK, "run"))


def _plain(act: str) -> tuple[Named, ...]:
    return (Named(-1, 0, act),)


def _at(act: str) -> tuple[Named, ...]:
    return (Named(0, 1, act),)


def _two(first: str, second: str) -> tuple[Named, ...]:
    return (Named(-1, 0, first), Named(-1, 1, second))


def _two_at(first: str, second: str) -> tuple[Named, ...]:
    return (Named(0, 1, first), Named(2, 3, second))


_PLAIN: Mapping[str, Call] = {
    "open": Call(_plain("open"), flags=1),
    "openat": Call(_at("open"), flags=2),
    "openat2": Call(_at("open"), flags=2, behind=True),
    "creat": Call(_plain("open")),
    "stat": Call(_plain("look")),
    "lstat": Call(_plain("look"), follow=False),
    "newfstatat": Call(_at("look"), at=3, spared=(3, AT_EMPTY_PATH)),
    "statx": Call(_at("look"), at=2, spared=(2, AT_EMPTY_PATH)),
    "statfs": Call(_plain("look")),
    "access": Call(_plain("access"), flags=1),
    "faccessat": Call(_at("access"), flags=2),
    "faccessat2": Call(_at("access"), flags=2, at=3),
    "readlink": Call(_plain("look"), follow=False),
    "readlinkat": Call(_at("look"), follow=False),
    "chdir": Call(_plain("run")),
    "execve": Call(_plain("run")),
    "execveat": Call(_at("run"), at=4),
    "mkdir": Call(_plain("make"), follow=False),
    "mkdirat": Call(_at("make"), follow=False),
    "mknod": Call(_plain("make"), follow=False),
    "mknodat": Call(_at("make"), follow=False),
    "rmdir": Call(_plain("drop"), follow=False),
    "unlink": Call(_plain("drop"), follow=False),
    "unlinkat": Call(_at("drop"), follow=False),
    "rename": Call(_two("drop", "put"), follow=False),
    "renameat": Call(_two_at("drop", "put"), follow=False),
    "renameat2": Call(_two_at("drop", "put"), follow=False),
    "link": Call(_two("link", "make"), follow=False),
    "linkat": Call(_two_at("link", "make"), follow=False, at=4),
    "symlink": Call((Named(-1, 1, "make"),), follow=False),
    "symlinkat": Call((Named(1, 2, "make"),), follow=False),
    "truncate": Call(_plain("write")),
    "chmod": Call(_plain("write")),
    "fchmod": Call((Named(0, -1, "write"),)),
    "fchmodat": Call(_at("write")),
    "fchmodat2": Call(_at("write"), at=3),
    "chown": Call(_plain("write")),
    "lchown": Call(_plain("write"), follow=False),
    "fchown": Call((Named(0, -1, "write"),)),
    "fchownat": Call(_at("write"), at=4),
    "utime": Call(_plain("write")),
    "utimes": Call(_plain("write")),
    "futimesat": Call(_at("write")),
    "utimensat": Call(_at("write"), at=3),
}
#: What rules call them.
_VERBS: Mapping[str, str] = {
    "open": "open openat openat2 creat",
    "look": "stat lstat newfstatat statx statfs access faccessat faccessat2 readlink readlinkat",
    "run": "execve execveat chdir",
    "make": "mkdir mkdirat mknod mknodat link linkat symlink symlinkat",
    "unlink": "unlink unlinkat rmdir",
    "rename": "rename renameat renameat2",
    "truncate": "truncate",
    "change": "chmod fchmod fchmodat fchmodat2 chown lchown fchown fchownat "
    "utime utimes futimesat utimensat",
}
_NAMES: Mapping[str, Call] = {
    name: replace(_PLAIN[name], verb=verb, makes=int(verb == "open"))
    for verb, names in _VERBS.items()
    for name in names.split()
}
assert set(_NAMES) == set(_PLAIN)  # noqa: S101 - a call without a verb would escape every rule
_SETTING = (_F_SETLK, _F_SETLKW, _F_OFD_SETLK, _F_OFD_SETLKW)
_LOCKS: Mapping[str, Call] = {
    "fcntl": Call((Named(0, -1, "lock"),), flags=2, behind=True, only=(1, _SETTING)),
    "flock": Call((Named(0, -1, "flock"),), flags=1),
}


def _open(verb: str, descriptor: int = 0) -> Call:
    return Call((Named(descriptor, -1, verb),))


def _copy(source: int, target: int) -> Call:
    return Call((Named(source, -1, "reads"), Named(target, -1, "writes")))


#: Of these, the act says what rules call them: ``reads`` is ``read``.
_DATA: Mapping[str, Call] = {
    **{name: _open("reads") for name in ("read", "pread64", "readv", "preadv", "preadv2")},
    **{name: _open("writes") for name in ("write", "pwrite64", "writev", "pwritev", "pwritev2")},
    **{name: _open("fsyncs") for name in ("fsync", "fdatasync", "sync_file_range", "syncfs")},
    **{name: _open("truncates") for name in ("ftruncate", "fallocate")},
    **{name: _open("lists") for name in ("getdents", "getdents64")},
    "mmap": Call((Named(4, -1, "maps"),), spared=(3, mmap.MAP_ANONYMOUS)),
    "sendfile": _copy(1, 0),
    "splice": _copy(0, 2),
    "copy_file_range": _copy(0, 2),
}
_OPENING = ("open", "openat", "openat2", "creat")
_ONE = (
    "socket dup accept accept4 epoll_create epoll_create1 eventfd eventfd2 signalfd signalfd4 "
    "timerfd_create inotify_init inotify_init1 memfd_create pidfd_open pidfd_getfd"
)
_DESCRIPTORS: Mapping[str, Call] = {
    **{name: _NAMES[name] for name in _OPENING},
    **{name: Call((), makes=1) for name in _ONE.split()},
    **{name: Call((), makes=2) for name in ("pipe", "pipe2", "socketpair")},
    "fcntl": Call((), only=(1, (_F_DUPFD, _F_DUPFD_CLOEXEC)), makes=1),
}
#: Which calls each kind of watch is about.
KINDS: Mapping[str, Mapping[str, Call]] = {
    "names": _NAMES,
    "locks": _LOCKS,
    "data": _DATA,
    "descriptors": _DESCRIPTORS,
    "binds": {"bind": Call(())},
}


def calls(machine: str = MACHINE) -> Mapping[int, tuple[Call, ...]]:
    """What each number can be, told apart by ``only``; empty where the numbers are not known."""
    _, known = numbers.MACHINES.get(machine, (0, {}))
    return {
        number: tuple(
            {id(kind[name]): kind[name] for kind in KINDS.values() if name in kind}.values()
        )
        for name, number in known.items()
    }


def understand(known: Sequence[Call], arguments: Sequence[int]) -> Call:
    """Which of the calls of a number this is."""
    return next(
        (c for c in known if c.only[0] < 0 or arguments[c.only[0]] & _LOW in c.only[1]), known[0]
    )
