"""The system calls that name a path: their numbers, and where in their arguments the path is.

Left out, so that what goes through them is not counted: extended attributes, io_uring, binding
a Unix socket to a path, and descriptors that are open already (a read-only remount is refused
while one is open for writing).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from sandboxes.helper import bpf
from sandboxes.helper.kernel import MACHINE

AT_FDCWD = -100
AT_EMPTY_PATH = 0x1000
AT_SYMLINK_NOFOLLOW = 0x100
_AT_SYMLINK_FOLLOW = 0x400
CREAT_FLAGS = os.O_CREAT | os.O_WRONLY | os.O_TRUNC
_ALLOW = 0x7FFF0000
_NOTIFY = 0x7FC00000
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
_COOKIE = 4  # the argument, unused by execve, that tells the harness's own apart


@dataclass(frozen=True, slots=True)
class Named:
    """A path among the arguments of a call; arguments are counted from 0.

    Attributes:
        folder: where the descriptor of the folder is that it is relative to; -1: it has none.
        text: where the pointer to the path is; -1: it is what ``folder`` is open on.
        act: what is done to it: ``look``, ``run``, ``write``, ``make`` (a name that is not
            there yet), ``drop`` (one that is), ``put`` (either), or ``open`` and ``access``,
            where the flags say it.
    """

    folder: int
    text: int
    act: str


@dataclass(frozen=True, slots=True)
class Call:
    """One system call.

    Attributes:
        paths: what it names; if the first of two is not there, nothing happens to the second.
        flags: where the flags of ``open``, or the mode of ``access``, are.
        behind: whether they are behind a pointer (``openat2``).
        follow: whether a link that is the last name is followed.
        at: where ``AT_`` flags are that say otherwise.
    """

    paths: tuple[Named, ...]
    flags: int = -1
    behind: bool = False
    follow: bool = True
    at: int = -1

    def follows(self, arguments: tuple[int, ...]) -> bool:
        """Whether this one follows a link that is the last name."""
        if self.at < 0:
            return self.follow
        flag = AT_SYMLINK_NOFOLLOW if self.follow else _AT_SYMLINK_FOLLOW
        return bool(arguments[self.at] & flag) is not self.follow


def act(named: Named, flags: int, *, there: bool, folder: bool) -> str:
    """What a call does to a path: ``look``, ``read``, ``run``, ``write`` or ``name``.

    It goes no further than a look where the path is not as the call needs it: then the kernel
    says so before it asks whether the call is allowed.

    Args:
        named: the path.
        flags: of ``open``, or the mode of ``access``.
        there: whether the path is there.
        folder: whether the folder is there that it is in.
    """
    if named.act == "open":
        return _opened(flags, there=there, folder=folder)
    if named.act in {"make", "put"}:
        return "name" if folder and not (there and named.act == "make") else "look"
    if not there:
        return "look"
    if named.act == "access":
        return next((name for bit, name in _ACCESS if flags & bit), "look")
    return "name" if named.act == "drop" else named.act


def _opened(flags: int, *, there: bool, folder: bool) -> str:
    if flags & os.O_PATH:
        return "look"
    if not there:
        return "name" if folder and flags & os.O_CREAT else "look"
    if flags & os.O_CREAT and flags & os.O_EXCL:
        return "look"
    return "write" if flags & (os.O_ACCMODE | os.O_TRUNC) else "read"


_ACCESS = ((os.W_OK, "write"), (os.R_OK, "read"), (os.X_OK, "run"))


def _plain(act: str) -> tuple[Named, ...]:
    return (Named(-1, 0, act),)


def _at(act: str) -> tuple[Named, ...]:
    return (Named(0, 1, act),)


def _two(first: str, second: str) -> tuple[Named, ...]:
    return (Named(-1, 0, first), Named(-1, 1, second))


def _two_at(first: str, second: str) -> tuple[Named, ...]:
    return (Named(0, 1, first), Named(2, 3, second))


_CALLS: Mapping[str, Call] = {
    "open": Call(_plain("open"), flags=1),
    "openat": Call(_at("open"), flags=2),
    "openat2": Call(_at("open"), flags=2, behind=True),
    "creat": Call(_plain("open")),
    "stat": Call(_plain("look")),
    "lstat": Call(_plain("look"), follow=False),
    "newfstatat": Call(_at("look"), at=3),
    "statx": Call(_at("look"), at=2),
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
    "link": Call(_two("look", "make"), follow=False),
    "linkat": Call(_two_at("look", "make"), follow=False, at=4),
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
_NEW = {"openat2": 437, "faccessat2": 439, "fchmodat2": 452}  # the same on every machine
_MACHINES: Mapping[str, tuple[int, Mapping[str, int]]] = {
    "x86_64": (
        0xC000003E,
        {
            "open": 2, "stat": 4, "lstat": 6, "access": 21, "execve": 59, "truncate": 76,
            "chdir": 80, "rename": 82, "mkdir": 83, "rmdir": 84, "creat": 85, "link": 86,
            "unlink": 87, "symlink": 88, "readlink": 89, "chmod": 90, "fchmod": 91, "chown": 92,
            "fchown": 93, "lchown": 94, "utime": 132, "mknod": 133, "statfs": 137,
            "utimes": 235, "openat": 257, "mkdirat": 258, "mknodat": 259, "fchownat": 260,
            "futimesat": 261, "newfstatat": 262, "unlinkat": 263, "renameat": 264,
            "linkat": 265, "symlinkat": 266, "readlinkat": 267, "fchmodat": 268,
            "faccessat": 269, "utimensat": 280, "renameat2": 316, "execveat": 322,
            "statx": 332, **_NEW,
        },
    ),
    "aarch64": (
        0xC00000B7,
        {
            "mknodat": 33, "mkdirat": 34, "unlinkat": 35, "symlinkat": 36, "linkat": 37,
            "renameat": 38, "statfs": 43, "truncate": 45, "faccessat": 48, "chdir": 49,
            "fchmod": 52, "fchmodat": 53, "fchownat": 54, "fchown": 55, "openat": 56,
            "readlinkat": 78, "newfstatat": 79, "utimensat": 88, "execve": 221,
            "renameat2": 276, "execveat": 281, "statx": 291, **_NEW,
        },
    ),
}  # fmt: skip


def calls(machine: str = MACHINE) -> Mapping[int, Call]:
    """Every call that is watched, by number; empty where the numbers are not known."""
    _, numbers = _MACHINES.get(machine, (0, {}))
    return {number: _CALLS[name] for name, number in numbers.items()}


def program(cookie: int, machine: str = MACHINE) -> bytes:
    """A seccomp filter that has every watched call ask first, and lets all others through.

    ``fstat`` as C libraries write it (an empty path) is let through, and so is the ``execve``
    whose unused fifth argument is ``cookie``: that is how the first program starts uncounted.
    """
    architecture, numbers = _MACHINES[machine]
    code = bpf.Program()
    code.do(bpf.LOAD_WORD, _ARCHITECTURE)
    code.equal(architecture, no="allow")
    code.do(bpf.LOAD_WORD, _NUMBER)
    apart = ("newfstatat", "statx", "execve")
    for name in apart:
        code.equal(numbers[name], yes=name)
    for name, number in numbers.items():
        if name not in apart:
            code.equal(number, yes="notify")
    code.place("allow")
    code.answer(_ALLOW)
    for name in ("newfstatat", "statx"):
        code.place(name)
        code.do(bpf.LOAD_WORD, _ARGUMENTS + 8 * _CALLS[name].at)
        code.any_bit(AT_EMPTY_PATH, yes="let", no="notify")
    code.place("execve")
    code.do(bpf.LOAD_WORD, _ARGUMENTS + 8 * _COOKIE)
    code.equal(cookie & 0xFFFFFFFF, no="notify")
    code.do(bpf.LOAD_WORD, _ARGUMENTS + 8 * _COOKIE + 4)
    code.equal(cookie >> 32, no="notify")
    code.place("let")
    code.answer(_ALLOW)
    code.place("notify")
    code.answer(_NOTIFY)
    return code.code()
