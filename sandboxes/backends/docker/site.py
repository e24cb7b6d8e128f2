"""The sandboxes of one run: a container each, joined by the helper."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

from sandboxes.backends.docker.container import HOLDER, Container, Owner
from sandboxes.backends.docker.engine import Engine, Image
from sandboxes.base import SandboxSpec
from sandboxes.kept import KeptSandbox
from sandboxes.resident import Resident, check_label

#: An engine makes no more containers per second when it is asked for more at a time.
_AT_A_TIME = min(4, 2 * (os.cpu_count() or 1))


class DockerSandbox(KeptSandbox):
    """One live sandbox, and the container under it."""

    container: Container | None = None

    def destroy(self) -> Sequence[str]:
        """Remove it all; a second call gives nothing."""
        left = super().destroy()
        container, self.container = self.container, None
        return left if container is None else [*left, *container.remove()]


@dataclass(frozen=True, slots=True)
class DockerSite:
    """The helper of one run, and the engine."""

    helper: Resident
    engine: Engine
    image: Image
    owner: Owner
    turn: threading.BoundedSemaphore = field(
        default_factory=lambda: threading.BoundedSemaphore(_AT_A_TIME)
    )

    def create(self, spec: SandboxSpec) -> DockerSandbox:
        """Make a sandbox; safe to call from several threads.

        Raises:
            SandboxError: it could not be made; nothing is left.
        """
        check_label(spec.name)
        with self.turn, self.helper.making():
            container = Container(self.engine, self.image, self.owner, spec)
        ground = {"container": {"pid": container.pid, "id": container.id, "program": HOLDER}}
        try:
            sandbox = self.helper.build(DockerSandbox, spec, ground)
        except BaseException:
            container.remove()
            raise
        sandbox.container = container
        return sandbox
