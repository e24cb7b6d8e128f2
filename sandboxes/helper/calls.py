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
_WRITING = os.O_ACCMODE | os.O_CREAT | os.O_TRUNC

_ALLOW = 0x7FFF0000
_NOTIFY = 0x7FC00000
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
_COOKIE = 4  # the argument, unused by execve, that tells the harness's own apart


@dataclass(frozen=True, slots=True)
class Call:
    """One system call; arguments are counted from 0.

    Attributes:
        paths: of each path, where its folder's descriptor is (-1: it has none) and where it is.
        writes: whether it changes what it names, whatever its flags are.
        flags: where flags of ``open`` or a mode of ``access`` are, which say whether it writes.
        how: where a pointer to flags of ``open`` is (``openat2``).
        wanted: the bits there that mean writing.
        follow: whether a link that is the last name is followed.
        at: where ``AT_`` flags are that say otherwise.
    """

    paths: tuple[tuple[int, int], ...]
    writes: bool = False
    flags: int = -1
    how: int = -1
    wanted: int = _WRITING
    follow: bool = True
    at: int = -1

    def follows(self, arguments: tuple[int, ...]) -> bool:
        """Whether this one follows a link that is the last name."""
        if self.at < 0:
            return self.follow
        flag = AT_SYMLINK_NOFOLLOW if self.follow else _AT_SYMLINK_FOLLOW
        return bool(arguments[self.at] & flag) is not self.follow


_ONE, _AT = ((-1, 0),), ((0, 1),)
_TWO, _TWO_AT = ((-1, 0), (-1, 1)), ((0, 1), (2, 3))
_CALLS: Mapping[str, Call] = {
    "open": Call(_ONE, flags=1),
    "openat": Call(_AT, flags=2),
    "openat2": Call(_AT, how=2),
    "creat": Call(_ONE, writes=True),
    "stat": Call(_ONE),
    "lstat": Call(_ONE, follow=False),
    "newfstatat": Call(_AT, at=3),
    "statx": Call(_AT, at=2),
    "statfs": Call(_ONE),
    "access": Call(_ONE, flags=1, wanted=os.W_OK),
    "faccessat": Call(_AT, flags=2, wanted=os.W_OK),
    "faccessat2": Call(_AT, flags=2, wanted=os.W_OK, at=3),
    "readlink": Call(_ONE, follow=False),
    "readlinkat": Call(_AT, follow=False),
    "chdir": Call(_ONE),
    "execve": Call(_ONE),
    "execveat": Call(_AT, at=4),
    "mkdir": Call(_ONE, writes=True, follow=False),
    "mkdirat": Call(_AT, writes=True, follow=False),
    "mknod": Call(_ONE, writes=True, follow=False),
    "mknodat": Call(_AT, writes=True, follow=False),
    "rmdir": Call(_ONE, writes=True, follow=False),
    "unlink": Call(_ONE, writes=True, follow=False),
    "unlinkat": Call(_AT, writes=True, follow=False),
    "rename": Call(_TWO, writes=True, follow=False),
    "renameat": Call(_TWO_AT, writes=True, follow=False),
    "renameat2": Call(_TWO_AT, writes=True, follow=False),
    "link": Call(_TWO, writes=True, follow=False),
    "linkat": Call(_TWO_AT, writes=True, follow=False, at=4),
    "symlink": Call(((-1, 1),), writes=True, follow=False),
    "symlinkat": Call(((1, 2),), writes=True, follow=False),
    "truncate": Call(_ONE, writes=True),
    "chmod": Call(_ONE, writes=True),
    "fchmod": Call(((0, -1),), writes=True),
    "fchmodat": Call(_AT, writes=True),
    "fchmodat2": Call(_AT, writes=True, at=3),
    "chown": Call(_ONE, writes=True),
    "lchown": Call(_ONE, writes=True, follow=False),
    "fchown": Call(((0, -1),), writes=True),
    "fchownat": Call(_AT, writes=True, at=4),
    "utime": Call(_ONE, writes=True),
    "utimes": Call(_ONE, writes=True),
    "futimesat": Call(_AT, writes=True),
    "utimensat": Call(_AT, writes=True, at=3),
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
