"""Docker: sandboxes out of an image, by any Docker Engine, or Podman's socket.

The engine makes a container for each sandbox: no network, a read-only root, limits, and labels
that say whose it is. There are two ways from there, with the same sandbox at their end:

* The container does nothing and has no capability, and the helper joins it from outside
  (:mod:`sandboxes.helper.joined`). That takes root, and a kernel that the two share.
* Where that cannot be, the helper's own code runs in the container as its root, a sidecar to
  what is started below it (:mod:`sandboxes.helper.inside`), and takes what it cannot do there
  for missing: under a runtime with a kernel of its own (gVisor), on another machine, as an
  ordinary user.
"""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace

from sandboxes import probing
from sandboxes.backends.docker import container, engine, leftovers, ways
from sandboxes.backends.docker.site import DockerSite
from sandboxes.base import Capability, Probe
from sandboxes.errors import BackendUnavailable, NotJoinable, SandboxError
from sandboxes.helper.ground import APART
from sandboxes.resident import resident

_GRADE = "root"
_RUNTIME = f"unset {ways.RUNTIME}, or name a runtime that shares the machine's kernel: runc, crun"
_REMEDY = "see what `docker run --rm --network none IMAGE true` says"


@dataclass(frozen=True, eq=False)
class Docker:
    """The backend.

    Attributes:
        runtime: of the engine; empty: what the environment names, else the engine's own.
        sidecar: whether containers keep their sandboxes themselves even where they could be
            joined; the environment can say so too.
    """

    runtime: str = ""
    sidecar: bool = False
    name: str = "docker"

    def probe(self) -> Probe:
        """Make a throw-away sandbox and try each capability in it, once per process."""
        return _probe(self)

    def site(self, run: str) -> AbstractContextManager[DockerSite]:
        """Start the helper of a run, after removing what dead owners left."""
        return _site(self, run)

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
        if runtime := ways.runtime(backend.runtime):
            versions["runtime"] = runtime
        capabilities = _examine(backend, found)
        why_apart = ways.why_apart(found, runtime, forced=backend.sidecar)
        versions["containers"] = ways.described(why_apart)
        if runtime and why_apart:
            capabilities = {
                name: each if each.available else replace(each, remedy=_RUNTIME)
                for name, each in capabilities.items()
            }
    except BackendUnavailable as error:
        return Probe(backend.name, False, _GRADE, str(error), error.remedy, {}, versions)
    except SandboxError as error:
        return Probe(backend.name, False, _GRADE, str(error), _REMEDY, {}, versions)
    return Probe(backend.name, True, _GRADE, "", "", capabilities, versions, image.id)


def _examine(backend: Docker, found: engine.Engine) -> Mapping[str, Capability]:
    """Try what it can do; with a sidecar where the first container cannot be joined."""
    run = f"probe-{os.getpid()}"
    runtime = ways.runtime(backend.runtime)
    if not ways.why_apart(found, runtime, forced=backend.sidecar):
        try:
            with _site(backend, run, found) as site:
                return probing.examine(site, _GRADE)
        except (NotJoinable, BackendUnavailable) as error:
            ways.remember(found, runtime, str(error))
    with _site(backend, run, found) as site:
        return probing.examine(site, _GRADE)


@contextlib.contextmanager
def _site(backend: Docker, run: str, found: engine.Engine | None = None) -> Iterator[DockerSite]:
    """The site of a run; ``found``: of one that is to find out the way."""
    runtime = ways.runtime(backend.runtime)
    if found is None:
        found = engine.find()
        if runtime and not ways.why_apart(found, runtime, forced=backend.sidecar):
            backend.probe()  # it may have a kernel of its own, which only shows when it is tried
    apart = bool(ways.why_apart(found, runtime, forced=backend.sidecar))
    ways.check_runtime(found, runtime)
    image = engine.image(found)
    leftovers.sweep(found)
    owner = container.Owner.of_run(run)
    try:
        ground = ["", found.socket, f"{container.OWNER}={owner.name}", *([APART] if apart else [])]
        with resident(run, ground, lambda: None) as helper:
            yield DockerSite(helper, found, container.Recipe(image, owner, runtime, apart))
    finally:
        with contextlib.suppress(SandboxError):  # each sandbox told what was left of it
            leftovers.discard(found, owner)
