"""The harness's side of a run's helper: it is started, asked for sandboxes, and ended.

The helper (:mod:`sandboxes.helper`) does the work in processes of its own, because forking
the harness is slow and because the helper outlives it to clean up. Backends that use it
differ only in the ground that they give it.
"""

from __future__ import annotations

import contextlib
import json
import re
import socket
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from sandboxes import helper, proc, wall
from sandboxes.base import SandboxSpec
from sandboxes.channel import Channel, Fate
from sandboxes.entries import item
from sandboxes.errors import BackendUnavailable, SandboxError, SandboxLost
from sandboxes.kept import KeptSandbox

_HELPER = Path(helper.__file__).parent
_START_SECONDS = 10.0
_BUILD_SECONDS = 40.0
_END_SECONDS = 30.0
_SILENCE = '{"error": "the helper died at its start", "remedy": ""}'
_LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")

AnySandbox = TypeVar("AnySandbox", bound=KeptSandbox)


class Resident:
    """A running helper."""

    def __init__(self, control: socket.socket, greeting: Mapping[str, Any]) -> None:
        self._control = control
        self.grade: str = greeting["grade"]

    @contextlib.contextmanager
    def making(self) -> Iterator[None]:
        """Say that we make something ourselves meanwhile, which is to go should we be killed."""
        self.tell(b"making")
        try:
            yield
        finally:
            self.tell(b"made")

    def tell(self, word: bytes) -> None:
        """Say something of ourselves; one that is gone is found out by whoever needs it."""
        with contextlib.suppress(OSError):
            self._control.send(word)

    def build(
        self,
        kind: type[AnySandbox],
        spec: SandboxSpec,
        ground: Mapping[str, Any],
        through: int | None = None,
        brought: Sequence[int] = (),
    ) -> AnySandbox:
        """Make a sandbox; safe to call from several threads.

        Args:
            kind: the class of what is given back.
            spec: what to make.
            ground: what the helper's ground wants to know besides.
            through: the stream by which its keeper is spoken with, where that is elsewhere.
            brought: what goes to the keeper with the request. Copies of both are taken.

        Raises:
            SandboxError: it could not be made; nothing is left.
        """
        check_label(spec.name)
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
            if through is not None:
                keeper.send({}, fds=[through])
            answer = keeper.ask({**body, **ground}, payload, brought, timeout=_BUILD_SECONDS)
        except SandboxError:
            keeper.close()
            raise
        fds = list(answer.fds)
        init = Channel(socket.socket(fileno=fds.pop(0)), f"pid 1 of sandbox {spec.name!r}", fate)
        packets = socket.socket(fileno=fds.pop(0)) if answer.body["packets"] else None
        listeners = {w: socket.socket(fileno=fd) for w, fd in zip(spec.listens, fds, strict=True)}
        return kind(keeper, init, packets, listeners, answer.body["uid"])


@contextlib.contextmanager
def resident(run: str, ground: Sequence[str], clean_up: Callable[[], object]) -> Iterator[Resident]:
    """A helper for a run.

    Args:
        run: the run's id.
        ground: what the helper stands on, as its command line names it.
        clean_up: called where the helper was killed and could not remove what it had made.

    Raises:
        BackendUnavailable: it says that it cannot work here.
    """
    check_label(run)
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours:
        with theirs:
            program = [sys.executable, "-I", "-S", str(_HELPER), str(theirs.fileno()), run]
            child = proc.start(
                [*program, *ground], env=proc.minimal_env(), pass_fds=[theirs.fileno()]
            )
        try:
            ours.settimeout(_START_SECONDS)
            helper = Resident(ours, _greeting(ours))
            try:
                yield helper
            finally:
                helper.tell(b"through")
        finally:
            ours.close()
            if child.wait(_END_SECONDS) != 0:
                child.end()
                clean_up()


def check_label(label: str) -> None:
    """Refuse what cannot be part of the name of a control group or a container."""
    if not _LABEL.fullmatch(label):
        raise SandboxError(f"{label!r} is no name: expected letters, digits, '.', '_' and '-'")


def _greeting(control: socket.socket) -> dict[str, Any]:
    try:
        message: dict[str, Any] = json.loads(control.recv(1 << 16) or _SILENCE)
    except TimeoutError as error:
        raise BackendUnavailable("the helper did not start in time") from error
    if "error" in message:
        raise BackendUnavailable(message["error"], message["remedy"])
    return message


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
        "trusted": (
            {"pem": spec.trusted.pem, "name_hash": spec.trusted.name_hash} if spec.trusted else None
        ),
        "zone": spec.zone,
        "shim": str(wall.library()) if spec.wall_clock else "",
        "guarded": str(spec.guarded or ""),
        "watch": sorted(spec.watch),
        "nest": spec.nest,
    }
    return body, b"".join(planted.content for planted in (*spec.home, *spec.workspace))
