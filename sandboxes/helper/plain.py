"""What is done in other ways where the kernel lacks the calls of Linux 5.6 and later.

gVisor's kernel is such a one: mounts are bound by path and never changed, a root folder is
left behind by ``chroot``, and a path is walked name by name.
"""

from __future__ import annotations

import errno
import functools
import os

_LINKS = 40  # as many as Linux follows
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
_NO_LINK = frozenset({errno.EINVAL, errno.ENOENT})


@functools.cache
def is_plain() -> bool:
    """Whether this is such a kernel."""
    try:
        os.close(os.pidfd_open(os.getpid()))
    except OSError as error:
        return error.errno == errno.ENOSYS
    return False


def open_folder(name: bytes | str, folder: int | None = None) -> int:
    """Open a folder by its one name, and none that a link leads to.

    gVisor's kernel follows a link that is to be a folder and not to be followed, unless it is
    only pointed at.
    """
    if not is_plain():
        return os.open(name, _FOLDER, dir_fd=folder)
    handle = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
    try:
        return os.open(".", os.O_RDONLY | os.O_DIRECTORY, dir_fd=handle)
    finally:
        os.close(handle)


def open_in(folder: int, path: bytes, flags: int, mode: int, *, links: bool) -> int:
    """Open a path as if ``folder`` were the root; without ``links`` every link is refused.

    Each name is opened by itself and with no link followed, so nothing that is swapped in at
    the last moment leads out.
    """
    walk = _Walk(folder, path, follow_last=not flags & os.O_NOFOLLOW, links=links)
    try:
        while walk.names:
            walk.step()
        if walk.last and flags & _FOLDER == _FOLDER and not flags & os.O_PATH:
            return open_folder(walk.last, walk.chain[-1])
        name, no_link = walk.last or b".", os.O_NOFOLLOW if walk.last else 0
        return os.open(
            name, flags & ~os.O_NOFOLLOW | no_link | os.O_CLOEXEC, mode, dir_fd=walk.chain[-1]
        )
    finally:
        for fd in walk.chain:
            os.close(fd)


class _Walk:
    """A path that is walked.

    Attributes:
        names: what is still to be walked, the next one last.
        chain: the folders from the root to where we are.
        last: the name to be opened there; empty: the folder itself is.
    """

    def __init__(self, folder: int, path: bytes, *, follow_last: bool, links: bool) -> None:
        self.names = _backwards(path)
        self.chain = [os.dup(folder)]
        self.last = b""
        self._follow_last = follow_last
        self._links = links
        self._followed = 0

    def step(self) -> None:
        """Go on by one name."""
        name = self.names.pop()
        if name == b"..":
            self._leave()
            return
        target = self._target(name)
        if target is not None:
            self._follow(target)
        elif self.names:
            self.chain.append(open_folder(name, self.chain[-1]))
        else:
            self.last = name

    def _target(self, name: bytes) -> bytes | None:
        """Where a name leads, if it is a link that is to be followed."""
        if not self.names and not self._follow_last:
            return None
        try:
            return os.readlink(name, dir_fd=self.chain[-1])
        except OSError as error:
            if error.errno not in _NO_LINK:
                raise
        return None

    def _follow(self, target: bytes) -> None:
        self._followed += 1
        if not self._links or self._followed > _LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        if target.startswith(b"/"):
            while len(self.chain) > 1:
                os.close(self.chain.pop())
        self.names += _backwards(target)

    def _leave(self) -> None:
        if not self._links:
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
        if len(self.chain) > 1:
            os.close(self.chain.pop())


def _backwards(path: bytes) -> list[bytes]:
    return [name for name in reversed(path.split(b"/")) if name not in {b"", b"."}]
