"""Docker: sandboxes out of an image, by any Docker Engine on this machine, or Podman's socket.

The engine makes a container for each sandbox: no network, a read-only root, no capability,
limits, labels that say whose it is, and a program that only waits and ends with the harness.
The helper then joins it from outside (:mod:`sandboxes.helper.joined`), which needs root and
a kernel that the two share. Where that cannot be, the backend is unavailable: there is no
weaker mode.
"""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager

from sandboxes import probing
from sandboxes.backends.docker import container, engine, leftovers
from sandboxes.backends.docker.site import DockerSite
from sandboxes.base import Probe
from sandboxes.errors import BackendUnavailable, SandboxError
from sandboxes.resident import resident

_GRADE = "root"
_REMEDY = "see what `docker run --rm --network none IMAGE true` says"
_RUNTIME = f"unset {engine.RUNTIME}, or name a runtime that shares the machine's kernel: runc, crun"


class Docker:
    """The backend."""

    name = "docker"

    def probe(self) -> Probe:
        """Make a throw-away sandbox and try each capability in it, once per process."""
        return _probe(self)

    def site(self, run: str) -> AbstractContextManager[DockerSite]:
        """Start the helper of a run, after removing what dead owners left."""
        return _site(run)

    def sweep(self) -> Sequence[str]:
        """Remove containers whose owner is dead; an engine that does not answer has none to us."""
        with contextlib.suppress(SandboxError):
            return leftovers.sweep(engine.find())
        return ()


@functools.cache
def _probe(backend: Docker) -> Probe:
    versions = {"kernel": os.uname().release}
    try:
        found = engine.find()
        image = engine.image(found)
        versions |= {found.kind: found.version, "image": image.text}
        if runtime := os.environ.get(engine.RUNTIME):
            versions["runtime"] = runtime
        with backend.site(f"probe-{os.getpid()}") as site:
            capabilities = probing.examine(site, _GRADE)
    except BackendUnavailable as error:
        return Probe(backend.name, False, _GRADE, str(error), error.remedy, {}, versions)
    except SandboxError as error:
        remedy = _RUNTIME if engine.RUNTIME in os.environ else _REMEDY
        return Probe(backend.name, False, _GRADE, str(error), remedy, {}, versions)
    return Probe(backend.name, True, _GRADE, "", "", capabilities, versions, image.id)


@contextlib.contextmanager
def _site(run: str) -> Iterator[DockerSite]:
    engine.check_rights()
    found = engine.find()
    engine.check_runtime(found)
    image = engine.image(found)
    leftovers.sweep(found)
    owner = container.Owner.of_run(run)
    try:
        ground = ["", found.socket, f"{container.OWNER}={owner.name}"]
        with resident(run, ground, lambda: None) as helper:
            yield DockerSite(helper, found, image, owner)
    finally:
        with contextlib.suppress(SandboxError):  # each sandbox told what was left of it
            leftovers.discard(found, owner)
