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
import select
import socket
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from sandboxes import clock, probing, proc, wall
from sandboxes.base import (
    Ended,
    Entry,
    Kind,
    Listen,
    Listing,
    Manifest,
    Planted,
    Probe,
    Process,
    ProcessSpec,
    Root,
    SandboxSpec,
    SystemChange,
    Usage,
)
from sandboxes.channel import Channel
from sandboxes.errors import BackendUnavailable, SandboxError, SandboxLost
from sandboxes.helper import cgroups

_HELPER = Path(cgroups.__file__).parent
_START_SECONDS = 10.0
_BUILD_SECONDS = 40.0
_LISTING_SECONDS = 600.0
_DESTROY_SECONDS = 30.0
_SILENCE = '{"error": "the helper died at its start", "remedy": ""}'
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
        return Probe(backend.name, False, grade, str(error), "", {}, versions)
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
            if helper.wait(_DESTROY_SECONDS) is None:
                helper.end()


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

    def create(self, spec: SandboxSpec) -> BubblewrapSandbox:
        """Make a sandbox; safe to call from several threads.

        Raises:
            SandboxError: it could not be made; nothing is left.
        """
        body, payload = _request(spec)
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                socket.send_fds(self._control, [spec.name.encode()], [theirs.fileno()])
            except OSError as error:
                ours.close()
                raise SandboxLost(f"the helper of the run is gone: {error}") from error
        keeper = Channel(ours, f"the keeper of sandbox {spec.name!r}")
        try:
            answer = keeper.ask(body, payload, timeout=_BUILD_SECONDS)
        except SandboxError:
            keeper.close()
            raise
        fds = list(answer.fds)
        init = Channel(socket.socket(fileno=fds.pop(0)), f"pid 1 of sandbox {spec.name!r}")
        packets = socket.socket(fileno=fds.pop(0)) if answer.body["packets"] else None
        listeners = {w: socket.socket(fileno=fd) for w, fd in zip(spec.listens, fds, strict=True)}
        return BubblewrapSandbox(keeper, init, packets, listeners)


