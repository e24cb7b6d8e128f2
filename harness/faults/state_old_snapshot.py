"""``state.old-snapshot``: a file or folder is what it was some time ago."""

from __future__ import annotations

from typing import Any

from harness.case import fields
from harness.case.model import Params, Trigger
from harness.case.triggers import trigger
from harness.faults.base import Layer, Place
from harness.faults.left_behind import READ, LeftBehind, leave, still
from harness.faults.met import ATTEMPTS
from harness.faults.paths import locate, present
from harness.faults.schemas import params, path_inside
from sandboxes.errors import SandboxError


class OldSnapshot:
    """Kept as it is at one moment, and put back at another."""

    name = "state.old-snapshot"
    summary = (
        "A file or folder goes back to what it was at an earlier moment, as after restoring a "
        "backup; it lands when the subject then opens, or misses, a file that had been different."
    )
    layer = Layer.STATE
    needs = ("freeze", ATTEMPTS)
    live = False
    schema = params(
        ("path",),
        path=path_inside("the file or folder, relative to the workspace, or ~/…"),
        of={**fields.TRIGGER, "description": "the earlier moment", "default": "start"},
    )

    def moment(self, params: Params) -> Trigger:
        """The earlier moment."""
        return trigger(params["of"])

    def remember(self, params: Params, place: Place) -> None:
        """Keep a copy."""
        with still(place):
            place.sandbox.save(*locate(params["path"]), _name(params["of"]))

    def inject(self, params: Params, place: Place) -> LeftBehind:
        """Put it back."""
        path, of = params["path"], _name(params["of"])
        found = leave(
            place,
            path,
            lambda root, there: place.sandbox.revert(root, there, of),
            f"{path} went back to what it was at {trigger(params['of'])}",
            READ,
        )
        if not found.met:
            place.sandbox.undo(found.number)
            present(place, path)  # else that is why
            raise SandboxError(f"no file of {path!r} is different from what it was then")
        return found


def _name(of: Any) -> str:
    return str(trigger(of))
