"""Where a path of the sandbox leads, looked at from outside."""

from __future__ import annotations

import errno
import os
import posixpath
from collections.abc import Callable

from sandboxes.helper import kernel, plain, stage

_LINKS = 40  # as many as the kernel follows
_PROC = b"/proc"
_SELVES = (b"self", b"thread-self")
IN_ROOT = kernel.RESOLVE_IN_ROOT | kernel.RESOLVE_NO_MAGICLINKS


def nobody() -> tuple[bytes, bytes]:
    """For whoever looks without being in the sandbox: ``/proc/self`` leads nowhere."""
    return b"", b""


def resolve(
    root: int, path: bytes, *, follow: bool, me: Callable[[], tuple[bytes, bytes]] = nobody
) -> tuple[bytes, bytes]:
    """Where a path leads below ``root``, links and ``..`` resolved as the kernel does it.

    What is not there is taken as it is written, below the last folder that is there, and is
    given beside. Where what a process has open or is in leads is what ``/proc`` says of it.

    Args:
        root: the root folder inside.
        path: absolute.
        follow: whether a link that is the last name is followed.
        me: what ``/proc/self`` and ``/proc/thread-self`` are for whoever names the path.
    """
    flags = os.O_PATH if follow else os.O_PATH | os.O_NOFOLLOW
    for _ in range(_LINKS):
        folder, head, rest = _deepest(root, path, flags)
        try:
            where = _seen(os.readlink(f"/proc/self/fd/{folder}".encode()))
            target = _link(folder, where, rest, me) if follow or b"/" in rest else b""
        finally:
            os.close(folder)
        if not target:
            return (posixpath.normpath(where.rstrip(b"/") + b"/" + rest) if rest else where), rest
        path = target if target.startswith(b"/") else head + b"/" + target
    raise OSError(errno.ELOOP, "too many links")


def _seen(path: bytes) -> bytes:
    """A path as it is from within, where the root folder inside is only a folder to us."""
    if not plain.is_plain() or not f"{os.fsdecode(path)}/".startswith(f"{stage.ROOT}/"):
        return path
    return path.removeprefix(stage.ROOT.encode()) or b"/"


def _deepest(root: int, path: bytes, flags: int) -> tuple[int, bytes, bytes]:
    """The deepest part of a path that is there, opened and as it is written, and the rest."""
    head, rest = path, b""
    while True:
        try:
            return kernel.open_in(root, head or b"/", flags, IN_ROOT), head, rest
        except OSError:
            if not head.strip(b"/"):
                raise
        head, _, name = head.rstrip(b"/").rpartition(b"/")
        rest = name + b"/" + rest if rest else name
        flags = os.O_PATH


def _link(folder: int, where: bytes, rest: bytes, me: Callable[[], tuple[bytes, bytes]]) -> bytes:
    """What follows from the first name of ``rest``, if that is a link that leads nowhere."""
    first, _, others = rest.partition(b"/")
    try:
        if where == _PROC and first in _SELVES:
            target = me()[_SELVES.index(first)]
        else:
            target = os.readlink(first, dir_fd=folder) if first else b""
    except OSError:
        return b""
    return target + b"/" + others if target and others else target


def where(path: bytes, watched: bytes) -> str:
    """Whether a path is ``on``, ``in`` or ``below`` a watched one; empty where it is neither."""
    if path == watched:
        return "on"
    folder = watched.rstrip(b"/") + b"/"
    if not path.startswith(folder):
        return ""
    return "below" if b"/" in path[len(folder) :] else "in"
