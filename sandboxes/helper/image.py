"""The root folder of a sandbox made of an image: what of it is ours, and what is mounted in it.

The image is somebody else's: a path in it may be a link to anywhere. So every path is
resolved as if the image were the whole world, and what is written replaces a link instead of
following it.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any

from sandboxes.helper import devices, kernel, mounts, paths, plain, stage, trust

_IN_ROOT = kernel.RESOLVE_IN_ROOT | kernel.RESOLVE_NO_MAGICLINKS
_OURS = kernel.NOSUID | kernel.NODEV
_ZONES = "/usr/share/zoneinfo"
_LONGEST = 1 << 20
UPPER = f"{stage.BOX}/root-upper"  # takes the changes


def build(spec: dict[str, Any], uid: int) -> None:
    """Put an overlay over the image that is on the stage, and the sandbox's own into it."""
    work = f"{stage.BOX}/root-work"
    for path in (UPPER, work):
        os.mkdir(path, 0o755)
    layers = f"lowerdir={stage.IMAGE},upperdir={UPPER},workdir={work}"
    mounts.mount_overlay(layers, stage.ROOT)
    devices.make(stage.DEV)
    with opened(stage.ROOT) as root:
        furnish(root, spec, uid)


@contextlib.contextmanager
def opened(path: str) -> Iterator[int]:
    """A root folder, open."""
    root = stage.open_folder(path)
    try:
        yield root
    finally:
        os.close(root)


def furnish(root: int, spec: dict[str, Any], uid: int) -> None:
    """Write the sandbox's own files of ``/etc``, and mount what is mounted inside."""
    zone = mounts.zone_file(spec["zone"])
    for path, text in _files(root, spec, uid).items():
        _plant(root, path, text)
    paths.plant(root, _item("etc/localtime", "link", target=zone), b"", 0)
    attach(root, stage.DEV, "/dev", flags=0)
    attach(root, stage.HOME, "/home/agent", flags=_OURS)
    attach(root, stage.WORKSPACE, "/workspace", flags=_OURS)
    for inside, outside in stage.SCRATCH.items():
        attach(root, outside, inside, flags=_OURS)
    if spec["nest"]:
        os.close(_mount_point(root, stage.UNDER_PROC, is_folder=True))
    if not paths.exists(root, zone.lstrip("/")):
        attach(root, _ZONES, _ZONES, flags=_OURS | kernel.RDONLY)
    for source, target, writable in mounts.mounted(spec):
        mounts.check_target(target)
        attach(root, source, target, flags=_OURS if writable else _OURS | kernel.RDONLY)


def move_in(*, nest: bool) -> int:
    """Go into a mount namespace whose root is the one made ready; gives a descriptor of it.

    Where the kernel has no way for that, the root folder alone is left behind, and it is -1.
    """
    if plain.is_plain():
        with opened(stage.ROOT) as root:
            attach(root, stage.PROC, "/proc", flags=0)
        os.chroot(stage.ROOT)
        os.chdir("/")
        return -1
    kernel.unshare(kernel.NEWNS)
    with opened(stage.ROOT) as root:
        if nest:
            attach(root, stage.WHOLE_PROC, f"/{stage.UNDER_PROC}", flags=0)
        attach(root, stage.PROC, "/proc", flags=0)
    kernel.change_root(stage.ROOT)
    return os.open("/proc/self/ns/mnt", os.O_RDONLY)


def attach(root: int, source: str, target: str, *, flags: int) -> None:
    """Mount a folder or file, and what is mounted in it, on a path of the image."""
    if plain.is_plain():
        _bind(root, source, target, flags)
        return
    tree = kernel.copy_tree(source, recursive=True)
    try:
        if flags:
            kernel.restrict_tree(tree, flags)
        at = _mount_point(root, target, is_folder=os.path.isdir(source))
        try:
            kernel.attach_tree(tree, at)
        finally:
            os.close(at)
    finally:
        os.close(tree)


def _bind(root: int, source: str, target: str, flags: int) -> None:
    """The same by path: nobody is in the image yet. What is mounted in the source stays there."""
    is_folder = os.path.isdir(source)
    at = _mount_point(root, target, is_folder=is_folder)
    place = os.readlink(f"/proc/self/fd/{at}")
    os.close(at)
    if is_folder and flags & kernel.RDONLY:
        below = f"lowerdir={source}:{stage.NOTHING}"
        kernel.mount("overlay", place, "overlay", flags, below)
    else:
        kernel.mount(source, place, "", kernel.BIND)
    if source == stage.DEV:
        devices.add_terminals(place)


def _mount_point(root: int, target: str, *, is_folder: bool) -> int:
    """Open a path of the image, which is made where it is not there."""
    names = [os.fsencode(name) for name in target.split("/") if name]
    folder = os.dup(root)
    try:
        for depth, name in enumerate(names, 1):
            path = b"/".join(names[:depth])
            try:
                inner = kernel.open_in(root, path, os.O_PATH, _IN_ROOT)
            except FileNotFoundError:
                _make(folder, name, is_folder=is_folder or depth < len(names))
                inner = kernel.open_in(root, path, os.O_PATH, _IN_ROOT)
            os.close(folder)
            folder = inner
        return os.dup(folder)
    finally:
        os.close(folder)


def _make(folder: int, name: bytes, *, is_folder: bool) -> None:
    if is_folder:
        os.mkdir(name, 0o755, dir_fd=folder)
    else:
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW
        os.close(os.open(name, flags, 0o644, dir_fd=folder))


def _files(root: int, spec: dict[str, Any], uid: int) -> dict[str, str]:
    agent = f"agent:x:{uid}:"
    files = {
        "etc/hosts": stage.hosts(spec["hosts"]),
        "etc/hostname": "sandbox\n",
        "etc/nsswitch.conf": stage.NAMES,
        "etc/resolv.conf": stage.RESOLVER,
        "etc/timezone": spec["zone"] + "\n",
        "etc/passwd": _accounts(root, "etc/passwd", f"{agent}{uid}:agent:/home/agent:/bin/sh"),
        "etc/group": _accounts(root, "etc/group", agent),
    }
    files |= trust.files(spec, _text(root, trust.BUNDLE) if spec["trusted"] else "")
    return files | ({"etc/ld.so.preload": f"{stage.SHIM}\n"} if spec["shim"] else {})


def _text(root: int, path: str) -> str:
    """The text of a file of the image; empty where it has none."""
    fd = paths.open_file(root, path)
    if fd is None:
        return ""
    with os.fdopen(fd, encoding="utf-8", errors="surrogateescape") as file:
        return file.read(_LONGEST)


def _accounts(root: int, path: str, agent: str) -> str:
    """The image's own accounts, with the agent instead of whoever has its name or number."""
    name, _, number = agent.split(":")[:3]
    kept = [
        line
        for line in _text(root, path).splitlines()
        if line.count(":") >= 2 and line.split(":")[0] != name and line.split(":")[2] != number
    ]
    return "\n".join([*kept, agent]) + "\n"


def _plant(root: int, path: str, text: str) -> None:
    paths.plant(root, _item(path, "file"), text.encode("utf-8", "surrogateescape"), 0)


def _item(path: str, kind: str, target: str = "") -> dict[str, Any]:
    return {"path": path, "kind": kind, "target": target, "mode": 0o644}
