"""``state.locked-database``: somebody else holds the lock of a file, and does not let go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.case.model import Params
from harness.faults.base import Landing, Layer, Place
from harness.faults.met import ATTEMPTS, LOCKS, Barred, Met, together
from harness.faults.paths import inside, present
from harness.faults.schemas import params, path_inside, text
from sandboxes.base import Act, Depth, Lock

_WANTED: Barred = {Depth.ON: (Act.LOCK, Act.WRITE), Depth.IN: (), Depth.BELOW: ()}

#: As SQLite lays its locks out (os.h, wal.c): who writes holds all of these bytes.
_PENDING, _SHARED_END = 0x40000000, 0x40000000 + 2 + 510
_WAL = "-shm"
_WAL_WRITER, _WAL_LOCKS = 120, 3
_EXCLUSIVE = Lock(start=_PENDING, length=_SHARED_END - _PENDING)
_WRITER = Lock(_WAL, start=_WAL_WRITER, length=_WAL_LOCKS)

_KINDS: Mapping[str, Lock] = {"flock": Lock(flock=True), "fcntl": Lock()}


@dataclass(frozen=True, slots=True)
class _Held:
    number: int
    met: Sequence[Met]

    def landing(self, place: Place) -> Landing:
        return together(self.met, place)

    def heal(self, place: Place) -> None:
        place.sandbox.undo(self.number)


class LockedDatabase:
    """The lock is held on the very file, from outside."""

    name = "state.locked-database"
    summary = (
        "Somebody whom the subject cannot reach holds the lock of a file, so that SQLite says "
        "'database is locked'; it lands when the subject tries to lock it, or opens it to write."
    )
    layer = Layer.STATE
    needs = (ATTEMPTS, LOCKS)
    live = False
    schema = params(
        ("path",),
        path=path_inside("the file, relative to the workspace, or ~/…; it must be there"),
        kind=text(
            "sqlite: as a writer of that database holds it, which keeps readers out too, but for "
            "those of one in WAL mode that is open; flock, fcntl: the whole file",
            enum=["sqlite", *_KINDS],
            default="sqlite",
        ),
    )

    def inject(self, params: Params, place: Place) -> _Held:
        """Take the lock."""
        root, path = present(place, params["path"])
        lock = _KINDS.get(params["kind"])
        if lock is None:
            lock = _WRITER if place.sandbox.exists(root, path + _WAL) else _EXCLUSIVE
        number = place.sandbox.hold(root, path, [lock])
        there = inside(params["path"])
        watched = {there, there + lock.suffix}
        return _Held(number, [Met.begin(place, each, _WANTED) for each in sorted(watched)])
