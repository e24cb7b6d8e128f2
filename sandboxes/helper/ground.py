"""What a helper stands on: how the namespaces, the root and the groups of a sandbox come to be.

Everything after that is the same for every ground: pid 1, what it starts, what the harness
can ask.
"""

from __future__ import annotations

import socket
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from sandboxes.helper import groups, overlay, stage
from sandboxes.helper.pid1 import Pid1

#: What else to do where the refusal may be a container engine's.
IN_A_CONTAINER = (
    "in a container: --security-opt seccomp=nest.json --security-opt systempaths=unconfined, "
    "see docs/nesting.md"
)

#: What is said on a helper's command line where its sandboxes are elsewhere.
APART = "apart"


class Failed(Exception):
    """An operation could not be done; the message says what and why."""

    kind = "SandboxError"


class NotJoinable(Failed):
    """A container is not to be entered from here."""

    kind = "NotJoinable"


class Unusable(Exception):
    """The machine refuses; the arguments are the reason and the remedy."""


@dataclass(frozen=True, slots=True)
class Entered:
    """The namespaces of a sandbox: the keeper is in them, but for those of pids and mounts.

    Attributes:
        pid1: its first process, which waits for its order.
        counter: the packet counter, where the kernel has packet sockets.
    """

    pid1: Pid1
    counter: socket.socket | None


class Groups(Protocol):
    """Where the control groups of a run come from."""

    @property
    def provides(self) -> frozenset[str]:
        """Which of memory, pids and freezer there are."""

    def remove(self, name: str) -> list[str]:
        """Remove the group of a sandbox; gives what could not be removed."""

    def close(self) -> list[str]:
        """Remove all that is left; gives what could not be removed."""


class Ground(Protocol):
    """One way to make sandboxes.

    ``spec`` is always the request of the harness. Whatever is mounted is in the keeper's own
    mount namespace, and goes with it.
    """

    @property
    def uid(self) -> int:
        """Of the agent, in the keeper's user namespace."""

    @property
    def root_grade(self) -> bool:
        """Whether users and overlays are ours to make."""

    @property
    def site(self) -> Groups: ...

    def ahead(self, ours: Sequence[socket.socket]) -> Entered | None:
        """Enter before the sandbox is known, where that can be; ``ours`` is not for pid 1."""

    def enter(self, spec: dict[str, Any], ours: Sequence[socket.socket]) -> Entered:
        """Enter the namespaces of this sandbox."""

    def furnish(self, spec: dict[str, Any]) -> None:
        """Make the root folder, beside the private file system that is there already."""

    def layers(self) -> list[overlay.Layer]:
        """What takes the changes to the system, where that is recorded."""

    def group(self, spec: dict[str, Any]) -> groups.Group | None:
        """The control groups of the sandbox; none where none can be had."""

    def order(self, spec: dict[str, Any]) -> dict[str, Any]:
        """What pid 1 has to know to move into the root."""

    def bereave(self, making: int) -> None:
        """The harness was killed: remove what it made without us, so many being in the making."""


def open_layers(lowers: Sequence[tuple[str, str, str]]) -> list[overlay.Layer]:
    """Layers by prefix, lower folder and upper folder; what is in them now is given."""
    layers = [
        overlay.Layer(prefix, stage.open_folder(lower), stage.open_folder(upper))
        for prefix, lower, upper in lowers
    ]
    for layer in layers:
        layer.remember()
    return layers
