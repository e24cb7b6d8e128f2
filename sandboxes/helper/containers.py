"""The control groups of containers, which an engine makes and removes; we only use them."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass

from sandboxes.helper import groups, hierarchies
from sandboxes.helper.ground import Failed, NotJoinable, Unusable

_WANTED = frozenset({"memory", "pids", "freezer"})
_HOLDER = 1  # the container's own program


@dataclass(frozen=True, slots=True)
class Site:
    """Where this machine's control groups are, by descriptors opened before ``/sys`` is hidden."""

    mountinfo: str
    folders: dict[str, int]
    provides: frozenset[str] = _WANTED

    def open(self, pid: int, container: str) -> groups.Group:
        """The groups of a container, given its first process.

        All of them are joined, so that whatever the engine restricts holds for the subject too.

        Raises:
            Failed: one that is wanted is not there, or is not the container's own.
        """
        with open(f"/proc/{pid}/cgroup", encoding="utf-8", errors="surrogateescape") as file:
            places = hierarchies.hierarchies(self.mountinfo, file.read())
        places.sort(
            key=lambda place: place.unified
        )  # where both are, version 1 has the controllers
        own = {place.path: place for place in places if container in place.own}
        if not own:
            msg = (
                f"process {pid}, as the engine says, is none of a container to us: engine and "
                "harness are on two machines, or count processes in two pid namespaces"
            )
            raise NotJoinable(msg)
        by_name: dict[str, int] = {}
        unified: set[str] = set()
        folders = []
        for path, place in own.items():
            folders.append(
                os.open(place.own, os.O_RDONLY | os.O_DIRECTORY, dir_fd=self.folders[path])
            )
            names = _controllers(folders[-1]) if place.unified else place.controllers
            fresh = names & _WANTED - by_name.keys()
            by_name |= dict.fromkeys(fresh, folders[-1])
            unified |= fresh if place.unified else frozenset()
        group = groups.Group(
            by_name, folders, "memory" in unified, "freezer" in unified, ours=_HOLDER
        )
        if missing := _WANTED - by_name.keys():
            group.close()
            raise Failed(f"the engine made no control group of the container for {sorted(missing)}")
        return group

    def remove(self, name: str) -> list[str]:
        """Nothing: they go with the container."""
        del name
        return []

    def close(self) -> list[str]:
        """Nothing is ours."""
        return []


def open_site() -> Site:
    """Look where control groups are.

    Raises:
        Unusable: limits and freezing could not be had.
    """
    found = hierarchies.here()
    here = {name for place in found for name in place.controllers}
    for place in found:
        if place.unified:
            with contextlib.suppress(OSError), open(f"{place.path}/cgroup.controllers") as file:
                here |= {*file.read().split()}
            here |= {"freezer"}
    if missing := _WANTED - here:
        why = f"no control groups for {sorted(missing)} are to be seen under /sys/fs/cgroup"
        raise Unusable(why, "run where the machine's cgroup trees are mounted")
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
        mountinfo = file.read()
    flags = os.O_RDONLY | os.O_DIRECTORY
    return Site(mountinfo, {place.path: os.open(place.path, flags) for place in found})


def _controllers(folder: int) -> frozenset[str]:
    """What a group of version 2 controls; each can be frozen."""
    return frozenset(groups.read(folder, "cgroup.controllers").split()) | {"freezer"}
