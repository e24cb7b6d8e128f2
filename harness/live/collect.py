"""Takes the evidence of a trial: freeze, list, copy out, kill, from outside, in that order.

Nothing of the subject runs while it is looked at, and nothing of it is run to look at it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from harness.errors import EvidenceLost
from harness.evidence.changes import diff, with_planted
from harness.evidence.model import FileChange, Lingering, Processes, path_from_text, path_text
from harness.faults.wall_clock import reads
from harness.live import meters
from harness.live.meters import Meters
from harness.live.pictures import Asked, Picture, photograph
from harness.live.stage import Stage
from sandboxes import clock
from sandboxes.base import Kind, Listing, Process, Root, Usage

#: Of one file, and of all files of a trial that nobody asked for, bytes.
CONTENT_CAP = 4 << 20
TOTAL_CAP = 16 << 20
_POLL = 0.05

PathKey = tuple[Root, str]


@dataclass(frozen=True, slots=True)
class Wants:
    """What is to be looked at.

    Attributes:
        paths: named by an expectation; always copied out.
        own: globs of the agent's own paths in the home; copied out only to be scanned.
        scan: whether every file that the subject made or changed is to be scanned.
        meters: what is watched for the subject's attempts.
        clock: whether a shim counts reads of the wall clock.
        repositories: of which pictures are to be taken.
    """

    paths: Sequence[PathKey]
    own: Sequence[str]
    scan: bool
    meters: Meters = field(default_factory=dict)
    clock: bool = False
    repositories: Sequence[Asked] = ()


@dataclass(frozen=True, slots=True)
class Collected:
    """What was found with the subject frozen.

    Attributes:
        listing: the trees at the end.
        changes: against the start.
        contents: the first bytes of files, by root and path (as in ``changes``).
        cut: files of which there was more than is kept.
        unread: files that were to be looked at and could not be.
        usage: the kernel's counters.
        attempts: what the meters show.
        clock_reads: by program; ``None`` without a shim.
        pictures: of repositories that are folders, by their keys.
    """

    listing: Listing
    changes: Sequence[FileChange]
    contents: Mapping[PathKey, bytes]
    cut: frozenset[PathKey]
    unread: frozenset[PathKey]
    usage: Usage
    attempts: Mapping[str, Mapping[str, int] | None]
    clock_reads: Mapping[str, int] | None
    pictures: Mapping[str, Picture]


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
        stage.pause(min(_POLL, max(seconds - passed, 0.001)))


def _lingering(stage: Stage) -> tuple[Lingering, ...]:
    def lives(process: Process) -> bool:
        ours = {stage.main, *stage.bystanders}
        lives = process.state not in "ZX" and not process.planted
        return lives and (process.main is None or process.main not in ours)

    return tuple(
        Lingering(p.pid, p.ppid, p.state, tuple(path_text(arg) for arg in p.argv))
        for p in stage.sandbox.processes()
        if lives(p)
    )


def collect(stage: Stage, before: Listing, wants: Wants) -> Collected:
    """Freeze the subject, list its trees, copy out what is wanted, and kill it.

    Raises:
        EvidenceLost: a tree that must be there could not be listed.
        sandboxes.errors.SandboxError: the sandbox did not do what was asked of it.
    """
    sandbox, journal = stage.sandbox, stage.journal
    sandbox.freeze()
    journal.write("frozen")
    stage.catch_up()
    stage.arming.settle()
    stage.arming.heal()
    before = with_planted(before, stage.arming.planted())
    listing = sandbox.listing()
    if "." not in listing.home or "." not in listing.workspace:
        raise EvidenceLost("the home or the workspace could not be listed after the run")
    changes = diff(before, listing, wants.own)
    journal.write("listed", home=len(listing.home), workspace=len(listing.workspace))
    copies = _copy_out(stage, listing, changes, wants)
    pictures = photograph(sandbox, listing, wants.repositories)
    usage = sandbox.usage()
    attempts = meters.read(stage, wants.meters)
    clock_reads = dict(reads(stage.place())) if wants.clock else None
    sandbox.kill()
    journal.write("killed", copied=len(copies.contents))
    return Collected(
        listing,
        changes,
        copies.contents,
        frozenset(copies.cut),
        frozenset(copies.unread),
        usage,
        attempts,
        clock_reads,
        pictures,
    )


@dataclass(frozen=True, slots=True)
class _Copies:
    contents: dict[PathKey, bytes] = field(default_factory=dict)
    cut: set[PathKey] = field(default_factory=set)
    unread: set[PathKey] = field(default_factory=set)


def _copy_out(
    stage: Stage, listing: Listing, changes: Sequence[FileChange], wants: Wants
) -> _Copies:
    """What is wanted first, and what is worth reading while there is room."""
    copies = _Copies()
    files = _files(listing)
    room = TOTAL_CAP
    for key in dict.fromkeys((*wants.paths, *_worth_reading(changes, wants))):
        asked = key in wants.paths or wants.scan
        if room <= 0 and not asked:
            continue
        data = _read_out(stage, key)
        if data is None:
            copies.unread.update({key} & files)
            continue
        if len(data) > CONTENT_CAP:
            copies.cut.add(key)
        copies.contents[key] = data[:CONTENT_CAP]
        room -= len(copies.contents[key])
    return copies


def _files(listing: Listing) -> set[PathKey]:
    """Every regular file that was listed."""
    trees = {Root.HOME: listing.home, Root.WORKSPACE: listing.workspace}
    found = {
        (root, path_text(path))
        for root, tree in trees.items()
        for path, entry in tree.items()
        if entry.kind is Kind.FILE
    }
    return found | {
        (Root.SYSTEM, path_text(change.path))
        for change in listing.system
        if change.after is not None and change.after.kind is Kind.FILE
    }


def _worth_reading(changes: Sequence[FileChange], wants: Wants) -> Iterator[PathKey]:
    """Files that the subject made or changed; the agent's own only where they are scanned."""
    for change in changes:
        is_file = change.after is not None and change.after.type == "file"
        if is_file and change.change != "meta" and (wants.scan or change.by != "own"):
            yield change.root, change.path


def _read_out(stage: Stage, key: PathKey) -> bytes | None:
    """A little more than the cap of a regular file, no link followed; ``None``: there is none."""
    root, path = key
    opened = stage.sandbox.open(root, path_from_text(path))
    if opened is None:
        return None
    with os.fdopen(opened, "rb") as file:
        return file.read(CONTENT_CAP + 1)
