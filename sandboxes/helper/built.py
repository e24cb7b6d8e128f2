"""The ground of bubblewrap: fresh namespaces, and what the stage shows of the host."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sandboxes.helper import cgroups, groups, kernel, mounts, network, overlay, pid1, stage
from sandboxes.helper.ground import Entered, Failed, open_layers


@dataclass(frozen=True, slots=True)
class Built:
    """What the helper prepared for all sandboxes of a run.

    Attributes:
        site: control groups.
        bwrap: path of bubblewrap.
        uid: of the agent, in the keeper's user namespace.
        root_grade: whether users and overlays are ours to make.
    """

    site: cgroups.Site
    bwrap: str
    uid: int
    root_grade: bool

    def ahead(self, ours: Sequence[socket.socket]) -> Entered:
        """Go into fresh namespaces with a working loopback, and fork pid 1 into them."""
        fresh = kernel.NEWNS | kernel.NEWNET | kernel.NEWIPC | kernel.NEWUTS | kernel.NEWPID
        # In root grade each program leaves its control group's name behind after joining it.
        kernel.unshare(fresh if self.root_grade else fresh | kernel.NEWCGROUP)
        socket.sethostname("sandbox")
        first = pid1.fork(ours, self.bwrap)
        network.raise_loopback()
        return Entered(first, network.counter())

    def enter(self, spec: dict[str, Any], ours: Sequence[socket.socket]) -> Entered:
        """The same, when it was not done ahead."""
        del spec
        return self.ahead(ours)

    def furnish(self, spec: dict[str, Any]) -> None:
        """Put the sandbox's own files of ``/etc`` over the skeleton."""
        mounts.fill(spec, overlay=self.root_grade)
        if self.root_grade:
            mounts.mount_overlays()

    def layers(self) -> list[overlay.Layer]:
        """One over the skeleton, one over ``/usr``."""
        if not self.root_grade:
            return []
        return open_layers(
            [
                ("/", stage.SKELETON, f"{stage.BOX}/root-upper"),
                ("/usr", "/usr", f"{stage.BOX}/usr-upper"),
            ]
        )

    def group(self, spec: dict[str, Any]) -> groups.Group | None:
        """Groups below the run's, where any can be made."""
        if not self.site.provides:
            return None
        try:
            return self.site.make(spec["name"])
        except FileExistsError as error:
            raise Failed(f"a sandbox named {spec['name']!r} is there already") from error

    def order(self, spec: dict[str, Any]) -> dict[str, Any]:
        """How bubblewrap is to build the root."""
        options = mounts.bubblewrap(spec, overlay=self.root_grade, uid=self.uid)
        return {"options": options, "first_to_die": False}

    def bereave(self, making: int) -> None:
        """Nothing: the harness makes none of it itself."""
        del making
