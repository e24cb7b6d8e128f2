"""Takes pictures of the repositories that expectations ask about: see :mod:`harness.git`.

Of the subject's own, out of files that are read from outside, before it starts and while it is
frozen; of a remote's, out of what the service holds in the end.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.case.model import Expectation, Params
from harness.oracles import git
from harness.services.base import Hosted
from sandboxes.base import Entry, Listing, Root, Sandbox

Picture = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Asked:
    """A repository that is asked about.

    Attributes:
        key: under which its pictures are kept.
        remote: ``NAME/REPO``; empty where it is a folder.
        place: the folder; none of a remote.
        paths: refs and paths of which the contents are asked.
    """

    key: str
    remote: str
    place: tuple[Root, str] | None
    paths: Sequence[tuple[str, str]]


def asked(expectations: Sequence[Expectation]) -> tuple[Asked, ...]:
    """Every repository that is asked about, once each."""
    found: dict[str, Asked] = {}
    for params in _params(expectations):
        name = git.key(params)
        before = found[name].paths if name in found else ()
        paths = tuple(dict.fromkeys((*before, *git.asks(params))))
        found[name] = Asked(name, params.get("remote", ""), git.place(params), paths)
    return tuple(found.values())


def _params(expectations: Sequence[Expectation]) -> Iterator[Params]:
    for expectation in expectations:
        oracle, params = expectation.oracle, expectation.params
        if (yet := params.get("yet")) is not None:
            oracle, params = yet["oracle"], yet["params"]
        if oracle == git.NOTE:
            yield params


@dataclass(frozen=True, slots=True)
class _Folder:
    """Implements :class:`harness.git.folder.Tree`."""

    sandbox: Sandbox
    root: Root
    start: str
    entries: Mapping[str, Entry]

    def read(self, path: str, most: int) -> bytes | None:
        opened = self.sandbox.open(self.root, self.start + path)
        if opened is None:
            return None
        with os.fdopen(opened, "rb") as file:
            return file.read(most)


def photograph(
    sandbox: Sandbox, listing: Listing, repositories: Sequence[Asked]
) -> Mapping[str, Picture]:
    """Pictures of those that are folders, as they are now."""
    if not repositories:
        return {}
    from harness.git.folder import read_repository  # noqa: PLC0415 - slow
    from harness.git.picture import picture  # noqa: PLC0415

    taken = {}
    for repository in repositories:
        if repository.place is None:
            continue
        root, path = repository.place
        folder = _folder(sandbox, listing, root, "" if path == "." else f"{path}/")
        found = read_repository(folder)
        taken[repository.key] = picture(found, folder.entries, repository.paths)
    return taken


def _folder(sandbox: Sandbox, listing: Listing, root: Root, start: str) -> _Folder:
    tree = listing.home if root is Root.HOME else listing.workspace
    inner = {path[len(start) :]: entry for path, entry in tree.items() if path.startswith(start)}
    return _Folder(sandbox, root, start, inner)


def pairs(
    before: Mapping[str, Picture],
    after: Mapping[str, Picture] | None,
    repositories: Sequence[Asked],
    hosted: Mapping[str, Hosted],
) -> Mapping[str, Any]:
    """Before and after of every repository that is asked about, for the evidence."""
    found: dict[str, Any] = {}
    for repository in repositories:
        key = repository.key
        if repository.place is None:
            host = hosted.get(repository.remote)
            if host is not None:
                found[key] = host.pictures(repository.paths)
        elif after is not None and key in before and key in after:
            found[key] = {"before": before[key], "after": after[key]}
    return found
