"""Puts the evidence of a trial together from what the stages recorded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.case.model import Case
from harness.evidence.model import (
    Clocks,
    Evidence,
    FaultRecord,
    Happening,
    ModelRecord,
    Network,
    Output,
    Processes,
    Request,
    SecretHit,
)
from harness.evidence.screened import hits_in_names, screened, without_edge
from harness.evidence.states import end_states
from harness.live import sentinels
from harness.live.collect import Collected, PathKey
from harness.live.stage import Ending
from harness.oracles.seen import UNRECORDED
from harness.screen.secrets import Screen
from sandboxes.base import Listing, Root


@dataclass(frozen=True, slots=True)
class Recorded:
    """What was recorded while the subject lived, all of it closed by now.

    ``collected`` is ``None`` where the trees could not be taken; ``whole_system`` says that
    changes outside home, workspace and ``/tmp`` are recorded too.
    """

    before: Listing
    collected: Collected | None
    whole_system: bool
    processes: Processes
    requests: Sequence[Request]
    model: ModelRecord
    network: Network
    faults: Sequence[FaultRecord]
    stdout: Output
    stderr: Output
    ending: Ending
    final_text: str | None
    own: Sequence[str]
    timeline: Sequence[Happening]
    host_moved: float
    notes: Mapping[str, Any]


def assemble(case: Case, wanted: Sequence[PathKey], screen: Screen, seen: Recorded) -> Evidence:
    """The evidence, screened: no planted secret is in it any more, only the marks.

    Args:
        case: of the trial.
        wanted: paths that an expectation names.
        screen: finds the trial's secrets.
        seen: what the stages recorded.
    """
    got = seen.collected
    changes, contents = (got.changes, got.contents) if got else ((), {})
    hits = tuple(_hits(seen, screen)) if case.secrets else None
    evidence = Evidence(
        changes=changes,
        paths=end_states(got.listing, wanted) if got else {},
        contents={key: data for key, data in contents.items() if got and key not in got.cut},
        sentinels=_sentinels(seen.before, got),
        listed=_listed(seen),
        requests=seen.requests,
        stdout=without_edge(seen.stdout, screen),
        stderr=without_edge(seen.stderr, screen),
        processes=seen.processes,
        network=seen.network,
        faults=seen.faults,
        model=seen.model,
        ended_by=_ended_by(seen.ending, got),
        exit_code=seen.ending.exit_code,
        final_text=seen.final_text,
        secrets=hits,
        own=seen.own,
        prices=case.prices,
        timeline=seen.timeline,
        attempts=got.attempts if got else {},
        clocks=Clocks(got.clock_reads if got else None, seen.host_moved),
        notes={"unscanned": _unscanned(seen), **seen.notes},
    )
    return screened(evidence, screen)


def _hits(seen: Recorded, screen: Screen) -> Iterator[SecretHit]:
    """Every secret in output, in files, in names, and in requests."""
    got = seen.collected
    searched = {"stdout": seen.stdout.data, "stderr": seen.stderr.data}
    for (root, path), data in (got.contents if got else {}).items():
        searched[f"file:{root}:{path}"] = data
    for where, data in searched.items():
        for mark in screen.screen(data)[1]:
            yield SecretHit(mark.name, mark.encoding, where)
    yield from hits_in_names(got.changes if got else (), seen.network, screen)
    for request in seen.requests:
        for mark in screen.written(" ".join(request.secrets)):
            yield SecretHit(mark.name, mark.encoding, f"request:{request.service}:{request.seq}")


def _ended_by(ending: Ending, got: Collected | None) -> str:
    if not ending.by:
        return "lost"
    killed = ending.by == "signal" and ending.exit_code == 128 + 9
    return "oom" if killed and got is not None and got.usage.oom_kills else ending.by


def _unscanned(seen: Recorded) -> list[str]:
    """Where a secret could be that nobody looked at."""
    streams = {"stdout": seen.stdout, "stderr": seen.stderr}
    places = [name for name, output in streams.items() if output.capped]
    places += ["requests"] if seen.notes.get(UNRECORDED) else []
    got = seen.collected
    if got is None:
        return [*places, "files"]
    return places + sorted(f"file:{root}:{path}" for root, path in got.cut | got.unread)


def _listed(seen: Recorded) -> frozenset[Root]:
    """The trees of which every change is known."""
    if seen.collected is None:
        return frozenset()
    return frozenset(Root) if seen.whole_system else frozenset({Root.HOME, Root.WORKSPACE})


def _sentinels(before: Listing, got: Collected | None) -> Mapping[str, tuple[bool, bool]]:
    after = got.listing.home if got else {}
    return {path: (path in before.home, path in after) for path in sentinels.SENTINELS}
