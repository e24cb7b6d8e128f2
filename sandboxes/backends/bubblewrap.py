"""Bubblewrap: sandboxes on this machine, without a daemon or an image, in milliseconds.

This is the harness's side only: a resident helper (:mod:`sandboxes.helper`) does the work in
processes of its own, because forking the harness is slow and because the helper outlives it
to clean up. Root grade (started as root) has control groups, overlays and a kernel user that
owns nothing; user grade needs nothing but user namespaces.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import re
import socket
import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from sandboxes import probing, proc, wall
from sandboxes.base import (
    Probe,
    SandboxSpec,
)
from sandboxes.channel import Channel, Fate
from sandboxes.errors import BackendUnavailable, SandboxError, SandboxLost
from sandboxes.helper import cgroups
from sandboxes.kept import KeptSandbox, item

_HELPER = Path(cgroups.__file__).parent
_START_SECONDS = 10.0
_BUILD_SECONDS = 40.0
_LISTING_SECONDS = 600.0
_DESTROY_SECONDS = 30.0
_SILENCE = '{"error": "the helper died at its start", "remedy": ""}'
_LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_ALLOW = (
    "see what `bwrap --unshare-all --ro-bind / / true` says; unprivileged user namespaces may be "
    "off (kernel.unprivileged_userns_clone, kernel.apparmor_restrict_unprivileged_userns)"
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
    _check_label(run)
    program = _program()
    cgroups.sweep()
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours:
        with theirs:
            argv = [
                sys.executable,
                "-I",
                "-S",
                str(_HELPER),
                str(theirs.fileno()),
                str(program),
                run,
            ]
            helper = proc.start(argv, env=proc.minimal_env(), pass_fds=[theirs.fileno()])
        try:
            ours.settimeout(_START_SECONDS)
            yield BubblewrapSite(ours, _greeting(ours))
        finally:
            ours.close()
            if helper.wait(_DESTROY_SECONDS) != 0:
                helper.end()
                cgroups.discard(run, os.getpid())


def _greeting(control: socket.socket) -> dict[str, Any]:
    try:
        message: dict[str, Any] = json.loads(control.recv(1 << 16) or _SILENCE)
    except TimeoutError as error:
        raise BackendUnavailable("the helper did not start in time") from error
    if "error" in message:
        raise BackendUnavailable(message["error"], message["remedy"])
    return message


class BubblewrapSite:
    """The helper of one run."""

    def __init__(self, control: socket.socket, greeting: dict[str, Any]) -> None:
        self._control = control
        self.grade: str = greeting["grade"]
        self.provides: frozenset[str] = frozenset(greeting["provides"])

    def create(self, spec: SandboxSpec) -> KeptSandbox:
        """Make a sandbox; safe to call from several threads.

        Raises:
            SandboxError: it could not be made; nothing is left.
        """
        _check_label(spec.name)
        body, payload = _request(spec)
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                socket.send_fds(self._control, [spec.name.encode()], [theirs.fileno()])
            except OSError as error:
                ours.close()
                raise SandboxLost(f"the helper of the run is gone: {error}") from error
        fate = Fate()
        keeper = Channel(ours, f"the keeper of sandbox {spec.name!r}", fate)
        try:
            answer = keeper.ask(body, payload, timeout=_BUILD_SECONDS)
        except SandboxError:
            keeper.close()
            raise
        fds = list(answer.fds)
        init = Channel(socket.socket(fileno=fds.pop(0)), f"pid 1 of sandbox {spec.name!r}", fate)
        packets = socket.socket(fileno=fds.pop(0)) if answer.body["packets"] else None
        listeners = {w: socket.socket(fileno=fd) for w, fd in zip(spec.listens, fds, strict=True)}
        return KeptSandbox(keeper, init, packets, listeners, answer.body["uid"])


def _check_label(label: str) -> None:
    """Refuse what cannot be part of a control group's name."""
    if not _LABEL.fullmatch(label):
        raise SandboxError(f"{label!r} is no name: expected letters, digits, '.', '_' and '-'")


def _request(spec: SandboxSpec) -> tuple[dict[str, Any], bytes]:
    body = {
        "name": spec.name,
        "limits": {
            "memory": spec.limits.memory,
            "pids": spec.limits.pids,
            "disk": spec.limits.disk,
        },
        "home": [item(planted) for planted in spec.home],
        "workspace": [item(planted) for planted in spec.workspace],
        "mounts": [{"source": str(m.source), "target": m.target} for m in spec.mounts],
        "hosts": dict(spec.hosts),
        "listens": [{"host": w.host, "port": w.port, "kind": w.kind} for w in spec.listens],
        "zone": spec.zone,
        "shim": str(wall.library()) if spec.wall_clock else "",
        "watch": spec.watch,
    }
    return body, b"".join(planted.content for planted in (*spec.home, *spec.workspace))
