"""The user's real home while a run goes: what in it is not at the end as it was at the beginning.

Whether a *sandbox* wrote to it, the kernel tells for each sandbox where it can
(:meth:`sandboxes.base.Sandbox.touched`); that is containment broken. What is found here was
somebody else's doing for all that is known, the user's perhaps: it is put down, and judges nothing.
Names and states are compared; what files hold is never read. How much is looked at is bounded.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from harness.journal import Journal
from harness.live.containment import place_of
from sandboxes import clock

#: How much of a home is looked at, and for how long, seconds.
ENTRIES, SECONDS = 20000, 0.05
_KEPT = 50
_FAR = frozenset({"nfs", "nfs4", "cifs", "smb3", "9p", "afs", "ceph", "fuse", "virtiofs"})


class Compared:
    """What is in a home, the topmost first, but for where the run itself writes."""

    def __init__(self, home: Path, spared: Path) -> None:
        """Look at it for the first time."""
        self._before: dict[str, tuple[int, ...]] = {}
        self._whole = True
        end = clock.monotonic() + SECONDS
        for path in _walk(str(home)):
            if len(self._before) >= ENTRIES or clock.monotonic() > end:
                self._whole = False
                break
            if not spared.is_relative_to(path) and not Path(path).is_relative_to(spared):
                self._before[path] = _state(path)

    @property
    def account(self) -> str:
        """How much was looked at, in words."""
        return f"{'all' if self._whole else 'the first'} {len(self._before)} paths were compared"

    def changed(self) -> list[str]:
        """What is not as it was; the first of it."""
        changed = (path for path, state in self._before.items() if _state(path) != state)
        return [path for path, _ in zip(changed, range(_KEPT), strict=False)]


def _walk(top: str) -> Iterator[str]:
    """Every path below a folder, level by level; no link is followed."""
    queue = deque([top])
    while queue:
        with suppress(OSError), os.scandir(queue.popleft()) as entries:
            for entry in entries:
                yield entry.path
                if entry.is_dir(follow_symlinks=False):
                    queue.append(entry.path)


def _state(path: str) -> tuple[int, ...]:
    with suppress(OSError):
        status = os.lstat(path)
        return (status.st_ino, status.st_mode, status.st_uid, status.st_size, status.st_ctime_ns)
    return ()


def unobservable(home: Path) -> str:
    """Why a home cannot be looked at; empty if it can."""
    if home == Path("/"):
        return "the home is /"
    if not home.is_dir():
        return f"the home {home} is no folder"
    place = place_of(home, Path("/proc/self/mountinfo").read_text("utf-8", "surrogateescape"))
    kind = place.kind if place else ""
    if kind.partition(".")[0] in _FAR:
        return f"the home is on a network file system ({kind})"
    return ""


@contextmanager
def observed_home(spared: Path, log: Journal) -> Iterator[None]:
    """Compare the home over a run, and put down in its log what changed.

    Args:
        spared: where the run itself writes.
        log: of the run.
    """
    home = Path.home().resolve()
    if why := unobservable(home):
        yield
        log.write("home", observed=False, how=why)
        return
    compared = Compared(home, spared)
    yield
    log.write("home", observed=True, how=compared.account, changed=compared.changed())
