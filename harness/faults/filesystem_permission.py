"""``filesystem.permission``: a path belongs to somebody else and lets nobody in."""

from __future__ import annotations

from dataclasses import dataclass

from harness.case.model import Params
from harness.faults.base import Landing, Layer, Place
from harness.faults.paths import inside, locate
from harness.faults.schemas import params, text
from sandboxes.base import AGENT, ROOT, Entry, Root


@dataclass(frozen=True, slots=True)
class _Taken:
    root: Root
    path: str
    was: Entry
    refused: bool

    def landing(self, place: Place) -> Landing:
        what = "refused" if self.refused else "let through"
        return Landing(int(self.refused), f"a canary's look at {self.path} was {what}")

    def heal(self, place: Place) -> None:
        if place.sandbox.exists(self.root, self.path):
            place.sandbox.change(self.root, self.path, self.was.mode, AGENT)


class Permission:
    """Owner and mode are changed from outside; whoever opens the path gets EACCES."""

    name = "filesystem.permission"
    summary = (
        "A file or folder is given to root with a mode that lets nobody in; a canary shows it."
    )
    layer = Layer.FILESYSTEM
    needs = ("user.separate",)
    live = False
    schema = params(
        ("path",),
        path=text("relative to the workspace, or ~/…"),
        mode=text("octal mode", pattern="^0[0-7]{3}$", default="0000"),
    )

    def inject(self, params: Params, place: Place) -> _Taken:
        """Take it away, and have a canary try to read it."""
        root, path = locate(params["path"])
        was = place.sandbox.change(root, path, int(params["mode"], 8), ROOT)
        code, _ = place.canary(["/usr/bin/test", "-r", inside(params["path"])])
        return _Taken(root, path, was, code == 1)
