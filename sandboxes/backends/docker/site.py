"""The sandboxes of one run: a container each, joined by the helper, or with a sidecar in it."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sandboxes.backends.docker import sidecar
from sandboxes.backends.docker.container import HOLDER, Container, Recipe
from sandboxes.backends.docker.engine import Engine
from sandboxes.base import ProcessSpec, SandboxSpec
from sandboxes.kept import KeptSandbox
from sandboxes.resident import Resident, check_label

_PIPE = re.compile(r"pipe:\[(\d+)\]")
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


class ApartSandbox(DockerSandbox):
    """One whose keeper is in the container: pipes that are handed in have other numbers there."""

    def __init__(self, *parts: Any) -> None:
        super().__init__(*parts)
        self._pipes: dict[int, int] = {}

    def start(self, spec: ProcessSpec) -> int:
        """Start a program."""
        ours = os.fstat(spec.stdin).st_ino if spec.stdin is not None else 0
        number = super().start(spec)
        began = self._beginnings.get(number)
        if ours and began and (match := _PIPE.fullmatch(began.stdin)):
            self._pipes[ours] = int(match[1])
            self._beginnings[number] = replace(began, stdin=f"pipe:[{ours}]")
        return number

    def limit(
        self,
        *,
        memory: int | None = None,
        pids: int | None = None,
        descriptors: int | None = None,
    ) -> None:
        """Change a limit while it runs, the engine's around it too."""
        if memory is not None and self.container is not None:
            self.container.leave_memory(memory)
        super().limit(memory=memory, pids=pids, descriptors=descriptors)

    def waiting(self, pipe: int) -> int:
        """How many threads wait to read from a pipe."""
        return super().waiting(self._pipes.get(pipe, pipe))


@dataclass(frozen=True, slots=True)
class DockerSite:
    """The helper of one run, and the engine.

    Attributes:
        recipe: how their containers are made.
    """

    helper: Resident
    engine: Engine
    recipe: Recipe
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
            container = Container(self.engine, self.recipe, spec)
        try:
            make = self._apart if self.recipe.apart else self._joined
            sandbox = make(container, spec)
        except BaseException:
            container.remove()
            raise
        sandbox.container = container
        return sandbox

    def _joined(self, container: Container, spec: SandboxSpec) -> DockerSandbox:
        ground = {"container": {"pid": container.pid, "id": container.id, "program": HOLDER}}
        return self.helper.build(DockerSandbox, spec, ground)

    def _apart(self, container: Container, spec: SandboxSpec) -> DockerSandbox:
        spec = replace(spec, guarded=None)  # there is nothing of this machine in there
        with container.handed_over() as stream, sidecar.brought(spec) as brought:
            return self.helper.build(ApartSandbox, spec, {}, stream, brought)
