"""Where control groups are on this machine: version 1, version 2, or both at once."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """One mounted cgroup tree.

    Attributes:
        path: where it is mounted.
        unified: version 2.
        controllers: what the mount options name (version 1).
        own: path of this process's group below ``path``, ``""`` for the top.
    """

    path: str
    unified: bool
    controllers: frozenset[str]
    own: str


def hierarchies(mountinfo: str, own: str) -> list[Hierarchy]:
    """Find the cgroup trees in the text of ``/proc/self/mountinfo`` and ``/proc/self/cgroup``."""
    places: dict[frozenset[str], str] = {}
    for line in own.splitlines():
        _, names, path = line.split(":", 2)
        places[frozenset(filter(None, names.split(",")))] = path
    found = []
    for line in mountinfo.splitlines():
        left, _, right = line.partition(" - ")
        root, path = left.split()[3:5]
        kind, _, options = right.split()[:3]
        if kind not in {"cgroup", "cgroup2"}:
            continue
        unified = kind == "cgroup2"
        controllers = frozenset() if unified else _controllers(options, places)
        mine = places.get(controllers, "/")
        below = os.path.relpath(mine, root) if mine.startswith(root) else "."
        found.append(Hierarchy(path, unified, controllers, "" if below == "." else below))
    return found


def here() -> list[Hierarchy]:
    """The cgroup trees of this process."""
    texts = []
    for name in ("mountinfo", "cgroup"):
        with open(f"/proc/self/{name}", encoding="utf-8", errors="surrogateescape") as file:
            texts.append(file.read())
    return hierarchies(*texts)


def _controllers(options: str, places: Mapping[frozenset[str], str]) -> frozenset[str]:
    """The controllers of a version 1 mount: the set of a known line that its options hold."""
    named = frozenset(options.split(","))
    return next((names for names in places if names and names <= named), frozenset())
