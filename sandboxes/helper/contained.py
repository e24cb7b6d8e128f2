"""The ground of a container that cannot be joined from outside: the keeper is in it.

It is the container's root and sees none of the machine around it. The sandbox is made below it
as on every other ground: pid 1 gets a pid namespace of its own, the root is an overlay over the
image, and the subject is nobody. So it can neither see nor signal the keeper, and holds none of
its descriptors.
"""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sandboxes.helper import (
    cgroups,
    groups,
    hierarchies,
    image,
    kernel,
    network,
    overlay,
    pid1,
    plain,
    stage,
)
from sandboxes.helper.ground import Entered, Failed, open_layers

AGENT = 61234
_FLAGS = kernel.NOSUID | kernel.NODEV | kernel.NOEXEC
_BROUGHT = f"{stage.STAGE}/brought"


@dataclass(frozen=True, slots=True)
class Contained:
    """What there is in the container.

    Attributes:
        site: control groups, where any can be made.
    """

    site: cgroups.Site
    uid: int = AGENT
    root_grade: bool = True

    def ahead(self, ours: Sequence[socket.socket]) -> None:
        """Nothing: there is one sandbox."""
        del ours

    def enter(self, spec: dict[str, Any], ours: Sequence[socket.socket]) -> Entered:
        """Unpack what was brought along, and have a pid namespace."""
        _unpack(spec)
        kernel.unshare(kernel.NEWPID)
        first = pid1.fork(ours, "")
        network.allow_ipv6()
        with contextlib.suppress(OSError):  # then the engine has raised it
            network.raise_loopback()
        if plain.is_plain():  # it tells nobody of system calls
            spec["watch"] = []
        return Entered(first, network.counter())

    def furnish(self, spec: dict[str, Any]) -> None:
        """Put an overlay over the image, and the sandbox's own into it."""
        kernel.mount("/", stage.IMAGE, "", kernel.BIND)
        image.build(spec, self.uid)

    def layers(self) -> list[overlay.Layer]:
        """One over the whole image."""
        return open_layers([("/", stage.IMAGE, image.UPPER)])

    def group(self, spec: dict[str, Any]) -> groups.Group | None:
        """Groups below the container's, where any can be made."""
        return self.site.make(spec["name"]) if self.site.provides else None

    def order(self, spec: dict[str, Any]) -> dict[str, Any]:
        """Nothing builds the root; what starts is the first to die for want of memory."""
        del spec
        return {"options": [], "first_to_die": True}

    def bereave(self, making: int) -> None:
        """Nothing: everything goes with the container."""
        del making


def prepare() -> Contained:
    """Get the container ready."""
    kernel.unshare(kernel.NEWNS)
    with contextlib.suppress(OSError):
        _make_writable("/proc/sys")
    site = _open_groups()
    stage.prepare()
    kernel.hide_memory()
    return Contained(site)


def _make_writable(path: str) -> None:
    """For us alone: what engines show read-only in a container."""
    kernel.mount("none", path, "", kernel.REMOUNT | kernel.BIND | _FLAGS)


def _open_groups() -> cgroups.Site:
    """Have control groups below the container's own."""
    for hierarchy in hierarchies.here():
        with contextlib.suppress(OSError):
            _make_writable(hierarchy.path)
            if hierarchy.unified:  # a group that has processes can have none with limits below
                os.mkdir(f"{hierarchy.path}/sidecar")
                stage.write(f"{hierarchy.path}/sidecar/cgroup.procs", str(os.getpid()))
    return cgroups.open_site("sandbox", os.getpid(), old_freezer=False)


def _unpack(spec: dict[str, Any]) -> None:
    """Have the files of the harness's machine that are shown inside."""
    if "brought" not in spec:
        return
    import tarfile  # noqa: PLC0415 - slow, and seldom needed

    os.mkdir(_BROUGHT, 0o755)
    kernel.mount("brought", _BROUGHT, "tmpfs", kernel.NOSUID | kernel.NODEV, "mode=0755")
    try:
        with (
            os.fdopen(spec["brought"], "rb") as file,
            tarfile.open(fileobj=file, mode="r|") as archive,
        ):
            archive.extractall(_BROUGHT, numeric_owner=True)  # noqa: S202 - of the harness's making
    except (tarfile.TarError, EOFError) as error:
        raise Failed(f"what is shown of the machine did not arrive: {error}") from error
    for number, item in enumerate(spec["mounts"]):
        item["source"] = f"{_BROUGHT}/{number}"
    if spec["shim"]:
        spec["shim"] = f"{_BROUGHT}/shim"
