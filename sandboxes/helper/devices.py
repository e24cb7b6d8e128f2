"""The devices of a sandbox: the harmless ones of the host, and terminals of its own."""

from __future__ import annotations

import os

from sandboxes.helper import kernel, plain

_SHOWN = ("null", "zero", "full", "random", "urandom", "tty")
_LINKS = {
    "fd": "/proc/self/fd",
    "stdin": "/proc/self/fd/0",
    "stdout": "/proc/self/fd/1",
    "stderr": "/proc/self/fd/2",
    "ptmx": "pts/ptmx",
    "core": "/proc/kcore",
}


def make(path: str) -> None:
    """Mount a file system on ``path`` that is fit to be ``/dev``."""
    kernel.mount("dev", path, "tmpfs", kernel.NOSUID, "mode=0755,size=64k")
    for name in _SHOWN:
        show(f"/dev/{name}", f"{path}/{name}")
    for name, target in _LINKS.items():
        os.symlink(target, f"{path}/{name}")
    for name in ("pts", "shm"):
        os.mkdir(f"{path}/{name}", 0o755)
    if not plain.is_plain():  # there, what is mounted in here would stay behind
        add_terminals(path)


def add_terminals(path: str) -> None:
    """Mount terminals in a ``/dev``: new ones, or those of a container that nobody else uses."""
    if plain.is_plain():
        kernel.mount("/dev/pts", f"{path}/pts", "", kernel.BIND)
        return
    flags = kernel.NOSUID | kernel.NOEXEC
    kernel.mount("devpts", f"{path}/pts", "devpts", flags, "newinstance,ptmxmode=0666,mode=620")


def show(source: str, target: str) -> None:
    """Bind a file over a new, empty one; a device is made anew where it would stay behind."""
    if plain.is_plain():
        status = os.stat(source)
        os.mknod(target, status.st_mode, status.st_rdev)
        os.chmod(target, status.st_mode & 0o777)
        return
    os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644))
    kernel.mount(source, target, "", kernel.BIND)
