"""Takes the evidence of a trial: freeze, list, copy out, kill — from outside, in that order.

Nothing of the subject runs while it is looked at, and nothing of it is run to look at it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.errors import EvidenceLost
from harness.evidence.model import Lingering, PathState, Processes, path_text
from harness.stage import Stage
from sandboxes import clock
from sandboxes.base import Entry, Listing, Process, Root, Usage

CONTENT_CAP = 4 << 20
_POLL = 0.05

Wanted = Sequence[tuple[Root, str]]


@dataclass(frozen=True, slots=True)
class Collected:
    """What was found with the subject frozen.

    Attributes:
        listing: the trees at the end.
        contents: the first bytes of the files that were asked for.
        usage: the kernel's counters.
    """

    listing: Listing
    contents: Mapping[tuple[Root, str], bytes]
    usage: Usage


def watch_processes(stage: Stage, seconds: float) -> Processes:
    """List what still runs, again and again for ``seconds`` or until nothing does."""
    begun = clock.monotonic()
    seen: list[tuple[float, Sequence[Lingering]]] = []
    while True:
        passed = clock.monotonic() - begun
        left = _lingering(stage)
        if not seen or left != seen[-1][1]:
            seen.append((round(passed, 3), left))
        if not left or passed >= seconds:
            return Processes(observed=True, after=tuple(seen))
        stage.until(lambda: False, min(_POLL, max(seconds - passed, 0.001)))


def _lingering(stage: Stage) -> tuple[Lingering, ...]:
    def lives(process: Process) -> bool:
        return process.state not in "ZX" and process.main != stage.main

    return tuple(
        Lingering(p.pid, p.ppid, p.state, tuple(path_text(arg) for arg in p.argv))
        for p in stage.sandbox.processes()
        if lives(p)
    )


def collect(stage: Stage, wanted: Wanted) -> Collected:
    """Freeze the subject, list its trees, copy out what is asked for, and kill it.

    Raises:
        EvidenceLost: a tree that must be there could not be listed.
        sandboxes.errors.SandboxError: the sandbox did not do what was asked of it.
    """
    stage.sandbox.freeze()
    stage.journal.write("frozen")
    stage.arming.settle()
    stage.arming.heal()
    listing = stage.sandbox.listing()
    if "." not in listing.home or "." not in listing.workspace:
        raise EvidenceLost("the home or the workspace could not be listed after the run")
    usage = stage.sandbox.usage()
    contents = {
        (root, path): data
        for root, path in wanted
        if (data := read_out(stage, root, path)) is not None
    }
    stage.journal.write(
        "listed",
        home=len(listing.home),
        workspace=len(listing.workspace),
        system=len(listing.system),
    )
    stage.sandbox.kill()
    stage.journal.write("killed")
    return Collected(listing, contents, usage)


def read_out(stage: Stage, root: Root, path: str) -> bytes | None:
    """The first bytes of a regular file, no link followed; ``None`` if there is none."""
    opened = stage.sandbox.open(root, path)
    if opened is None:
        return None
    with os.fdopen(opened, "rb") as file:
        return file.read(CONTENT_CAP)


def path_state(entry: Entry, agent_uid: int) -> PathState:
    """An entry as evidence writes it."""
    owner = {agent_uid: "agent", 0: "root"}.get(entry.uid, str(entry.uid))
    target = None if entry.target is None else path_text(entry.target)
    return PathState(entry.kind.value, f"{entry.mode:04o}", entry.size, entry.sha256, target, owner)
