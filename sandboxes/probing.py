"""Probing a backend: every check is run in a throw-away sandbox."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import replace

from sandboxes import wall
from sandboxes.base import SandboxSpec, Site, Watch
from sandboxes.bench import Bench, Missing
from sandboxes.capabilities import NEST, Capability
from sandboxes.checks import CHECKS, LIMITS, WEB, ZONE, Check
from sandboxes.errors import SandboxError

_AS_ROOT = 'run as root: sudo "$(command -v shakeout)" run'
_GROUPS = (
    f"{_AS_ROOT}; in a container only where root may make control groups "
    "(cgroup v1 with memory and pids, or a v2 tree of its own)"
)

_REMEDIES: Mapping[str, str] = {
    "limits.memory": _GROUPS,
    "limits.pids": _GROUPS,
    "oom": _GROUPS,
    "files.system": _AS_ROOT,
    "files.attempts": "Linux 5.5 or later on x86_64 or aarch64",
    "files.locks": "Linux 5.5 or later on x86_64 or aarch64",
    "files.answers": "Linux 5.6 or later on x86_64 or aarch64",
    "files.holds": "Linux 5.6 or later on x86_64 or aarch64",
    "process.descriptors": "Linux 5.5 or later on x86_64 or aarch64",
    "network.binds": "Linux 5.6 or later on x86_64 or aarch64, and apt-get install perl-base",
    "user.separate": _AS_ROOT,
    "user.root": _AS_ROOT,
    "processes.inspected": "Linux on x86_64 or aarch64; kernel.yama.ptrace_scope below 3",
    "network.counter": "a kernel with packet sockets (CONFIG_PACKET), and bash",
    "network.services": "apt-get install bash",
    "network.low-ports": "apt-get install bash",
    "clock.wall": wall.REMEDY,
    "clock.zone": "apt-get install tzdata",
    NEST: "allow unprivileged user namespaces, and have bubblewrap where the sandbox sees it",
}


def examine(site: Site, grade: str) -> Mapping[str, Capability]:
    """Try every capability."""
    spec = SandboxSpec(
        "probe",
        LIMITS,
        listens=[WEB],
        zone=ZONE,
        wall_clock=wall.built() is not None,
        watch=tuple(Watch),
    )
    found = _look(site, spec, grade, [name for name in CHECKS if name != NEST])
    try:
        nested = _look(site, SandboxSpec("probe-nest", LIMITS, nest=True), grade, [NEST])
    except SandboxError as error:
        nested = {NEST: Capability(NEST, False, str(error), _REMEDIES[NEST])}
    return {**found, **nested}


def _look(
    site: Site, spec: SandboxSpec, grade: str, names: Sequence[str]
) -> Mapping[str, Capability]:
    sandbox = site.create(spec)
    try:
        bench = Bench(sandbox, grade)
        found: dict[str, Capability] = {}
        tried: dict[Check, Capability] = {}  # one check may tell of several
        for name in names:
            check = CHECKS[name]
            if check not in tried:
                tried[check] = _try(bench, name)
            found[name] = replace(tried[check], name=name)
        return found
    finally:
        sandbox.destroy()


def _try(bench: Bench, name: str) -> Capability:
    try:
        return Capability(name, True, CHECKS[name](bench))
    except (Missing, SandboxError, OSError) as error:
        return Capability(name, False, str(error), _REMEDIES.get(name, ""))
    finally:
        with contextlib.suppress(SandboxError):
            bench.sandbox.kill()
