"""What a sandbox sees of the host, and where its own files lie.

The helper hides ``/sys`` of its own mount namespace under a small file system, the *stage*:
nothing is ever made on a disk, and when the last process of the run is gone, so is the stage.
On it lie the skeleton of a root folder (a list of what is shown of ``/etc``, never ``/etc``
itself) and the places where each keeper, in a namespace of its own, mounts its sandbox.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from typing import Any

from sandboxes.helper import kernel

STAGE = "/sys"
SKELETON = f"{STAGE}/skeleton"
BOX = f"{STAGE}/box"  # the private file system of a sandbox
ROOT = f"{STAGE}/root"  # overlay of the skeleton
USR = f"{STAGE}/usr"  # overlay of /usr
PROC = f"{STAGE}/proc"
HOME, WORKSPACE = f"{BOX}/home", f"{BOX}/workspace"
#: Folders that begin empty and that everybody may write, by their place inside.
SCRATCH = {"/tmp": f"{BOX}/tmp", "/dev/shm": f"{BOX}/shm", "/var/tmp": f"{BOX}/vartmp"}
CLOCK = f"{BOX}/clock"
RUN = "/run/shakeout"
SHIM = f"{RUN}/wall.so"
PLAIN_ROOT = f"{BOX}/root"  # the root folder where there is no overlay

#: Names under /etc that are shown, where the host has them and everybody may read them.
_SHOWN = (
    "alternatives bash.bashrc ca-certificates ca-certificates.conf debian_version fonts gai.conf "
    "host.conf inputrc java-11-openjdk java-17-openjdk java-21-openjdk ld.so.cache ld.so.conf "
    "ld.so.conf.d locale.alias locale.conf login.defs lsb-release magic magic.mime "
    "mime.types networks os-release perl pki profile protocols python3 python3.11 python3.12 "
    "python3.13 rpc services shells ssl terminfo"
).split()
_LINKED = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
_FOLDERS = (
    "dev etc home home/agent mnt opt proc root run run/shakeout srv sys tmp usr var var/cache "
    "var/lib var/log var/tmp workspace"
).split()
_NAMES = "passwd: files\ngroup: files\nshadow: files\nhosts: files dns\nservices: files\nprotocols: files\n"
_RESOLVER = "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n"


def prepare(uid: int) -> None:
    """Make the stage, in a mount namespace of our own."""
    kernel.mount("none", "/", "", kernel.REC | kernel.PRIVATE)
    with contextlib.suppress(OSError):  # in user grade the host's mounts are locked together
        kernel.unmount(STAGE)  # every mount less makes all that follows faster
    flags = kernel.NOSUID | kernel.NODEV
    kernel.mount("stage", STAGE, "tmpfs", flags, "mode=0755,size=64m")
    for path in (SKELETON, BOX, ROOT, USR, PROC):
        os.mkdir(path, 0o755)
    for path in _FOLDERS:
        os.mkdir(f"{SKELETON}/{path}", 0o755)
    for path in ("tmp", "var/tmp"):
        os.chmod(f"{SKELETON}/{path}", 0o1777)
    for name in _LINKED:
        _copy_link_or_folder(name)
    for name in _SHOWN:
        _copy(f"/etc/{name}", f"{SKELETON}/etc/{name}")
    write(f"{SKELETON}/etc/nsswitch.conf", _NAMES)
    write(f"{SKELETON}/etc/resolv.conf", _RESOLVER)
    write(f"{SKELETON}/etc/hostname", "sandbox\n")
    write(
        f"{SKELETON}/etc/passwd",
        "root:x:0:0:root:/root:/bin/bash\n"
        f"agent:x:{uid}:{uid}:agent:/home/agent:/bin/bash\n"
        "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
    )
    write(f"{SKELETON}/etc/group", f"root:x:0:\nagent:x:{uid}:\nnogroup:x:65534:\n")


def linked() -> list[str]:
    """Top folders that are real folders on this host (no merged ``/usr``) and must be bound."""
    return [n for n in _LINKED if os.path.isdir(f"/{n}") and not os.path.islink(f"/{n}")]


def hosts(names: dict[str, str]) -> str:
    """The text of ``/etc/hosts``."""
    lines = ["127.0.0.1 localhost sandbox", "::1 localhost"]
    return "\n".join(lines + [f"{address} {name}" for name, address in names.items()]) + "\n"


def write(path: str, text: str, mode: int = 0o644) -> None:
    """Write a small file of ours."""
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text)
    os.chmod(path, mode)


def copy_file(source: str, target: str) -> None:
    """Copy contents (``shutil`` would load three compressors for this)."""
    with open(source, "rb", buffering=0) as old, open(target, "wb", buffering=0) as new:
        while data := old.read(1 << 20):
            new.write(data)


def make_box(uid: int, size: int) -> None:
    """Mount the private file system and make its folders."""
    kernel.mount("box", BOX, "tmpfs", kernel.NOSUID | kernel.NODEV, box_options(size))
    for path, mode in (
        (HOME, 0o755),
        (WORKSPACE, 0o755),
        *((path, 0o1777) for path in SCRATCH.values()),
    ):
        os.mkdir(path)
        os.chown(path, uid, uid)
        os.chmod(path, mode)
    os.mkdir(CLOCK, 0o755)
    write(f"{BOX}/ballast", ".")  # so that the space in use is never nothing: size=0 means no limit


def box_options(size: int) -> str:
    """Mount options for a size in bytes; inodes as on an ordinary disk, and 64 Ki at least."""
    return f"mode=0755,size={size},nr_inodes={max(1 << 16, size >> 11)}"


def mount_overlays() -> None:
    """Put the writable layers over the skeleton and over ``/usr``."""
    for lower, name, target in ((SKELETON, "root", ROOT), ("/usr", "usr", USR)):
        layers = f"lowerdir={lower},upperdir={BOX}/{name}-upper,workdir={BOX}/{name}-work"
        kernel.mount("overlay", target, "overlay", kernel.NOSUID | kernel.NODEV, layers)


def _copy_link_or_folder(name: str) -> None:
    if os.path.islink(f"/{name}"):
        os.symlink(os.readlink(f"/{name}"), f"{SKELETON}/{name}")
    elif os.path.isdir(f"/{name}"):
        os.mkdir(f"{SKELETON}/{name}", 0o755)


def _copy(source: str, target: str) -> None:
    """Copy what everybody may read; links stay links."""
    with contextlib.suppress(FileNotFoundError):
        status = os.lstat(source)
        if stat.S_ISLNK(status.st_mode):
            os.symlink(os.readlink(source), target)
        elif stat.S_ISDIR(status.st_mode) and status.st_mode & 0o005 == 0o005:
            os.mkdir(target, 0o755)
            for name in os.listdir(source):
                _copy(f"{source}/{name}", f"{target}/{name}")
        elif stat.S_ISREG(status.st_mode) and status.st_mode & 0o004:
            copy_file(source, target)
            os.chmod(target, 0o755 if status.st_mode & 0o001 else 0o644)


def fill(spec: dict[str, Any], *, overlay: bool) -> None:
    """Make the root folder of a sandbox: its own files of ``/etc``, and where things are mounted."""
    if overlay:
        for name in ("root-upper", "root-work", "usr-upper", "usr-work", "root-upper/etc"):
            os.mkdir(f"{BOX}/{name}", 0o755)
    else:
        _copy_skeleton()
    root = f"{BOX}/root-upper" if overlay else PLAIN_ROOT
    write(f"{root}/etc/hosts", hosts(spec["hosts"]))
    write(f"{root}/etc/timezone", spec["zone"] + "\n")
    os.symlink(f"/usr/share/zoneinfo/{spec['zone']}", f"{root}/etc/localtime")
    if spec["shim"]:
        write(f"{root}/etc/ld.so.preload", f"{SHIM}\n")
    for source, target, _ in _mounts(spec):
        _place(target, is_folder=os.path.isdir(source), overlay=overlay)


def _mounts(spec: dict[str, Any]) -> Iterator[tuple[str, str, bool]]:
    """Source, target, and whether the subject may write."""
    for item in spec["mounts"]:
        yield item["source"], item["target"], False
    if spec["shim"]:
        yield spec["shim"], SHIM, False
        yield f"{CLOCK}/offset", f"{RUN}/offset", False
        yield f"{CLOCK}/reads", f"{RUN}/reads", True


def _place(target: str, *, is_folder: bool, overlay: bool) -> None:
    """Make the mount point ahead, since bubblewrap would make it unreadable for others."""
    bases = {"/home/agent": HOME, "/workspace": WORKSPACE, **SCRATCH}
    if overlay:
        bases["/usr"] = f"{BOX}/usr-upper"
    bases["/"] = f"{BOX}/root-upper" if overlay else PLAIN_ROOT
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
    for path in _FOLDERS:
        os.makedirs(f"{PLAIN_ROOT}/{path}", 0o755, exist_ok=True)
    for entry in os.scandir(f"{SKELETON}/etc"):
        target = f"{PLAIN_ROOT}/etc/{entry.name}"
        if entry.is_symlink():
            os.symlink(os.readlink(entry.path), target)
        elif entry.is_dir():
            os.mkdir(target, 0o755)
        else:
            copy_file(entry.path, target)


def bubblewrap(program: str, spec: dict[str, Any], *, overlay: bool, uid: int) -> list[str]:
    """The command that builds the mount namespace; its own program only waits."""
    words = [program]
    if overlay:
        words += ["--bind", ROOT, "/", "--bind", USR, "/usr"]
    else:
        words += ["--unshare-user", "--uid", str(uid), "--gid", str(uid)]
        words += ["--bind", PLAIN_ROOT, "/", "--ro-bind", "/usr", "/usr"]
        for entry in os.scandir(f"{SKELETON}/etc"):
            if entry.is_dir(follow_symlinks=False):
                words += ["--ro-bind", entry.path, f"/etc/{entry.name}"]
    for name in linked():
        words += ["--ro-bind", f"/{name}", f"/{name}"]
    words += ["--dev", "/dev", "--bind", PROC, "/proc"]
    words += ["--bind", HOME, "/home/agent", "--bind", WORKSPACE, "/workspace"]
    for inside, source in SCRATCH.items():
        words += ["--bind", source, inside]
    for source, target, writable in _mounts(spec):
        words += ["--bind" if writable else "--ro-bind", source, target]
    if not overlay:
        words += ["--remount-ro", "/"]
    return [*words, "--info-fd", "3", "--", "/bin/cat"]


def mount_proc() -> None:
    """Mount ``/proc`` of the pid namespace we are in.

    What in it speaks of the whole machine is made read-only, or empty.
    """
    flags = kernel.NOSUID | kernel.NODEV | kernel.NOEXEC
    kernel.mount("proc", PROC, "proc", flags)
    for name in ("sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi"):
        with contextlib.suppress(FileNotFoundError):
            kernel.mount(f"{PROC}/{name}", f"{PROC}/{name}", "", kernel.BIND)
            kernel.mount(
                "none", f"{PROC}/{name}", "", kernel.REMOUNT | kernel.BIND | kernel.RDONLY | flags
            )
    for name in ("kcore", "keys", "key-users", "timer_list", "sched_debug", "kmsg"):
        with contextlib.suppress(FileNotFoundError):
            kernel.mount("/dev/null", f"{PROC}/{name}", "", kernel.BIND)
