"""``filesystem.read-only``: a mounted folder takes no more writes."""

from __future__ import annotations

from dataclasses import dataclass

from harness.case.model import Params
from harness.faults.base import Landing, Layer, Place
from harness.faults.schemas import params, text
from sandboxes.base import AGENT_HOME, WORKSPACE

_WHERE = {"workspace": WORKSPACE, "home": AGENT_HOME, "tmp": "/tmp"}  # noqa: S108 - inside


@dataclass(frozen=True, slots=True)
class _ReadOnly:
    path: str
    refused: bool

    def landing(self, place: Place) -> Landing:
        what = "refused" if self.refused else "let through"
        return Landing(int(self.refused), f"a canary's write to {self.path} was {what}")

    def heal(self, place: Place) -> None:
        place.sandbox.remount(self.path, read_only=False)


class ReadOnly:
    """A read-only remount; whoever writes gets EROFS."""

    name = "filesystem.read-only"
    summary = "The workspace, the home or /tmp is remounted read-only; a canary shows it."
    layer = Layer.FILESYSTEM
    needs = ("remount",)
    live = False
    schema = params(
        path=text("what is remounted", enum=sorted(_WHERE), default="workspace"),
    )

    def inject(self, params: Params, place: Place) -> _ReadOnly:
        """Remount it, and have a canary try to write."""
        path = _WHERE[params["path"]]
        place.sandbox.remount(path, read_only=True)
        code, _ = place.canary(["/usr/bin/touch", f"{path}/.canary"])
        return _ReadOnly(path, code == 1)
