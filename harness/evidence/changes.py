"""What changed between two listings of the trees.

A path that is as it was is no change, whatever happened to it in between: a file that was
written anew with the same bytes, mode and owner is the same file. Times and the sizes of
folders are not compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from harness.evidence.model import FileChange, PathState, path_text
from harness.globs import GlobSet
from sandboxes.base import AGENT, AGENT_UID, ROOT, Entry, Kind, Listing, Manifest, Root

_OWNERS = {0: ROOT, AGENT_UID: AGENT}


def diff(before: Listing, after: Listing, own: Sequence[str] = ()) -> tuple[FileChange, ...]:
    """Every path that is not as it was, sorted by root and path.

    Args:
        before: the trees at the start, with everything planted.
        after: the trees at the end.
        own: globs of the agent's own paths in the home.
    """
    agent = agent_of(before)
    changes = [
        *_of_tree(Root.HOME, before.home, after.home, GlobSet(own), agent),
        *_of_tree(Root.WORKSPACE, before.workspace, after.workspace, GlobSet(()), agent),
        *_of_system(before, after, agent),
    ]
    return tuple(sorted(changes, key=lambda change: (list(Root).index(change.root), change.path)))


def with_planted(
    before: Listing, planted: Mapping[tuple[Root, str], tuple[Entry | None, Entry | None]]
) -> Listing:
    """The trees at the start, as if there had been from then on what was planted later.

    A path that was not as it was at the start any more when something was planted on it stays
    as it was: what it is in the end is the subject's doing also.

    Args:
        before: the trees at the start.
        planted: of each path, what it was just before, and what it was made.
    """
    trees = {Root.HOME: dict(before.home), Root.WORKSPACE: dict(before.workspace)}
    agent = agent_of(before)
    for (root, path), (was, made) in planted.items():
        first = trees[root].get(path)
        if (first and path_state(first, agent)) != (was and path_state(was, agent)):
            continue
        if made is None:
            trees[root].pop(path, None)
        else:
            trees[root][path] = made
    return replace(before, home=trees[Root.HOME], workspace=trees[Root.WORKSPACE])


def agent_of(listing: Listing) -> int | None:
    """The kernel uid of the agent in this sandbox: that of whom the home belongs to."""
    home = listing.home.get(".")
    return None if home is None else home.uid


def path_state(entry: Entry, agent: int | None = None) -> PathState:
    """An entry as evidence writes it; ``agent`` is the uid that is called so."""
    return PathState(
        type=entry.kind.value,
        mode=f"{entry.mode & 0o7777:04o}",
        size=0 if entry.kind is Kind.DIR else entry.size,
        sha256=entry.sha256,
        target=None if entry.target is None else path_text(entry.target),
        owner={agent: "agent", 0: "root"}.get(entry.uid, str(entry.uid)),
    )


def _of_tree(
    root: Root, before: Manifest, after: Manifest, own: GlobSet, agent: int | None
) -> Iterator[FileChange]:
    for raw in before.keys() | after.keys():
        was, now = before.get(raw), after.get(raw)
        if was == now:
            continue
        path = path_text(raw)
        by = "planted" if was is not None else "own" if own.matches(path) else "other"
        yield from _change(root, path, (was, now), by, agent)


def _of_system(before: Listing, after: Listing, agent: int | None) -> Iterator[FileChange]:
    """Each listing tells its changes against the image; here, one is held against the other."""
    earlier = {change.path: change for change in before.system}
    later = {change.path: change for change in after.system}
    for raw in earlier.keys() | later.keys():
        then, since = earlier.get(raw), later.get(raw)
        was = then.after if then else since.before if since else None
        now = since.after if since else then.before if then else None
        yield from _change(Root.SYSTEM, path_text(raw), (was, now), "other", agent)


def _change(
    root: Root, path: str, states: tuple[Entry | None, Entry | None], by: str, agent: int | None
) -> Iterator[FileChange]:
    before, after = (None if entry is None else path_state(entry, agent) for entry in states)
    if before != after:
        yield FileChange(root, path, _kind(before, after), before, after, by)


def _kind(before: PathState | None, after: PathState | None) -> str:
    if before is None:
        return "added"
    if after is None:
        return "removed"
    if before.type != after.type:
        return "retyped"
    same = (before.sha256, before.target) == (after.sha256, after.target)
    return "meta" if same and before.size == after.size else "changed"
