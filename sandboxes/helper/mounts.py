"""The mounts of one sandbox: its private file system, its overlays, and what bubblewrap binds."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any

from sandboxes.helper import kernel, plain, trust
from sandboxes.helper.stage import (
    BOX,
    CLOCK,
    FOLDERS,
    HOME,
    PLAIN_ROOT,
    PROC,
    ROOT,
    RUN,
    SCRATCH,
    SHIM,
    SKELETON,
    TAKEN,
    UNDER_PROC,
    USR,
    WHOLE_PROC,
    WORKSPACE,
    copy,
    copy_file,
    hosts,
    linked,
    write,
)

#: For an upper layer that holds whole files and folders, whatever is usual on a machine.
_WHOLE = ",redirect_dir=off,metacopy=off"
_PROC_FLAGS = kernel.NOSUID | kernel.NODEV | kernel.NOEXEC
_CLOSED = ("/proc/", "/sys/", "/dev/")


def make_box(uid: int, size: int) -> None:
    """Mount the private file system and make its folders."""
    kernel.mount("box", BOX, "tmpfs", kernel.NOSUID | kernel.NODEV, box_options(size, size))
    for path, mode in (
        (HOME, 0o755),
        (WORKSPACE, 0o755),
        *((path, 0o1777) for path in SCRATCH.values()),
    ):
        os.mkdir(path)
        os.chown(path, uid, uid)
        os.chmod(path, mode)
    os.mkdir(CLOCK, 0o755)
    os.mkdir(TAKEN, 0o700)
    write(f"{BOX}/ballast", ".")  # so that the space in use is never nothing: size=0 means no limit


def box_options(limit: int, size: int) -> str:
    """Mount options for a size in bytes; the limit gives the inodes, as many as on a disk."""
    inodes = "" if plain.is_plain() else f",nr_inodes={max(1 << 16, limit >> 11)}"
    return f"mode=0755,size={size}{inodes}"


def mount_overlays() -> None:
    """Put the writable layers over the skeleton and over ``/usr``."""
    for lower, name, target in ((SKELETON, "root", ROOT), ("/usr", "usr", USR)):
        layers = f"lowerdir={lower},upperdir={BOX}/{name}-upper,workdir={BOX}/{name}-work"
        mount_overlay(layers, target)


def mount_overlay(layers: str, target: str) -> None:
    """Mount an overlay that takes changes, and what its upper layer holds is all of them."""
    options = layers if plain.is_plain() else layers + _WHOLE
    kernel.mount("overlay", target, "overlay", kernel.NOSUID | kernel.NODEV, options)


def fill(spec: dict[str, Any], *, overlay: bool) -> None:
    """Make the root folder of a sandbox: its own files of ``/etc``, and where things are mounted."""
    if overlay:
        for name in ("root-upper", "root-work", "usr-upper", "usr-work", "root-upper/etc"):
            os.mkdir(f"{BOX}/{name}", 0o755)
    else:
        _copy_skeleton()
    root = f"{BOX}/root-upper" if overlay else PLAIN_ROOT
    zone = zone_file(spec["zone"])
    write(f"{root}/etc/hosts", hosts(spec["hosts"]))
    write(f"{root}/etc/timezone", spec["zone"] + "\n")
    os.symlink(zone, f"{root}/etc/localtime")
    if spec["shim"]:
        write(f"{root}/etc/ld.so.preload", f"{SHIM}\n")
    if spec["trusted"]:
        _add_trusted(spec, root, overlay=overlay)
    for source, target, _ in mounted(spec):
        _place(target, is_folder=os.path.isdir(source), overlay=overlay)


def _add_trusted(spec: dict[str, Any], root: str, *, overlay: bool) -> None:
    """Add an authority to those of this host, which without an overlay are copied for that."""
    theirs, ours = f"{SKELETON}/{trust.FOLDERS[0]}", f"{root}/{trust.FOLDERS[0]}"
    if not overlay and os.path.isdir(ours):
        os.rmdir(ours)
        copy(theirs, ours)
    for folder in trust.FOLDERS:
        os.makedirs(f"{root}/{folder}", 0o755, exist_ok=True)
    for path, text in trust.files(spec, _bundle(f"{SKELETON}/{trust.BUNDLE}")).items():
        with contextlib.suppress(FileNotFoundError):
            os.unlink(f"{root}/{path}")  # it may be a link to a file of the host
        write(f"{root}/{path}", text)


def _bundle(path: str) -> str:
    if not os.path.isfile(path):
        return ""
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        return file.read()


def zone_file(zone: str) -> str:
    """The file of a time zone.

    Raises:
        ValueError: there is none of that name.
    """
    path = f"/usr/share/zoneinfo/{zone}"
    if ".." in zone.split("/") or (zone != "UTC" and not os.path.isfile(path)):
        msg = f"{zone!r} is no time zone of this machine: expected a name below /usr/share/zoneinfo"
        raise ValueError(msg)
    return path


def bubblewrap(spec: dict[str, Any], *, overlay: bool, uid: int) -> list[str]:
    """The options with which bubblewrap builds the mount namespace."""
    words: list[str] = []
    if overlay:
        words += ["--bind", ROOT, "/", "--bind", USR, "/usr"]
    else:
        words += ["--unshare-user", "--uid", str(uid), "--gid", str(uid)]
        words += ["--bind", PLAIN_ROOT, "/", "--ro-bind", "/usr", "/usr"]
        for entry in os.scandir(f"{SKELETON}/etc"):
            ours = spec["trusted"] and f"etc/{entry.name}" == trust.FOLDERS[0]
            if entry.is_dir(follow_symlinks=False) and not ours:
                words += ["--ro-bind", entry.path, f"/etc/{entry.name}"]
    for name in linked():
        words += ["--ro-bind", f"/{name}", f"/{name}"]
    words += ["--dev", "/dev"]
    words += ["--bind", WHOLE_PROC, f"/{UNDER_PROC}"] if spec["nest"] else []
    words += ["--bind", PROC, "/proc"]
    words += ["--bind", HOME, "/home/agent", "--bind", WORKSPACE, "/workspace"]
    for inside, source in SCRATCH.items():
        words += ["--bind", source, inside]
    for source, target, writable in mounted(spec):
        words += ["--bind" if writable else "--ro-bind", source, target]
    if not overlay:
        words += ["--remount-ro", "/"]
    return words


def mount_proc() -> None:
    """Mount ``/proc`` of the pid namespace we are in.

    What in it speaks of the whole machine is made read-only, or empty.
    """
    kernel.mount("proc", PROC, "proc", _PROC_FLAGS)
    if plain.is_plain():  # its machine is the container
        return
    for name in ("sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi"):
        with contextlib.suppress(FileNotFoundError):
            kernel.mount(f"{PROC}/{name}", f"{PROC}/{name}", "", kernel.BIND)
            kernel.mount(
                "none",
                f"{PROC}/{name}",
                "",
                kernel.REMOUNT | kernel.BIND | kernel.RDONLY | _PROC_FLAGS,
            )
    for name in ("kcore", "keys", "key-users", "timer_list", "sched_debug", "kmsg"):
        with contextlib.suppress(FileNotFoundError):
            kernel.mount("/dev/null", f"{PROC}/{name}", "", kernel.BIND)


def mount_whole_proc() -> None:
    """Mount ``/proc`` once more with nothing covered, to be put where nobody reaches it.

    A user namespace may mount a ``/proc`` of its own only where one is there whole: the kernel
    lets nobody uncover by a new mount what is covered in all the old ones.
    """
    kernel.mount("proc", WHOLE_PROC, "proc", _PROC_FLAGS)


def mounted(spec: dict[str, Any]) -> Iterator[tuple[str, str, bool]]:
    """Source, target, and whether the subject may write."""
    for item in spec["mounts"]:
        yield item["source"], item["target"], False
    if spec["shim"]:
        yield spec["shim"], SHIM, False
        yield f"{CLOCK}/offset", f"{RUN}/offset", False
        yield f"{CLOCK}/reads", f"{RUN}/reads", True


def check_target(target: str) -> None:
    """Refuse a place where nothing can be mounted."""
    if ".." in target.split("/") or not target.startswith("/") or target.startswith(_CLOSED):
        msg = f"nothing can be mounted on {target!r}: expected an absolute path outside {_CLOSED}"
        raise ValueError(msg)


def _place(target: str, *, is_folder: bool, overlay: bool) -> None:
    """Make the mount point ahead, since bubblewrap would make it unreadable for others."""
    bases = {"/home/agent": HOME, "/workspace": WORKSPACE, **SCRATCH}
    if overlay:
        bases["/usr"] = f"{BOX}/usr-upper"
    bases["/"] = f"{BOX}/root-upper" if overlay else PLAIN_ROOT
    check_target(target)
    inside = next(b for b in bases if target.startswith(b.rstrip("/") + "/"))
    path = bases[inside] + "/" + target[len(inside) :].lstrip("/")
    os.makedirs(path if is_folder else os.path.dirname(path), 0o755, exist_ok=True)
    if not is_folder:
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o644))


def _copy_skeleton() -> None:
    """The skeleton without its big folders, which are bound."""
    os.mkdir(PLAIN_ROOT, 0o755)
    for entry in os.scandir(SKELETON):
        if entry.is_symlink():
            os.symlink(os.readlink(entry.path), f"{PLAIN_ROOT}/{entry.name}")
        else:
            os.mkdir(f"{PLAIN_ROOT}/{entry.name}", 0o755)
    for path in FOLDERS:
        os.makedirs(f"{PLAIN_ROOT}/{path}", 0o755, exist_ok=True)
    for entry in os.scandir(f"{SKELETON}/etc"):
        target = f"{PLAIN_ROOT}/etc/{entry.name}"
        if entry.is_symlink():
            os.symlink(os.readlink(entry.path), target)
        elif entry.is_dir():
            os.mkdir(target, 0o755)
        else:
            copy_file(entry.path, target)
