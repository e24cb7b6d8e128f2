"""Control groups: hard limits, true counters, freezing.

Three controllers are wanted: ``memory``, ``pids`` and a freezer. Where they are is read from
``/proc/self/mountinfo`` (version 1, version 2, or both at once, as in the hybrid layout), and
believed only after a group could be made there. All groups of a run lie under one *site*
group whose name proves whose they are: run, owner's pid, its start time, its pid namespace.
Every access goes through descriptors opened at the start, because the helper later hides
``/sys`` from itself.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

PREFIX = "shakeout-"
_SITE = re.compile(r"shakeout-(?P<run>[A-Za-z0-9_-]+)\.(?P<pid>\d+)\.(?P<ticks>\d+)\.(?P<ns>\d+)")
_POLL = 0.0005


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


def _controllers(options: str, places: Mapping[frozenset[str], str]) -> frozenset[str]:
    """The controllers of a version 1 mount: the set of a known line that its options hold."""
    named = frozenset(options.split(","))
    return next((names for names in places if names and names <= named), frozenset())


def owner_name(run: str, owner: int) -> str:
    """The name of the site group: it proves whose the groups are."""
    return f"{PREFIX}{run}.{owner}.{start_ticks(owner)}.{os.stat('/proc/self/ns/pid').st_ino}"


def start_ticks(pid: int) -> int:
    """When a process started, in clock ticks since boot; 0 if it is gone or a zombie."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return 0
    return 0 if fields[0] in "ZX" else int(fields[19])


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

    def make(self, name: str) -> Group:
        """Make the group of a sandbox.

        Raises:
            FileExistsError: a sandbox of that name is there already.
        """
        by_name: dict[str, int] = {}
        folders = []
        try:
            for tree, parent in zip(self.trees, self.parents, strict=True):
                os.mkdir(name, 0o755, dir_fd=parent)
                fd = os.open(name, os.O_RDONLY | os.O_DIRECTORY, dir_fd=parent)
                folders.append(fd)
                by_name |= dict.fromkeys(tree.provides, fd)
        except OSError:
            for fd in folders:
                os.close(fd)
            self.remove(name)
            raise
        unified = next((t.hierarchy.unified for t in self.trees if "memory" in t.provides), False)
        freezer = next((t.hierarchy.unified for t in self.trees if "freezer" in t.provides), False)
        return Group(by_name, folders, unified, freezer)

    def remove(self, name: str) -> list[str]:
        """Remove the group of a sandbox; gives what could not be removed."""
        return [
            f"cgroup {tree.where}/{self.name}/{name}"
            for tree, parent in zip(self.trees, self.parents, strict=True)
            if not _remove(parent, name)
        ]

    def close(self) -> list[str]:
        """Remove the site group itself and all that is left in it."""
        left = []
        for tree, parent in zip(self.trees, self.parents, strict=True):
            os.close(parent)
            if not _remove(tree.fd, self.name):
                left.append(f"cgroup {tree.where}/{self.name}")
            os.close(tree.fd)
        self.trees, self.parents = [], []
        return left


@dataclass(slots=True)
class Group:
    """The groups of one sandbox.

    Attributes:
        by_name: descriptor of the folder for ``memory``, ``pids``, ``freezer``.
        folders: each folder once.
        unified: whether memory is version 2.
        unified_freezer: whether the freezer is version 2.
    """

    by_name: Mapping[str, int]
    folders: Sequence[int]
    unified: bool
    unified_freezer: bool

    def entrances(self) -> list[int]:
        """Descriptors of files: a process of one thread that writes 0 to each has joined.

        Version 1 has ``tasks``, which moves a thread without the lock over all processes of
        the machine that ``cgroup.procs`` takes; on an idle machine that lock costs 15 ms.
        """
        return [_entrance(fd) for fd in self.folders]

    def limit_memory(self, size: int) -> None:
        """Limit memory, with no swap beside it."""
        folder = self.by_name["memory"]
        if self.unified:
            _write(folder, "memory.max", size)
            with contextlib.suppress(FileNotFoundError):
                _write(folder, "memory.swap.max", 0)
            return
        names = ["memory.limit_in_bytes", "memory.memsw.limit_in_bytes"]
        if size > _counter(_read(folder, names[0])):  # the sum may never be below the part
            names.reverse()
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                _write(folder, name, size)

    def limit_pids(self, count: int) -> None:
        """Limit processes and threads."""
        _write(self.by_name["pids"], "pids.max", count)

    def freeze(self, *, on: bool, timeout: float) -> bool:
        """Stop or continue everything; whether the kernel confirmed it in time."""
        folder = self.by_name["freezer"]
        if self.unified_freezer:
            _write(folder, "cgroup.freeze", int(on))
            name, wanted = "cgroup.events", f"frozen {int(on)}"
        else:
            wanted = "FROZEN" if on else "THAWED"
            name = "freezer.state"
            _write(folder, name, wanted)
        deadline = time.monotonic() + timeout
        while wanted not in _read(folder, name):
            if time.monotonic() > deadline:
                return False
            time.sleep(_POLL)
        return True

    def counters(self) -> dict[str, int | None]:
        """What the kernel counted for this sandbox."""
        memory, pids = self.by_name.get("memory"), self.by_name.get("pids")
        oom = peak = refused = None
        if memory is not None:
            oom = _field(
                memory, "memory.events" if self.unified else "memory.oom_control", "oom_kill"
            )
            peak = _optional(memory, "memory.peak" if self.unified else "memory.max_usage_in_bytes")
        if pids is not None:
            refused = _field(pids, "pids.events", "max")
        return {"oom_kills": oom, "memory_peak": peak, "pids_refused": refused}

    def close(self) -> None:
        """Close the descriptors; the groups stay."""
        for fd in self.folders:
            os.close(fd)


