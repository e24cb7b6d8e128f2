"""Files and folders that were taken out of the sandbox for a while, and their way back.

They wait on the sandbox's private file system, in a folder that is mounted nowhere inside, so
the subject neither sees them under another name nor finds them in its lists.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass, field

from sandboxes.helper import kernel, paths

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_DEEPEST = 100


@dataclass(slots=True)
class Taken:
    """What is away, by where it belongs."""

    store: str
    names: dict[tuple[int, str], str] = field(default_factory=dict)
    _last: int = 0

    def take(self, root: int, path: str) -> None:
        """Take it away."""
        if not paths.parts(path):
            msg = f"{path!r} cannot be taken: it is a root itself; name what lies in it"
            raise paths.Refused(msg)
        self._last += 1
        name = str(self._last)
        with paths.opened(self.store) as store, paths.Parent(root, path) as at:
            os.rename(at.name, name, src_dir_fd=at.fd, dst_dir_fd=store)
        self.names[root, path] = name

    def put_back(self, root: int, path: str) -> None:
        """Bring it back, as far as its place is free."""
        name = self.names.pop((root, path), None)
        if name is None:
            msg = f"{path!r} was not taken, so it cannot be put back"
            raise paths.Refused(msg)
        gone = contextlib.suppress(FileNotFoundError, NotADirectoryError)
        with gone, paths.opened(self.store) as store, paths.Parent(root, path) as at:
            _return(store, os.fsencode(name), at.fd, at.name)


def _return(store: int, name: bytes, folder: int, to: bytes, depth: int = 0) -> None:
    """Move ``name`` to ``to``; where a folder is there already, move what it lacks into it."""
    try:
        kernel.rename_to_free(store, name, folder, to)
    except FileExistsError:
        file = contextlib.suppress(NotADirectoryError)
        with file, paths.opened(name, store) as old, paths.opened(to, folder) as new:
            for each in map(os.fsencode, os.listdir(old) if depth < _DEEPEST else ()):
                _return(old, each, new, each, depth + 1)
