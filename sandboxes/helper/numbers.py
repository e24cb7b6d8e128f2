"""The numbers of the system calls that can be watched, for each machine."""

from __future__ import annotations

from collections.abc import Mapping

_NEW = {"openat2": 437, "faccessat2": 439, "fchmodat2": 452}  # the same on every machine
#: machine: (audit architecture, numbers)
MACHINES: Mapping[str, tuple[int, Mapping[str, int]]] = {
    "x86_64": (
        0xC000003E,
        {
            "fcntl": 72, "flock": 73,
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
            "fcntl": 25, "flock": 32,
            "mknodat": 33, "mkdirat": 34, "unlinkat": 35, "symlinkat": 36, "linkat": 37,
            "renameat": 38, "statfs": 43, "truncate": 45, "faccessat": 48, "chdir": 49,
            "fchmod": 52, "fchmodat": 53, "fchownat": 54, "fchown": 55, "openat": 56,
            "readlinkat": 78, "newfstatat": 79, "utimensat": 88, "execve": 221,
            "renameat2": 276, "execveat": 281, "statx": 291, **_NEW,
        },
    ),
}  # fmt: skip
