"""``filesystem.case-collision``: two names that differ in case are one file.

A folder that folds case would be the real thing, but needs a kernel that can (Linux 6.13 with
CONFIG_UNICODE, which most are built without), and it shows a name in whichever case it was asked
for. So a second name of the same file is made beside it. What differs: both names are listed,
and removing or replacing one of them leaves the other.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass

from harness.case.model import Params
from harness.faults.base import Landing, Layer, Place
from harness.faults.met import ATTEMPTS, Barred, Met
from harness.faults.paths import inside, present
from harness.faults.schemas import params, path_inside, text
from sandboxes.base import Act, Depth, Root
from sandboxes.errors import SandboxError

#: A look is none: whoever lists the folder with its details looks at every name in it.
_USED: Barred = {
    Depth.ON: (Act.READ, Act.RUN, Act.WRITE, Act.NAME),
    Depth.IN: (),
    Depth.BELOW: (),
}


@dataclass(frozen=True, slots=True)
class _Collision:
    root: Root
    path: str
    other: str
    met: Met

    def landing(self, place: Place) -> Landing:
        return self.met.landing(place)

    def heal(self, place: Place) -> None:
        place.sandbox.drop_alias(self.root, self.path, self.other)


class CaseCollision:
    """The other name is a hard link: what is written to it is written to the file."""

    name = "filesystem.case-collision"
    summary = (
        "A file has a second name that differs in case alone, as where names are not told apart "
        "by case: writing readme.md overwrites README.md. It lands when the subject opens, "
        "changes or replaces the other name."
    )
    layer = Layer.FILESYSTEM
    needs = (ATTEMPTS,)
    live = False
    schema = params(
        ("path",),
        path=path_inside("a file, relative to the workspace, or ~/…"),
        other=text(
            "the other name, without its folder; by default all in small letters, or in capitals",
            minLength=1,
        ),
    )

    def inject(self, params: Params, place: Place) -> _Collision:
        """Make the second name."""
        root, path = present(place, params["path"])
        other = params.get("other") or other_case(posixpath.basename(path))
        place.sandbox.alias(root, path, other)
        there = posixpath.join(posixpath.dirname(inside(params["path"])), other)
        return _Collision(root, path, other, Met.begin(place, there, _USED))


def other_case(name: str) -> str:
    """A name that differs in case alone.

    Raises:
        SandboxError: there is none.
    """
    for other in (name.lower(), name.upper()):
        if other != name:
            return other
    raise SandboxError(f"{name!r} has no letters, so no other name differs from it in case")
