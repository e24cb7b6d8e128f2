"""System changes: what the upper layers of the overlays hold, against what lies below.

The kernel copies a whole file up for any open that could write, so a path in the upper layer
counts as changed only where it differs. A character device 0:0 is a removal; a folder marked
opaque hides everything below it.
"""

from __future__ import annotations

import contextlib
import os
import stat
from dataclasses import dataclass, field

from sandboxes.helper import paths, plain, rows, trees

_OPAQUE = "trusted.overlay.opaque"
#: In a row: kind, mode, uid, gid, size, sha256, target; the time of change is for people.
_COMPARED = slice(0, 7)

#: path inside, before, after
Change = tuple[str, rows.Row | None, rows.Row | None]


@dataclass(slots=True)
class Layer:
    """One overlay of a sandbox.

    Attributes:
        prefix: where it is mounted inside; ``/`` or ``/usr``.
        lower: open folder of the layer below.
        upper: open folder of the layer that took the changes.
        baseline: what the harness itself put into the upper layer.
    """

    prefix: str
    lower: int
    upper: int
    baseline: dict[str, rows.Row] = field(default_factory=dict)

    def remember(self) -> None:
        """Take what is in the upper layer now as given."""
        self.baseline = {
            path: rows.row(folder, name, status)
            for path, folder, name, status in trees.walk(self.upper)
            if not _is_whiteout(status)
        }

    def changes(self) -> list[Change]:
        """What was added, changed or removed since."""
        found: list[Change] = []
        seen = set()
        for path, folder, name, status in trees.walk(self.upper):
            seen.add(path)
            with contextlib.suppress(FileNotFoundError):
                found += self._change(path, folder, name, status)
        for path, before in self.baseline.items():
            if path not in seen:
                found.append((self._inside(path), before, None))
        return found

    def _change(self, path: str, folder: int, name: str, status: os.stat_result) -> list[Change]:
        before = self.baseline.get(path) or self._below(path)
        if _is_whiteout(status):
            return [(self._inside(path), before, None)] if before else []
        after = rows.row(folder, name, status)
        changes: list[Change] = []
        if before is None or before[_COMPARED] != after[_COMPARED]:
            changes.append((self._inside(path), before, after))
        if stat.S_ISDIR(status.st_mode) and before and before[0] == "dir" and _opaque(folder, name):
            changes += self._hidden(path, folder, name)
        return changes

    def _hidden(self, path: str, folder: int, name: str) -> list[Change]:
        """What an opaque folder hides: the names below that it does not have itself."""
        with contextlib.suppress(OSError):
            lower = paths.open_folder(self.lower, paths.parts(path))
            try:
                upper = paths.open_folder(folder, [os.fsencode(name)])
                try:
                    gone = set(os.listdir(lower)) - set(os.listdir(upper))
                finally:
                    os.close(upper)
                return [
                    (
                        self._inside(f"{path}/{n}"),
                        rows.row(lower, n, os.lstat(n, dir_fd=lower)),
                        None,
                    )
                    for n in sorted(gone)
                ]
            finally:
                os.close(lower)
        return []

    def _below(self, path: str) -> rows.Row | None:
        try:
            with paths.Parent(self.lower, path) as at:
                return rows.row(at.fd, at.name, os.lstat(at.name, dir_fd=at.fd))
        except OSError:
            return None

    def _inside(self, path: str) -> str:
        return f"{self.prefix.rstrip('/')}/{path}"


def added(prefix: str, root: int) -> list[Change]:
    """Everything in a tree that began empty, such as ``/tmp``, as additions."""
    return [
        (f"{prefix}/{path}", None, entry)
        for path, entry in trees.manifest(root).items()
        if path != "."
    ]


def _is_whiteout(status: os.stat_result) -> bool:
    return stat.S_ISCHR(status.st_mode) and status.st_rdev == 0


def _opaque(folder: int, name: str) -> bool:
    with contextlib.suppress(OSError):
        fd = plain.open_folder(name, folder)
        try:
            return os.getxattr(fd, _OPAQUE) == b"y"
        finally:
            os.close(fd)
    return False
