"""``filesystem.missing-path``: a path is not there any more."""

from __future__ import annotations

from dataclasses import dataclass

from harness.case.model import Params
from harness.faults.base import Landing, Layer, Place
from harness.faults.met import ATTEMPTS, Met
from harness.faults.paths import inside, present
from harness.faults.schemas import params, path_inside
from sandboxes.base import Root


@dataclass(frozen=True, slots=True)
class _Missing:
    root: Root
    path: str
    met: Met

    def landing(self, place: Place) -> Landing:
        return self.met.landing(place)

    def heal(self, place: Place) -> None:
        place.sandbox.put_back(self.root, self.path)


class MissingPath:
    """The path is taken out of the sandbox from outside, and put back when it heals."""

    name = "filesystem.missing-path"
    summary = (
        "A file or folder is taken away while it is needed; "
        "it lands when the subject asks for it, or for something in it."
    )
    layer = Layer.FILESYSTEM
    needs = (ATTEMPTS,)
    live = False
    schema = params(("path",), path=path_inside("relative to the workspace, or ~/…"))

    def inject(self, params: Params, place: Place) -> _Missing:
        """Take it away."""
        root, path = present(place, params["path"])
        place.sandbox.take(root, path)
        return _Missing(root, path, Met.begin(place, inside(params["path"])))
