"""``filesystem.torn-write``: of one write, only the first bytes reach the file."""

from __future__ import annotations

import signal
from collections.abc import Mapping

from harness.case.model import Params
from harness.faults.base import Landing, Layer, Place
from harness.faults.met import ANSWERS
from harness.faults.paths import inside
from harness.faults.ruled import Ruled
from harness.faults.schemas import bytes_of, params, path_inside, size, text
from sandboxes.rules import Tear, Then

_AFTER = {
    Then.KILL: "then the main process was killed",
    Then.ERROR: "then the call failed with EIO",
    Then.SHORT: "and the call said so",
}


class TornWrite:
    """The bytes are written from outside, through the open file of the subject itself."""

    name = "filesystem.torn-write"
    summary = (
        "Of the first write of more than so many bytes only those reach the file; then the main "
        "process is killed, or the call fails, or it comes back short. It lands when a write was "
        "torn. What is written by mapping, sendfile or splice is not."
    )
    layer = Layer.FILESYSTEM
    needs = (ANSWERS,)
    live = False
    schema = params(
        ("path", "bytes"),
        path=path_inside(
            "a file, or a folder with all below it, relative to the workspace, or ~/…"
        ),
        bytes=size("how many bytes of the write reach the file, at least one"),
        then=text("what comes of it", enum=[then.value for then in Then], default="kill"),
    )

    def inject(self, params: Params, place: Place) -> Ruled:
        """Wait for the write."""
        path, then = inside(params["path"]), Then(params["then"])

        def prove(met: Mapping[str, int], place: Place) -> Landing:
            if "of" not in met:
                return Landing(0, f"no write of more than {count} bytes to {path} was made")
            torn = f"{met['bytes']} of {met['of']} bytes of a write to {path} reached the file"
            if then is Then.KILL and not (met["killed"] and _was_killed(place)):
                return Landing(0, f"{torn}, but no main process was killed")
            return Landing(1, f"{torn}, {_AFTER[then]}")

        count = max(bytes_of(params["bytes"]), 1)
        return Ruled.begin(place, Tear(path, count, then), prove)


def _was_killed(place: Place) -> bool:
    return any(ended.signal == signal.SIGKILL for ended in place.ended.values())
