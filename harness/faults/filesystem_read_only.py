"""``filesystem.read-only``: a mounted folder takes no more writes."""

from __future__ import annotations

from dataclasses import dataclass

from harness.case.model import Params
from harness.faults.base import Landing, Layer, Place
from harness.faults.met import ATTEMPTS, Met, expect
from harness.faults.schemas import params, text
from sandboxes.base import AGENT_HOME, WORKSPACE, Act, Depth

_WHERE = {"workspace": WORKSPACE, "home": AGENT_HOME, "tmp": "/tmp"}  # noqa: S108 - inside
_BARRED = dict.fromkeys(Depth, (Act.WRITE, Act.NAME))


@dataclass(frozen=True, slots=True)
class _ReadOnly:
    met: Met

    def landing(self, place: Place) -> Landing:
        return self.met.landing(place)

    def heal(self, place: Place) -> None:
        place.sandbox.remount(self.met.path, read_only=False)


class ReadOnly:
    """A read-only remount; whoever writes gets EROFS."""

    name = "filesystem.read-only"
    summary = (
        "The workspace, the home or /tmp is remounted read-only; "
        "it lands when the subject tries to change something there."
    )
    layer = Layer.FILESYSTEM
    needs = ("remount", ATTEMPTS)
    live = False
    schema = params(
        path=text("what is remounted", enum=sorted(_WHERE), default="workspace"),
    )

    def inject(self, params: Params, place: Place) -> _ReadOnly:
        """Remount it, and have a canary try to write."""
        path = _WHERE[params["path"]]
        place.sandbox.remount(path, read_only=True)
        try:
            expect(place, ["/usr/bin/touch", f"{path}/.canary"], 1, f"a read-only {path}")
        except BaseException:
            place.sandbox.remount(path, read_only=False)
            raise
        return _ReadOnly(Met.begin(place, path, _BARRED))