def _entrance(folder: int) -> int:
    try:
        return os.open("tasks", os.O_WRONLY, dir_fd=folder)
    except FileNotFoundError:
        return os.open("cgroup.procs", os.O_WRONLY, dir_fd=folder)


def open_site(run: str, owner: int) -> Site:
    """Make the site group wherever groups can be made; without any, ``provides`` is empty."""
    site = Site(owner_name(run, owner))
    missing = {"memory", "pids", "freezer"}
    for hierarchy in sorted(_here(), key=lambda h: h.unified):
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
    removed = []
    namespace = os.stat("/proc/self/ns/pid").st_ino
    for hierarchy in _here():
        for where in {hierarchy.path, os.path.join(hierarchy.path, hierarchy.own)}:
            for name in _listdir(where):
                match = _SITE.fullmatch(name)
                if match is None or int(match["ns"]) != namespace:
                    continue
                ticks = start_ticks(int(match["pid"]))
                if ticks and ticks == int(match["ticks"]):
                    continue
                folder = os.open(where, os.O_RDONLY | os.O_DIRECTORY)
                with contextlib.closing(os.fdopen(folder)):
                    if _remove(folder, name):
                        removed.append(f"cgroup {where}/{name} of run {match['run']}")
    return removed


def _here() -> list[Hierarchy]:
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as mounts:
        with open("/proc/self/cgroup", encoding="utf-8", errors="surrogateescape") as own:
            return hierarchies(mounts.read(), own.read())


def _try(hierarchy: Hierarchy, where: str, name: str, missing: set[str]) -> frozenset[str]:
    """Make the site group and see what it gives; nothing is left where it gives nothing."""
    if not hierarchy.unified and not hierarchy.controllers & missing:
        return frozenset()
    path = os.path.join(where, name)
    try:
        if hierarchy.unified:
            with contextlib.suppress(OSError):
                _write_path(os.path.join(where, "cgroup.subtree_control"), "+memory +pids")
        os.mkdir(path)
    except OSError:
        return frozenset()
    provides = _unified(path, missing) if hierarchy.unified else hierarchy.controllers & missing
    if not provides:
        os.rmdir(path)
    return frozenset(provides)


def _unified(path: str, missing: set[str]) -> set[str]:
    with contextlib.suppress(OSError):
        _write_path(os.path.join(path, "cgroup.subtree_control"), "+memory +pids")
    with open(os.path.join(path, "cgroup.subtree_control"), encoding="ascii") as file:
        provides = set(file.read().split()) & missing
    if os.path.exists(os.path.join(path, "cgroup.freeze")):
        provides |= {"freezer"} & missing
    return provides


def _remove(parent: int, name: str) -> bool:
    """Kill what is in a group, then remove it and its children; whether it is gone."""
    try:
        folder = os.open(name, os.O_RDONLY | os.O_DIRECTORY, dir_fd=parent)
    except FileNotFoundError:
        return True
    try:
        children = [e.name for e in os.scandir(folder) if e.is_dir(follow_symlinks=False)]
        for child in children:
            _remove(folder, child)
        for pause in _pauses():
            _kill(folder)
            try:
                os.rmdir(name, dir_fd=parent)
            except FileNotFoundError:
                return True
            except OSError:
                time.sleep(pause)
            else:
                return True
        return False
    finally:
        os.close(folder)


def _pauses() -> Iterator[float]:
    """Waits that grow to about one second in all."""
    pause = 0.0002
    while pause < 0.3:
        yield pause
        pause *= 1.5


def _kill(folder: int) -> None:
    with contextlib.suppress(OSError):  # version 1's freezer holds the dying back
        _write(folder, "freezer.state", "THAWED")
    with contextlib.suppress(OSError):
        for pid in _read(folder, "cgroup.procs").split():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)


def _listdir(path: str) -> list[str]:
    try:
        return os.listdir(path)
    except OSError:
        return []


def _read(folder: int, name: str) -> str:
    fd = os.open(name, os.O_RDONLY, dir_fd=folder)
    try:
        return os.read(fd, 1 << 16).decode("ascii", "replace")
    finally:
        os.close(fd)


def _write(folder: int, name: str, value: object) -> None:
    fd = os.open(name, os.O_WRONLY, dir_fd=folder)
    try:
        os.write(fd, str(value).encode())
    finally:
        os.close(fd)


def _write_path(path: str, value: str) -> None:
    with open(path, "w", encoding="ascii") as file:
        file.write(value)


def _counter(text: str) -> int:
    return 1 << 63 if text.strip() == "max" else int(text)


def _optional(folder: int, name: str) -> int | None:
    try:
        return int(_read(folder, name))
    except (OSError, ValueError):
        return None


def _field(folder: int, name: str, wanted: str) -> int | None:
    try:
        text = _read(folder, name)
    except OSError:
        return None
    return next(
        (int(v) for k, _, v in (s.partition(" ") for s in text.splitlines()) if k == wanted), None
    )
