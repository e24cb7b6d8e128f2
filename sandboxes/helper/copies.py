"""Copies of the descriptors of another process, and what is done with them in its stead."""

from __future__ import annotations

import ctypes
import errno
import os

from sandboxes.helper import kernel

_PIDFD_GETFD = 438  # the same on every architecture
_PIDFD_THREAD = os.O_EXCL  # since Linux 6.9

_libc = ctypes.CDLL(None, use_errno=True)


def copy(pid: int, fd: int) -> int:
    """A copy of a descriptor of another process or thread; it shares offset and flags."""
    try:
        handle = os.pidfd_open(pid, _PIDFD_THREAD)
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
        handle = os.pidfd_open(_leader(pid))
    try:
        return kernel.check(_libc.syscall(_PIDFD_GETFD, handle, fd, 0), f"descriptor {fd} of {pid}")
    finally:
        os.close(handle)


def bind(fd: int, address: bytes) -> None:
    """Bind a socket to an address as a program wrote it."""
    kernel.check(_libc.bind(fd, address, len(address)), "bind")


def _leader(thread: int) -> int:
    with open(f"/proc/{thread}/status", encoding="utf-8", errors="replace") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("Tgid:"))
