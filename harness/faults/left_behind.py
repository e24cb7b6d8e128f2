"""What the faults of state share: something is left on a path, and the subject has to meet it."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from harness.faults.base import Landing, Place, Planted
from harness.faults.met import BY_NAME, Barred, Met
from harness.faults.paths import inside, locate
from sandboxes.base import Act, Depth, Entry, Manifest, Root

#: Opening for reading, or asking whether that is allowed.
READ: Barred = {Depth.ON: (Act.READ,), Depth.IN: (), Depth.BELOW: ()}
#: Whatever is done to the path by its name, also asking whether it is there.
ANYTHING: Barred = {Depth.ON: BY_NAME, Depth.IN: (), Depth.BELOW: ()}
#: Asking for what had been there.
_MISSED: Barred = {Depth.ON: (Act.LOOK,), Depth.IN: (), Depth.BELOW: ()}
_MOST = 100


@dataclass(frozen=True, slots=True)
class LeftBehind:
    """A state that was left on a path, and the attempts that meet it.

    Attributes:
        number: by which it is undone.
        changed: of each path below the root that differs now, what it was and what it is.
        met: one for each of the paths that are watched.
        what: it, in words.
    """

    number: int
    root: Root
    changed: Mapping[str, tuple[Entry | None, Entry | None]]
    met: Sequence[Met]
    what: str

    def landing(self, place: Place) -> Landing:
        """How often the subject came upon it."""
        found = [landing for met in self.met if (landing := met.landing(place)).landed]
        proofs = [landing.proof for landing in found or [self.met[0].landing(place)]]
        return Landing(sum(each.count for each in found), "; ".join([self.what, *proofs]))

    def heal(self, place: Place) -> None:
        """Take it back, unless the subject has touched it."""
        place.sandbox.undo(self.number)

    def planted(self) -> Planted:
        """What it changed, for the trees at the start."""
        return {(self.root, path): states for path, states in self.changed.items()}


def leave(
    place: Place, path: str, act: Callable[[Root, str], int], what: str, barred: Barred
) -> LeftBehind:
    """Do ``act`` to a path of a case while everything stands still, and watch what it changed.

    Args:
        place: where.
        path: as the case writes it.
        act: does it, and gives the number by which it is undone.
        what: it, in words.
        barred: what has to be attempted on a file that is there now.
    """
    root, there = locate(path)
    with still(place):
        before = place.sandbox.tree(root, there)
        number = act(root, there)
        try:
            changed = dict(changes(there, before, place.sandbox.tree(root, there)))
            met = list(_watch(place, path, changed, barred))
        except BaseException:
            place.sandbox.undo(number)
            raise
    return LeftBehind(number, root, changed, met, what)


def _watch(
    place: Place,
    path: str,
    changed: Mapping[str, tuple[Entry | None, Entry | None]],
    barred: Barred,
) -> Iterator[Met]:
    """Begin to count what is attempted on the files that were changed."""
    base = inside(path).removesuffix(locate(path)[1])
    files = [(name, states[1]) for name, states in changed.items() if not _are_folders(states)]
    for name, now in files[:_MOST]:
        yield Met.begin(place, posixpath.join(base, name), barred if now else _MISSED)


@contextmanager
def still(place: Place) -> Iterator[None]:
    """Have nothing inside run meanwhile."""
    place.sandbox.freeze()
    try:
        yield
    finally:
        place.sandbox.thaw()


def changes(
    path: str, before: Manifest, after: Manifest
) -> Iterator[tuple[str, tuple[Entry | None, Entry | None]]]:
    """Of each path that is not as it was, by its place below the root: the two states."""
    for name in sorted(before.keys() | after.keys()):
        states = before.get(name), after.get(name)
        if _compared(states[0]) != _compared(states[1]):
            yield posixpath.normpath(posixpath.join(path, name)), states


def _compared(entry: Entry | None) -> tuple[object, ...]:
    """All but the time of change, and the sizes that folders take."""
    if entry is None:
        return ()
    return (entry.kind, entry.mode, entry.uid, entry.gid, entry.size, entry.sha256, entry.target)


def _are_folders(states: tuple[Entry | None, Entry | None]) -> bool:
    return all(entry is None or entry.kind == "dir" for entry in states)
