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

from sandboxes.helper import kernel, plain

STAGE = "/sys"
SKELETON = f"{STAGE}/skeleton"
BOX = f"{STAGE}/box"  # the private file system of a sandbox
ROOT = f"{STAGE}/root"  # overlay of the skeleton
USR = f"{STAGE}/usr"  # overlay of /usr
PROC = f"{STAGE}/proc"
WHOLE_PROC = f"{STAGE}/whole-proc"  # the same with nothing covered, where that has to be there
DEV = f"{STAGE}/dev"
IMAGE = f"{STAGE}/image"  # the root folder of a container, where that is what is shown
NOTHING = f"{STAGE}/nothing"  # an empty folder
HOME, WORKSPACE = f"{BOX}/home", f"{BOX}/workspace"
#: Folders that begin empty and that everybody may write, by their place inside.
SCRATCH = {"/tmp": f"{BOX}/tmp", "/dev/shm": f"{BOX}/shm", "/var/tmp": f"{BOX}/vartmp"}  # noqa: S108
CLOCK = f"{BOX}/clock"
TAKEN = f"{BOX}/taken"  # what is kept from the subject for a while
RUN = "/run/shakeout"
SHIM = f"{RUN}/wall.so"
UNDER_PROC = "proc/whole"  # a place inside that nobody reaches, for what has to be there
PLAIN_ROOT = f"{BOX}/root"  # the root folder where there is no overlay

#: Names under /etc that are shown, where the host has them and everybody may read them.
_SHOWN = (
    "alternatives",
    "bash.bashrc",
    "ca-certificates",
    "ca-certificates.conf",
    "debian_version",
    "fonts",
    "gai.conf",
    "host.conf",
    "inputrc",
    "java-11-openjdk",
    "java-17-openjdk",
    "java-21-openjdk",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "locale.alias",
    "locale.conf",
    "login.defs",
    "lsb-release",
    "magic",
    "magic.mime",
    "mime.types",
    "networks",
    "os-release",
    "perl",
    "pki",
    "profile",
    "protocols",
    "python3",
    "python3.11",
    "python3.12",
    "python3.13",
    "rpc",
    "services",
    "shells",
    "ssl",
    "terminfo",
)
_LINKED = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
FOLDERS = (
    "dev",
    "etc",
    "home",
    "home/agent",
    "mnt",
    "opt",
    "proc",
    UNDER_PROC,
    "root",
    "run",
    "run/shakeout",
    "srv",
    "sys",
    "tmp",
    "usr",
    "var",
    "var/cache",
    "var/lib",
    "var/log",
    "var/tmp",
    "workspace",
)
NAMES = "passwd: files\ngroup: files\nshadow: files\nhosts: files dns\nservices: files\nprotocols: files\n"
RESOLVER = "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n"


def prepare() -> None:
    """Make the stage, in a mount namespace of our own."""
    if not plain.is_plain():
        kernel.mount("none", "/", "", kernel.REC | kernel.PRIVATE)
    with contextlib.suppress(OSError):  # in user grade the host's mounts are locked together
        kernel.unmount(STAGE)  # every mount less makes all that follows faster
    flags = kernel.NOSUID | kernel.NODEV
    kernel.mount("stage", STAGE, "tmpfs", flags, "mode=0755,size=64m")
    for path in (SKELETON, BOX, ROOT, USR, PROC, WHOLE_PROC, DEV, IMAGE, NOTHING):
        os.mkdir(path, 0o755)


def make_skeleton(uid: int) -> None:
    """Make the skeleton of a root folder out of what is shown of this host."""
    for path in FOLDERS:
        os.mkdir(f"{SKELETON}/{path}", 0o755)
    for path in ("tmp", "var/tmp"):
        os.chmod(f"{SKELETON}/{path}", 0o1777)  # noqa: S103 - as on every system
    for name in _LINKED:
        _copy_link_or_folder(name)
    for name in _SHOWN:
        copy(f"/etc/{name}", f"{SKELETON}/etc/{name}")
    write(f"{SKELETON}/etc/nsswitch.conf", NAMES)
    write(f"{SKELETON}/etc/resolv.conf", RESOLVER)
    write(f"{SKELETON}/etc/hostname", "sandbox\n")
    write(
        f"{SKELETON}/etc/passwd",
        "root:x:0:0:root:/root:/bin/bash\n"
        f"agent:x:{uid}:{uid}:agent:/home/agent:/bin/bash\n"
        "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
    )
    write(f"{SKELETON}/etc/group", f"root:x:0:\nagent:x:{uid}:\nnogroup:x:65534:\n")


def open_folder(path: str) -> int:
    """Open a folder of ours; no link is followed."""
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)


def linked() -> list[str]:
    """Top folders that are real folders on this host (no merged ``/usr``) and must be bound."""
    return [n for n in _LINKED if os.path.isdir(f"/{n}") and not os.path.islink(f"/{n}")]


def hosts(names: dict[str, str]) -> str:
    """The text of ``/etc/hosts``."""
    lines = ["127.0.0.1 localhost sandbox", "::1 localhost"]
    return "\n".join(lines + [f"{address} {name}" for name, address in names.items()]) + "\n"


def write(path: str, text: str, mode: int = 0o644) -> None:
    """Write a small file of ours."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        data = memoryview(text.encode("utf-8", "surrogateescape"))
        while data:
            data = data[os.write(fd, data) :]
        os.fchmod(fd, mode)
    finally:
        os.close(fd)


def copy_file(source: str, target: str) -> None:
    """Copy contents (``shutil`` would load three compressors for this)."""
    with open(source, "rb", buffering=0) as old, open(target, "wb", buffering=0) as new:
        while data := old.read(1 << 20):
            new.write(data)


def _copy_link_or_folder(name: str) -> None:
    if os.path.islink(f"/{name}"):
        os.symlink(os.readlink(f"/{name}"), f"{SKELETON}/{name}")
    elif os.path.isdir(f"/{name}"):
        os.mkdir(f"{SKELETON}/{name}", 0o755)


def copy(source: str, target: str) -> None:
    """Copy what everybody may read; links stay links."""
    with contextlib.suppress(FileNotFoundError):
        status = os.lstat(source)
        if stat.S_ISLNK(status.st_mode):
            os.symlink(os.readlink(source), target)
        elif stat.S_ISDIR(status.st_mode) and status.st_mode & 0o005 == 0o005:
            os.mkdir(target, 0o755)
            for name in os.listdir(source):
                copy(f"{source}/{name}", f"{target}/{name}")
        elif stat.S_ISREG(status.st_mode) and status.st_mode & 0o004:
            copy_file(source, target)
            os.chmod(target, 0o755 if status.st_mode & 0o001 else 0o644)
