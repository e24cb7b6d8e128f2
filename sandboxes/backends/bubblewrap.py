"""Bubblewrap: sandboxes on this machine, without a daemon or an image, in milliseconds.

A resident helper (:mod:`sandboxes.resident`) does the work. Root grade (started as root) has
control groups, overlays and a kernel user that owns nothing; user grade needs nothing but user
namespaces.
"""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from sandboxes import probing, proc
from sandboxes.base import Probe, SandboxSpec
from sandboxes.errors import BackendUnavailable, SandboxError
from sandboxes.helper import cgroups
from sandboxes.helper.ground import IN_A_CONTAINER
from sandboxes.kept import KeptSandbox
from sandboxes.resident import Resident, resident

_ALLOW = (
    "see what `bwrap --unshare-all --ro-bind / / true` says; unprivileged user namespaces may be "
    "off (kernel.unprivileged_userns_clone, kernel.apparmor_restrict_unprivileged_userns); "
    f"{IN_A_CONTAINER}"
)
INSTALL = "apt-get install bubblewrap"


class Bubblewrap:
    """The backend."""

    name = "bubblewrap"

    def probe(self) -> Probe:
        """Make a throw-away sandbox and try each capability in it, once per process."""
        return _probe(self)

    def site(self, run: str) -> AbstractContextManager[BubblewrapSite]:
        """Start the helper of a run, after sweeping what dead owners left."""
        return _site(run)

    def sweep(self) -> Sequence[str]:
        """Remove control groups whose owner is dead: nothing else can outlive a run."""
        return cgroups.sweep()


@functools.cache
def _probe(backend: Bubblewrap) -> Probe:
    grade = "root" if os.geteuid() == 0 else "user"
    versions = {"kernel": os.uname().release}
    try:
        program = _program()
        said = proc.run([str(program), "--version"], timeout=5).stdout
        versions["bubblewrap"] = said.decode("utf-8", "replace").split()[-1]
        with backend.site(f"probe-{os.getpid()}") as site:
            capabilities = probing.examine(site, grade)
    except BackendUnavailable as error:
        return Probe(backend.name, False, grade, str(error), error.remedy, {}, versions)
    except SandboxError as error:
        return Probe(backend.name, False, grade, str(error), _ALLOW, {}, versions)
    return Probe(backend.name, True, grade, "", "", capabilities, versions)


def _program() -> Path:
    program = proc.which("bwrap")
    if program is None:
        raise BackendUnavailable("bwrap was not found in PATH", INSTALL)
    return program


@contextlib.contextmanager
def _site(run: str) -> Iterator[BubblewrapSite]:
    program = _program()
    cgroups.sweep()
    with resident(run, [str(program)], lambda: cgroups.discard(run, os.getpid())) as helper:
        yield BubblewrapSite(helper)


@dataclass(frozen=True, slots=True)
class BubblewrapSite:
    """The helper of one run."""

    helper: Resident

    def create(self, spec: SandboxSpec) -> KeptSandbox:
        """Make a sandbox; safe to call from several threads.

        Raises:
            SandboxError: it could not be made; nothing is left.
        """
        return self.helper.build(KeptSandbox, spec, {})