class BubblewrapSandbox:
    """One live sandbox."""

    def __init__(
        self,
        keeper: Channel,
        init: Channel,
        packets: socket.socket | None,
        listeners: Mapping[Listen, socket.socket],
    ) -> None:
        self._keeper = keeper
        self._init = init
        self._packets = packets
        self._listeners = dict(listeners)
        self._ended: list[Ended] = []
        self._running: dict[int, int] = {}  # pid inside to number
        self._destroyed = False

    @property
    def listeners(self) -> Mapping[Listen, socket.socket]:
        """The bound addresses; their sockets are closed by :meth:`destroy`."""
        return self._listeners

    @property
    def packets(self) -> socket.socket | None:
        """As the contract says; non-blocking."""
        return self._packets

    def start(self, spec: ProcessSpec) -> int:
        """Start a program."""
        fds = (
            [spec.stdout, spec.stderr]
            if spec.stdin is None
            else [spec.stdin, spec.stdout, spec.stderr]
        )
        reply = self._ask_init(
            {
                "op": "start",
                "argv": list(spec.argv),
                "env": dict(spec.env),
                "cwd": spec.cwd,
                "user": spec.user,
            },
            fds,
        )
        self._running[reply["pid"]] = reply["number"]
        return int(reply["number"])

    def wait(self, timeout: float, wake: int | None = None) -> Ended | None:
        """Wait for the next ended process."""
        deadline = clock.monotonic() + timeout
        poller = select.poll()
        poller.register(self._alive(), select.POLLIN)
        if wake is not None:
            poller.register(wake, select.POLLIN)
        while not self._ended:
            left = deadline - clock.monotonic()
            ready = [fd for fd, _ in poller.poll(max(0.0, left) * 1000)]
            if self._init.fileno() in ready:
                self._note(self._init.receive(_START_SECONDS).body)
            elif ready or left <= 0:
                return None
        return self._ended.pop(0)

    def signal(self, process: int, signum: int) -> bool:
        """Send a signal to a started process."""
        return bool(
            self._ask_init({"op": "signal", "number": process, "signal": int(signum)})["sent"]
        )

    def processes(self) -> Sequence[Process]:
        """Every live process inside."""
        return [
            Process(main=self._running.get(item["pid"]), **item)
            for item in self._ask("processes")["processes"]
        ]

    def freeze(self) -> None:
        """Stop everything inside."""
        self._ask("freeze", on=True)

    def thaw(self) -> None:
        """Let it go on."""
        self._ask("freeze", on=False)

    def listing(self) -> Listing:
        """Walk the trees from outside."""
        reply = self._keeper.ask({"op": "listing"}, timeout=_LISTING_SECONDS).body
        system = [
            SystemChange(p, _entry(before), _entry(after)) for p, before, after in reply["system"]
        ]
        return Listing(_manifest(reply["home"]), _manifest(reply["workspace"]), system)

    def open(self, root: Root, path: str) -> int | None:
        """Open a regular file for reading."""
        fds = self._keeper.ask({"op": "open", "root": root.value, "path": path}).fds
        return fds[0] if fds else None

    def exists(self, root: Root, path: str) -> bool:
        """Whether a path is there."""
        return bool(self._ask("exists", root=root.value, path=path)["there"])

    def plant(self, root: Root, planted: Planted) -> None:
        """Make a path while it runs."""
        body = {"op": "plant", "root": root.value, "item": _item(planted)}
        self._keeper.ask(body, planted.content)

    def change(self, root: Root, path: str, mode: int, owner: str) -> Entry:
        """Give a path a mode and an owner; gives what it was."""
        reply = self._ask("change", root=root.value, path=path, mode=mode, owner=owner)
        return _known(reply["before"])

    def move(self, root: Root, path: str, to: str) -> None:
        """Rename a path within its root."""
        self._ask("move", root=root.value, path=path, to=to)

    def remount(self, path: str, *, read_only: bool) -> None:
        """Make the home, the workspace or ``/tmp`` read-only, or writable again."""
        self._ask("remount", path=path, read_only=read_only)

    def resize(self, free: int | None) -> None:
        """Leave ``free`` bytes on the private file system."""
        self._ask("resize", free=free)

    def limit(self, *, memory: int | None = None, pids: int | None = None) -> None:
        """Change a limit while it runs."""
        self._ask("limit", memory=memory, pids=pids)

    def listen(self, where: Listen) -> socket.socket:
        """Bind another address inside."""
        body = {"op": "listen", "host": where.host, "port": where.port, "kind": where.kind}
        sock = socket.socket(fileno=self._keeper.ask(body).fds[0])
        self._listeners[where] = sock
        return sock

    def set_wall_clock(self, offset_ns: int) -> None:
        """Move the wall clock shown by the shim."""
        self._ask("clock", offset_ns=offset_ns)

    def wall_clock_reads(self) -> Mapping[str, int]:
        """How many reads the shim answered, by program."""
        return dict(self._ask("reads")["reads"])

    def usage(self) -> Usage:
        """The kernel's counters."""
        return Usage(**self._ask("usage"))

    def mounts(self) -> str:
        """The mount table as pid 1 of the sandbox, which is ours, reads it."""
        return str(self._ask("mounts")["text"])

    def kill(self) -> None:
        """End every process inside."""
        self._ask("kill")

    def destroy(self) -> Sequence[str]:
        """Remove it all; a second call, and one after the sandbox was lost, gives nothing."""
        left: Sequence[str] = []
        if self._packets is not None:
            self._packets.close()  # before the keeper's copy, which is then slow instead of ours
        if not self._destroyed:
            with contextlib.suppress(SandboxLost):
                left = self._keeper.ask({"op": "destroy"}, timeout=_DESTROY_SECONDS).body["left"]
        self._destroyed = True
        self._keeper.close()
        self._init.close()
        for sock in self._listeners.values():
            sock.close()
        return left

    def _ask(self, operation: str, **arguments: object) -> dict[str, Any]:
        return self._keeper.ask({"op": operation, **arguments}).body

    def _ask_init(self, body: dict[str, Any], fds: Sequence[int] = ()) -> dict[str, Any]:
        """Ask pid 1, which may first tell what ended meanwhile."""
        self._init.send(body, fds=fds)
        while "ended" in (reply := self._init.receive(_START_SECONDS).body):
            self._note(reply)
        return reply

    def _note(self, body: dict[str, Any]) -> None:
        self._ended.append(Ended(body["ended"], body["code"], body["signal"]))
        for pid in [pid for pid, number in self._running.items() if number == body["ended"]]:
            del self._running[pid]

    def _alive(self) -> int:
        """The descriptor to wait on; raises once the sandbox is lost."""
        if self._destroyed:
            raise SandboxLost("the sandbox was destroyed")
        return self._init.fileno()


def _request(spec: SandboxSpec) -> tuple[dict[str, Any], bytes]:
    body = {
        "name": spec.name,
        "limits": {
            "memory": spec.limits.memory,
            "pids": spec.limits.pids,
            "disk": spec.limits.disk,
        },
        "home": [_item(planted) for planted in spec.home],
        "workspace": [_item(planted) for planted in spec.workspace],
        "mounts": [{"source": str(m.source), "target": m.target} for m in spec.mounts],
        "hosts": dict(spec.hosts),
        "listens": [{"host": w.host, "port": w.port, "kind": w.kind} for w in spec.listens],
        "zone": spec.zone,
        "shim": str(wall.library()) if spec.wall_clock else "",
    }
    return body, b"".join(planted.content for planted in (*spec.home, *spec.workspace))


def _item(planted: Planted) -> dict[str, Any]:
    return {
        "path": planted.path,
        "kind": planted.kind.value,
        "size": len(planted.content),
        "target": planted.target,
        "mode": planted.mode,
    }


def _manifest(rows: Mapping[str, list[Any]]) -> Manifest:
    return {path: _known(row) for path, row in rows.items()}


def _entry(row: list[Any] | None) -> Entry | None:
    return None if row is None else _known(row)


def _known(row: list[Any]) -> Entry:
    kind, *rest = row
    return Entry(_KINDS[kind], *rest)


_KINDS = {kind.value: kind for kind in Kind}
