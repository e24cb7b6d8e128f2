"""What a sandbox is observed by: reads of its clock, and what is attempted on its paths."""

from __future__ import annotations

import os
import posixpath
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sandboxes.helper import inspecting, processes, stage, watch, wire
from sandboxes.helper.box import CLOCK_BYTES, Box, Failed

INSIDE = {"home": "/home/agent", "workspace": "/workspace"}


@dataclass(frozen=True, slots=True)
class Answer:
    """What goes back: values, and descriptors that are closed here afterwards."""

    body: dict[str, Any]
    fds: tuple[int, ...] = ()


DONE = Answer({})


def _clock(box: Box, request: wire.Message) -> Answer:
    if not box.spec["shim"]:
        raise Failed("the wall clock cannot be set: the sandbox was made without wall_clock")
    with open(f"{stage.CLOCK}/offset", "r+b", buffering=0) as file:
        before = _reads(box, request)  # nothing between: what is read from here on is moved
        file.write(struct.pack("=qq", request.body["offset_ns"], request.body["mark_ns"]))
    return before


def _reads(box: Box, _: wire.Message) -> Answer:
    if not box.spec["shim"]:
        return Answer({"reads": {}, "late": {}})
    with open(f"{stage.CLOCK}/reads", "rb") as file:
        reads, late = processes.clock_reads(file.read(CLOCK_BYTES))
    return Answer({"reads": reads, "late": late})


def _waiting(_: Box, request: wire.Message) -> Answer:
    return Answer({"threads": inspecting.waiting(stage.PROC, request.body["pipe"])})


def _watch(box: Box, request: wire.Message) -> Answer:
    path = request.body["path"]
    handle, *_ = next(
        (
            held
            for key, held in box.changed.items()
            if posixpath.join(INSIDE[key[0]], key[1]) == path
        ),
        (-1,),
    )
    _watcher(box).watch(os.fsencode(path), os.dup(handle) if handle >= 0 else -1)
    return DONE


def _attempts(box: Box, request: wire.Message) -> Answer:
    counts = _watcher(box).counts.get(os.fsencode(request.body["path"]))
    if counts is None:
        raise Failed(f"nobody watches {request.body['path']!r}: ask to watch it first")
    return Answer({"counts": counts})


def _watcher(box: Box) -> watch.Watcher:
    if box.watcher is None:
        raise Failed("attempts are not counted: the sandbox was made without watch")
    return box.watcher


OPERATIONS: Mapping[str, Callable[[Box, wire.Message], Answer]] = {
    "attempts": _attempts,
    "clock": _clock,
    "reads": _reads,
    "waiting": _waiting,
    "watch": _watch,
}
