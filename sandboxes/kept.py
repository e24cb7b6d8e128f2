"""The harness's side of a sandbox that a keeper holds: every call is one question and answer."""

from __future__ import annotations

import contextlib
import select
import socket
from collections.abc import Mapping, Sequence
from typing import Any

from sandboxes import clock
from sandboxes.base import (
    AGENT_UID,
    Act,
    Attempts,
    Beginning,
    Depth,
    Ended,
    Entry,
    Listen,
    Listing,
    Planted,
    Process,
    ProcessSpec,
    Root,
    Rule,
    SystemChange,
    Touched,
    Usage,
)
from sandboxes.channel import Channel
from sandboxes.entries import Entries, item
from sandboxes.errors import SandboxLost
from sandboxes.leaving import Leaving
from sandboxes.rules import request

_ANSWER_SECONDS = 10.0
_LISTING_SECONDS = 600.0
_DESTROY_SECONDS = 30.0


class KeptSandbox(Leaving):
    """One live sandbox."""

    def __init__(
        self,
        keeper: Channel,
        init: Channel,
        packets: socket.socket | None,
        listeners: Mapping[Listen, socket.socket],
        agent: int = AGENT_UID,
    ) -> None:
        """``agent`` is what the kernel calls the agent here; listings call it AGENT_UID."""
        self._entries = Entries(agent)
        self._keeper = keeper
        self._init = init
        self._packets = packets
        self._listeners = dict(listeners)
        self._ended: list[Ended] = []
        self._running: dict[int, int] = {}  # pid inside to number
        self._beginnings: dict[int, Beginning] = {}
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
                "watched": spec.watched,
                "inspected": spec.inspected,
            },
            fds,
        )
        self._running[reply["pid"]] = reply["number"]
        if reply["began"]:
            uid = self._entries.user(reply["began"]["uid"])
            self._beginnings[reply["number"]] = Beginning(**{**reply["began"], "uid": uid})
        return int(reply["number"])

    def beginning(self, process: int) -> Beginning | None:
        """How a started process began."""
        return self._beginnings.get(process)

    def waiting(self, pipe: int) -> int:
        """How many threads wait to read from a pipe."""
        return int(self._ask("waiting", pipe=pipe)["threads"])

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
                self._note(self._init.receive(_ANSWER_SECONDS).body)
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
            SystemChange(p, self._entries.maybe(before), self._entries.maybe(after))
            for p, before, after in reply["system"]
        ]
        return Listing(
            self._entries.manifest(reply["home"]),
            self._entries.manifest(reply["workspace"]),
            system,
        )

    def open(self, root: Root, path: str) -> int | None:
        """Open a regular file for reading."""
        fds = self._keeper.ask({"op": "open", "root": root.value, "path": path}).fds
        return fds[0] if fds else None

    def exists(self, root: Root, path: str) -> bool:
        """Whether a path is there."""
        return bool(self._ask("exists", root=root.value, path=path)["there"])

    def plant(self, root: Root, planted: Planted) -> None:
        """Make a path while it runs."""
        body = {"op": "plant", "root": root.value, "item": item(planted)}
        self._keeper.ask(body, planted.content)

    def change(self, root: Root, path: str, mode: int, owner: str) -> Entry:
        """Give a path a mode and an owner; gives what it was."""
        reply = self._ask("change", root=root.value, path=path, mode=mode, owner=owner)
        return self._entries.known(reply["before"])

    def restore(self, root: Root, path: str) -> None:
        """Give what was changed its first mode and owner again."""
        self._ask("restore", root=root.value, path=path)

    def name_agent(self, *, named: bool) -> None:
        """Take the agent's entry out of the password file, or put it back."""
        self._ask("name_agent", named=named)

    def take(self, root: Root, path: str) -> None:
        """Take a file or folder out of the sandbox."""
        self._ask("take", root=root.value, path=path)

    def put_back(self, root: Root, path: str) -> None:
        """Bring what was taken back to its place."""
        self._ask("put_back", root=root.value, path=path)

    def alias(self, root: Root, path: str, name: str) -> None:
        """Give a file a second name."""
        self._ask("alias", root=root.value, path=path, name=name)

    def drop_alias(self, root: Root, path: str, name: str) -> None:
        """Take the second name away."""
        self._ask("drop_alias", root=root.value, path=path, name=name)

    def remount(self, path: str, *, read_only: bool) -> None:
        """Make the home, the workspace or ``/tmp`` read-only, or writable again."""
        self._ask("remount", path=path, read_only=read_only)

    def resize(self, free: int | None) -> None:
        """Leave ``free`` bytes on the private file system."""
        self._ask("resize", free=free)

    def limit(
        self,
        *,
        memory: int | None = None,
        pids: int | None = None,
        descriptors: int | None = None,
    ) -> None:
        """Change a limit while it runs."""
        self._ask("limit", memory=memory, pids=pids, descriptors=descriptors)

    def reset_limit(self, name: str) -> None:
        """Give back a limit that it was made with."""
        self._ask("reset_limit", name=name)

    def listen(self, where: Listen) -> socket.socket:
        """Bind another address inside."""
        body = {"op": "listen", "host": where.host, "port": where.port, "kind": where.kind}
        sock = socket.socket(fileno=self._keeper.ask(body).fds[0])
        self._listeners[where] = sock
        return sock

    def set_wall_clock(self, offset_ns: int, mark_ns: int = 0) -> Mapping[str, int]:
        """Move the wall clock shown by the shim; gives the reads until then."""
        reply = self._ask("clock", offset_ns=offset_ns, mark_ns=mark_ns)
        return dict(reply["reads"])

    def wall_clock_reads(self, *, late: bool = False) -> Mapping[str, int]:
        """How many reads the shim answered, by program."""
        return dict(self._ask("reads")["late" if late else "reads"])

    def watch(self, path: str) -> None:
        """Count what is attempted on a path."""
        self._ask("watch", path=path)

    def attempts(self, path: str) -> Attempts:
        """The count so far."""
        counts = self._ask("attempts", path=path)["counts"]
        pairs = {name.partition(".")[::2]: number for name, number in counts.items()}
        return Attempts({(Depth(depth), Act(act)): n for (depth, act), n in pairs.items()})

    def intercept(self, rule: Rule) -> int:
        """Have calls answered by a rule."""
        return int(self._ask("intercept", **request(rule))["number"])

    def met(self, number: int) -> Mapping[str, int]:
        """What a rule did so far."""
        return dict(self._ask("met", number=number)["met"])

    def release(self, number: int) -> Mapping[str, int]:
        """End a rule."""
        return dict(self._ask("release", number=number)["met"])

    def usage(self) -> Usage:
        """The kernel's counters."""
        return Usage(**self._ask("usage"))

    def mounts(self) -> str:
        """The mount table as pid 1 of the sandbox, which is ours, reads it."""
        return str(self._ask("mounts")["text"])

    def touched(self) -> Touched:
        """What processes inside changed in the guarded folder."""
        return Touched(**self._ask("touched"))

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

    def _ask_init(self, body: dict[str, Any], fds: Sequence[int] = ()) -> dict[str, Any]:
        """Ask pid 1, which may first tell what ended meanwhile."""
        self._init.send(body, fds=fds)
        while "ended" in (reply := self._init.receive(_ANSWER_SECONDS).body):
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
