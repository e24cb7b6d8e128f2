"""``filesystem.permission``: a path belongs to somebody else and does not let everybody in."""

from __future__ import annotations

from dataclasses import dataclass

from harness.case.model import Params
from harness.faults.base import Landing, Layer, Place
from harness.faults.met import ATTEMPTS, BY_NAME, Barred, Met, expect
from harness.faults.paths import inside, present
from harness.faults.schemas import params, path_inside, text
from sandboxes.base import ROOT, Act, Depth, Kind, Root

_BITS = ((4, "-r", Act.READ), (2, "-w", Act.WRITE), (1, "-x", Act.RUN))


def barred(mode: int, kind: Kind) -> Barred:
    """What a path of this mode, which is root's, refuses to everybody else."""
    on = tuple(act for bit, _, act in _BITS if not mode & bit)
    if kind is not Kind.DIR:
        return {Depth.ON: on, Depth.IN: (), Depth.BELOW: ()}
    below = () if mode & 1 else BY_NAME
    return {Depth.ON: on, Depth.IN: below or (() if mode & 2 else (Act.NAME,)), Depth.BELOW: below}


@dataclass(frozen=True, slots=True)
class _Taken:
    root: Root
    path: str
    met: Met

    def landing(self, place: Place) -> Landing:
        return self.met.landing(place)

    def heal(self, place: Place) -> None:
        place.sandbox.restore(self.root, self.path)


class Permission:
    """Owner and mode are changed from outside; whoever opens the path gets EACCES."""

    name = "filesystem.permission"
    summary = (
        "A file or folder is given to root with a mode that refuses something to all others; "
        "it lands when the subject tries just that."
    )
    layer = Layer.FILESYSTEM
    needs = ("user.separate", ATTEMPTS)
    live = False
    schema = params(
        ("path",),
        path=path_inside("relative to the workspace, or ~/…"),
        mode=text("octal mode, its last digit below 7", pattern="^0[0-7]{2}[0-6]$", default="0000"),
    )

    def inject(self, params: Params, place: Place) -> _Taken:
        """Take the right away, and have a canary ask for it."""
        root, path = present(place, params["path"])
        there, mode = inside(params["path"]), int(params["mode"], 8)
        was = place.sandbox.change(root, path, mode, ROOT)
        refused = next(test for bit, test, _ in _BITS if not mode & bit)
        try:
            expect(place, ["/usr/bin/test", refused, there], 1, f"{there} refused")
        except BaseException:
            place.sandbox.restore(root, path)
            raise
        return _Taken(root, path, Met.begin(place, there, barred(mode, was.kind)))
