"""``filesystem.symlink-swap``: what was looked at is a link when it is used."""

from __future__ import annotations

from collections.abc import Mapping

from harness.case.model import Params
from harness.faults.base import Landing, Layer, Place
from harness.faults.met import ATTEMPTS
from harness.faults.paths import inside, present
from harness.faults.ruled import Ruled
from harness.faults.schemas import params, path_inside, text
from sandboxes.rules import After, Swap


class SymlinkSwap:
    """The race between check and use, made certain: the use waits while the path is replaced."""

    name = "filesystem.symlink-swap"
    summary = (
        "Between the subject's look at a path and its next use of it (open, execute, remove, "
        "rename, change), the path is replaced by a symbolic link. It lands with that use, "
        "whether it follows the link or refuses to; the proof says which."
    )
    layer = Layer.FILESYSTEM
    needs = (ATTEMPTS,)
    live = False
    schema = params(
        ("path", "to"),
        path=path_inside("a file or folder, relative to the workspace, or ~/…"),
        to=text(
            "what the link leads to: relative to the workspace, ~/…, or an absolute path inside",
            minLength=1,
        ),
        after=text(
            "what the subject does first: it looks at the path (stat, access), or opens it",
            enum=[after.value for after in After],
            default="look",
        ),
    )

    def inject(self, params: Params, place: Place) -> Ruled:
        """Wait for the look."""
        root, path = present(place, params["path"])
        to = params["to"] if params["to"].startswith("/") else inside(params["to"])

        def prove(met: Mapping[str, int], _: Place) -> Landing:
            there = f"{inside(params['path'])}, by then a link to {to}"
            if met.get("through"):
                return Landing(1, f"the subject used {there}, and followed it")
            if met.get("itself"):
                return Landing(1, f"the subject used {there}, and did not follow it")
            return Landing(0, f"{inside(params['path'])} was not used after a first {after}")

        after = After(params["after"])
        return Ruled.begin(place, Swap(root.value, path, to, after), prove)
