"""``state.stale-lock``: the lock file of a process that is dead."""

from __future__ import annotations

from harness.case.model import Params
from harness.faults.base import Layer, Place
from harness.faults.left_behind import ANYTHING, LeftBehind, leave
from harness.faults.met import ATTEMPTS
from harness.faults.paths import folder_present
from harness.faults.schemas import params, path_inside, text
from sandboxes.base import Planted
from sandboxes.errors import SandboxError


class StaleLock:
    """A file where a program puts its lock, which nobody will ever take away."""

    name = "state.stale-lock"
    summary = (
        "A lock file is there whose owner is dead; it lands when the subject comes upon it: "
        "looks for it, tries to make it, reads it or removes it. It stays until the subject "
        "removes it, or the fault heals by until."
    )
    layer = Layer.STATE
    needs = ("freeze", ATTEMPTS)
    live = False
    schema = params(
        ("path",),
        path=path_inside("such as .git/index.lock; relative to the workspace, or ~/…"),
        content=text("what is in it; {pid} is the number of a dead process", default="{pid}\n"),
    )

    def inject(self, params: Params, place: Place) -> LeftBehind:
        """Leave it there."""
        folder_present(place, params["path"])
        pid = _dead(place)
        content = params["content"].replace("{pid}", str(pid)).encode()
        return leave(
            place,
            params["path"],
            lambda root, path: place.sandbox.leave(root, Planted(path, content=content)),
            f"a lock was left by process {pid}, which is dead",
            ANYTHING,
        )


def _dead(place: Place) -> int:
    """The number of a process that was, and is no more."""
    _, out = place.canary(["/bin/sh", "-c", "echo $$"])
    pid = out.decode("ascii", "replace").strip()
    if not pid.isdigit() or int(pid) in {each.pid for each in place.sandbox.processes()}:
        raise SandboxError(f"a canary that was to end at once is process {pid!r}")
    return int(pid)
