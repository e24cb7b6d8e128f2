"""``state.torn-journal``: a file ends in the middle of its last record."""

from __future__ import annotations

import os

from harness.case.model import Params
from harness.extension import Schema
from harness.faults.base import Layer, Place
from harness.faults.left_behind import READ, LeftBehind, leave
from harness.faults.met import ATTEMPTS
from harness.faults.paths import present
from harness.faults.schemas import bytes_of, params, path_inside, size
from sandboxes.errors import SandboxError

_LAST = 1 << 20


_SCHEMA: Schema = {
    **params(
        ("path",),
        path=path_inside("the file, relative to the workspace, or ~/…"),
        bytes={
            "type": "integer",
            "description": "how many are cut off; by default half of the last line",
            "minimum": 1,
        },
        to=size("instead of bytes: how long it is then"),
    ),
    "maxProperties": 2,
}


class TornJournal:
    """The end of the file is cut off in its place, as if the machine had stopped in a write."""

    name = "state.torn-journal"
    summary = (
        "A file ends in the middle of its last record, as after a crash; "
        "it lands when the subject opens it for reading. What the subject makes of the torn end "
        "stays; an end that it did not touch comes back where the fault heals by until."
    )
    layer = Layer.STATE
    needs = ("freeze", ATTEMPTS)
    live = False
    schema = _SCHEMA

    def inject(self, params: Params, place: Place) -> LeftBehind:
        """Cut it."""
        length, rest = _length(place, params["path"], params)
        return leave(
            place,
            params["path"],
            lambda root, path: place.sandbox.cut(root, path, rest),
            f"{length - rest} of {length} bytes were cut off",
            READ,
        )


def _length(place: Place, path: str, params: Params) -> tuple[int, int]:
    """How long the file is, and how long it is to be."""
    fd = place.sandbox.open(*present(place, path))
    if fd is None:
        raise SandboxError(f"{path!r} is no regular file that could be cut; name one")
    with os.fdopen(fd, "rb") as file:
        length = os.fstat(fd).st_size
        if "to" in params:
            return length, bytes_of(params["to"])
        if "bytes" in params:
            return length, length - params["bytes"]
        file.seek(max(0, length - _LAST))
        return length, length - half_of_last(file.read())


def half_of_last(end: bytes) -> int:
    """How many bytes to cut so that the last line of ``end`` is left in the middle."""
    start = end.rstrip(b"\n").rfind(b"\n") + 1
    return len(end) - start - max(1, len(end[start:].rstrip(b"\n")) // 2)
