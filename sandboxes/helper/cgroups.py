"""Control groups of a run: hard limits, true counters, freezing.

Three controllers are wanted: ``memory``, ``pids`` and a freezer. A tree that should have one
is believed only after a group could be made there. All groups of a run lie under one *site*
group, whose name proves whose they are. Every access goes through descriptors opened at the
start, because the helper later hides ``/sys`` from itself.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from dataclasses import dataclass, field

from sandboxes.helper import groups, hierarchies, owners
from sandboxes.helper.hierarchies import Hierarchy


class Tree:
    """One directory in which groups are made, by descriptor."""

    def __init__(self, hierarchy: Hierarchy, where: str, provides: frozenset[str]) -> None:
        self.hierarchy = hierarchy
        self.provides = provides
        self.where = where
        self.fd = os.open(where, os.O_RDONLY | os.O_DIRECTORY)


@dataclass(slots=True)
class Site:
    """The site group of a run in every tree that is used, and how to make groups in it."""

    name: str
    trees: list[Tree] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)

    @property
    def provides(self) -> frozenset[str]:
        """Which of memory, pids and freezer there are."""
        return frozenset().union(*(tree.provides for tree in self.trees))

    def make(self, name: str) -> groups.Group:
        """Make the group of a sandbox.

        Raises:
            FileExistsError: a sandbox of that name is there already.
        """
        by_name: dict[str, int] = {}
        folders: list[int] = []
        made: list[int] = []
        try:
            for tree, parent in zip(self.trees, self.parents, strict=True):
                os.mkdir(name, 0o755, dir_fd=parent)
                made.append(parent)
                folders.append(os.open(name, os.O_RDONLY | os.O_DIRECTORY, dir_fd=parent))
                by_name |= dict.fromkeys(tree.provides, folders[-1])
        except OSError:
            for fd in folders:
                os.close(fd)
            for parent in made:  # and no other: a group that was there is somebody's
                os.rmdir(name, dir_fd=parent)
            raise
        unified = next((t.hierarchy.unified for t in self.trees if "memory" in t.provides), False)
        freezer = next((t.hierarchy.unified for t in self.trees if "freezer" in t.provides), False)
        return groups.Group(by_name, folders, unified, freezer)

    def remove(self, name: str) -> list[str]:
        """Remove the group of a sandbox; gives what could not be removed."""
        return [
            f"cgroup {tree.where}/{self.name}/{name}"
            for tree, parent in zip(self.trees, self.parents, strict=True)
            if not groups.remove(parent, name)
        ]

    def close(self) -> list[str]:
        """Remove the site group itself and all that is left in it."""
        left = []
        for tree, parent in zip(self.trees, self.parents, strict=True):
            os.close(parent)
            if not groups.remove(tree.fd, self.name):
                left.append(f"cgroup {tree.where}/{self.name}")
            os.close(tree.fd)
        self.trees, self.parents = [], []
        return left


def open_site(run: str, owner: int, *, old_freezer: bool = True) -> Site:
    """Make the site group wherever groups can be made; without any, ``provides`` is empty.

    ``old_freezer``: whether that of version 1 is of use. What it holds cannot even be killed
    until somebody lets it go on, so that somebody must outlive it.
    """
    site = Site(owners.name(run, owner))
    missing = {"memory", "pids", "freezer"}
    for hierarchy in sorted(hierarchies.here(), key=lambda h: h.unified):
        if not (old_freezer or hierarchy.unified) and "freezer" in hierarchy.controllers:
            continue
        for where in dict.fromkeys((hierarchy.path, os.path.join(hierarchy.path, hierarchy.own))):
            provides = _try(hierarchy, where.rstrip("/"), site.name, missing)
            if provides:
                tree = Tree(hierarchy, where.rstrip("/"), provides)
                site.trees.append(tree)
                site.parents.append(
                    os.open(site.name, os.O_RDONLY | os.O_DIRECTORY, dir_fd=tree.fd)
                )
                missing -= provides
                break
    return site


def sweep() -> list[str]:
    """Kill and remove the site groups of owners that are dead; gives them in words."""
    return [
        f"cgroup {path} of run {owners.dead_run(os.path.basename(path))}"
        for path in _remove_sites(lambda name: owners.dead_run(name) is not None)
    ]


def discard(run: str, owner: int) -> list[str]:
    """Kill and remove the site groups of a run whose helper did not do it; gives their paths."""
    own = owners.name(run, owner)
    return _remove_sites(lambda name: name == own)


def _remove_sites(chosen: Callable[[str], bool]) -> list[str]:
    removed = []
    for hierarchy in hierarchies.here():
        for where in {hierarchy.path, os.path.join(hierarchy.path, hierarchy.own).rstrip("/")}:
            names = [name for name in _listdir(where) if chosen(name)]
            if not names:
                continue
            folder = os.open(where, os.O_RDONLY | os.O_DIRECTORY)
            try:
                removed += [f"{where}/{name}" for name in names if groups.remove(folder, name)]
            finally:
                os.close(folder)
    return removed


def _try(hierarchy: Hierarchy, where: str, name: str, missing: set[str]) -> frozenset[str]:
    """Make the site group and see what it gives; nothing is left where it gives nothing."""
    if not hierarchy.unified and not hierarchy.controllers & missing:
        return frozenset()
    path = os.path.join(where, name)
    try:
        if hierarchy.unified:
            with contextlib.suppress(OSError):
                _write(os.path.join(where, "cgroup.subtree_control"), "+memory +pids")
        os.mkdir(path)
    except OSError:
        return frozenset()
    provides = _unified(path, missing) if hierarchy.unified else hierarchy.controllers & missing
    if not provides:
        os.rmdir(path)
    return frozenset(provides)


def _unified(path: str, missing: set[str]) -> set[str]:
    with contextlib.suppress(OSError):
        _write(os.path.join(path, "cgroup.subtree_control"), "+memory +pids")
    with open(os.path.join(path, "cgroup.subtree_control"), encoding="ascii") as file:
        provides = set(file.read().split()) & missing
    if os.path.exists(os.path.join(path, "cgroup.freeze")):
        provides |= {"freezer"} & missing
    return provides


def _listdir(path: str) -> list[str]:
    try:
        return os.listdir(path)
    except OSError:
        return []


def _write(path: str, value: str) -> None:
    with open(path, "w", encoding="ascii") as file:
        file.write(value)
