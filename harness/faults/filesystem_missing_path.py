"""``filesystem.missing-path``: a path is not there any more."""

from __future__ import annotations

from dataclasses import dataclass

from harness.case.model import Params
from harness.faults.base import Landing, Layer, Place
from harness.faults.paths import inside, locate
from harness.faults.schemas import params, text
from sandboxes.base import Root

_AWAY = ".away"


@dataclass(frozen=True, slots=True)
class _Moved:
    root: Root
    path: str
    away: str
    gone: bool

    def landing(self, place: Place) -> Landing:
        what = "nothing" if self.gone else "something"
        return Landing(int(self.gone), f"a canary found {what} at {self.path}")

    def heal(self, place: Place) -> None:
        if not place.sandbox.exists(self.root, self.path):
            place.sandbox.move(self.root, self.away, self.path)


class MissingPath:
    """The path is renamed from outside, and back again when it heals."""

    name = "filesystem.missing-path"
    summary = "A file or folder is taken away while it is needed; a canary shows it."
    layer = Layer.FILESYSTEM
    needs = ()
    live = False
    schema = params(("path",), path=text("relative to the workspace, or ~/…"))

    def inject(self, params: Params, place: Place) -> _Moved:
        """Move it away, and have a canary look for it."""
        root, path = locate(params["path"])
        away = f"{path}{_AWAY}"
        place.sandbox.move(root, path, away)
        code, _ = place.canary(["/usr/bin/test", "-e", inside(params["path"])])
        return _Moved(root, path, away, code == 1)
