"""The end state of the paths that a case names, out of the listing of the trees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.evidence.changes import agent_of, path_state
from harness.evidence.model import PathState, path_from_text
from sandboxes.base import Entry, Kind, Listing, Root

PathKey = tuple[Root, str]
_LISTED_WHOLE = "/tmp/"  # noqa: S108 - a path inside the sandbox


def end_states(listing: Listing, wanted: Sequence[PathKey]) -> Mapping[PathKey, PathState | None]:
    """What each path was in the end; ``None``: absent. Left out: what was not looked at.

    That is a path behind a link, which is somewhere else, and a path of the system that is
    as it was: only what changed there is listed, so it may be there or not. ``/tmp`` starts
    empty and is listed whole.
    """
    agent = agent_of(listing)
    found: dict[PathKey, PathState | None] = {}
    for root, path in wanted:
        tree, raw = _tree(listing, root), path_from_text(path)
        if _behind_link(tree, raw) or (raw not in tree and not _listed_whole(root, raw)):
            continue
        entry = tree.get(raw)
        found[root, path] = None if entry is None else path_state(entry, agent)
    return found


def _tree(listing: Listing, root: Root) -> Mapping[str, Entry | None]:
    match root:
        case Root.HOME:
            return dict(listing.home)
        case Root.WORKSPACE:
            return dict(listing.workspace)
        case Root.SYSTEM:
            return {change.path: change.after for change in listing.system}


def _listed_whole(root: Root, raw: str) -> bool:
    return root is not Root.SYSTEM or raw.startswith(_LISTED_WHOLE)


def _behind_link(tree: Mapping[str, Entry | None], raw: str) -> bool:
    """Whether a folder on the way is a link."""
    parts = raw.split("/")
    ways = (tree.get("/".join(parts[:end])) for end in range(1, len(parts)))
    return any(way is not None and way.kind is Kind.LINK for way in ways)
