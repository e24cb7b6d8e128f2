"""The numbers of the system calls that can be watched, for each machine."""

from __future__ import annotations

from collections.abc import Mapping

#: The same on every machine.
_NEW = {"pidfd_open": 434, "openat2": 437, "pidfd_getfd": 438, "faccessat2": 439, "fchmodat2": 452}
#: ``io_setup``: a way to read and write that no filter can look into.
IO_SETUP: Mapping[str, int] = {"x86_64": 206, "aarch64": 0}
#: machine: (audit architecture, numbers)
MACHINES: Mapping[str, tuple[int, Mapping[str, int]]] = {
    "x86_64": (
        0xC000003E,
        {
            "read": 0, "write": 1, "mmap": 9, "pread64": 17, "pwrite64": 18, "readv": 19,
            "writev": 20, "pipe": 22, "dup": 32, "sendfile": 40, "socket": 41, "accept": 43, "bind": 49,
            "socketpair": 53, "fcntl": 72, "flock": 73, "fsync": 74, "fdatasync": 75,
            "ftruncate": 77, "getdents": 78, "epoll_create": 213, "getdents64": 217,
            "inotify_init": 253, "splice": 275, "sync_file_range": 277, "signalfd": 282,
            "timerfd_create": 283, "eventfd": 284, "fallocate": 285, "accept4": 288,
            "signalfd4": 289, "eventfd2": 290, "epoll_create1": 291, "pipe2": 293,
            "inotify_init1": 294, "preadv": 295, "pwritev": 296, "syncfs": 306,
            "memfd_create": 319, "copy_file_range": 326, "preadv2": 327, "pwritev2": 328,
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
            "eventfd2": 19, "epoll_create1": 20, "dup": 23, "fcntl": 25, "inotify_init1": 26,
            "flock": 32, "ftruncate": 46, "fallocate": 47, "pipe2": 59, "getdents64": 61,
            "read": 63, "write": 64, "readv": 65, "writev": 66, "pread64": 67, "pwrite64": 68,
            "preadv": 69, "pwritev": 70, "sendfile": 71, "signalfd4": 74, "splice": 76,
            "fsync": 82, "fdatasync": 83, "sync_file_range": 84, "timerfd_create": 85,
            "socket": 198, "socketpair": 199, "bind": 200, "accept": 202, "mmap": 222,
            "accept4": 242, "syncfs": 267, "memfd_create": 279, "copy_file_range": 285,
            "preadv2": 286, "pwritev2": 287,
            "mknodat": 33, "mkdirat": 34, "unlinkat": 35, "symlinkat": 36, "linkat": 37,
            "renameat": 38, "statfs": 43, "truncate": 45, "faccessat": 48, "chdir": 49,
            "fchmod": 52, "fchmodat": 53, "fchownat": 54, "fchown": 55, "openat": 56,
            "readlinkat": 78, "newfstatat": 79, "utimensat": 88, "execve": 221,
            "renameat2": 276, "execveat": 281, "statx": 291, **_NEW,
        },
    ),
}  # fmt: skip
