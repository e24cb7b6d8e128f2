"""The keeper of one sandbox: it stays outside, and does everything that is done from outside.

It makes the namespaces and mounts, forks pid 1 into them, and then answers the harness:
files, listings, freezing, limits, listeners. It never enters the sandbox's mount namespace
itself; what must be done there is done by a short-lived child. When the harness or pid 1 is
gone, the sandbox is removed.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import select
import signal
import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from sandboxes.helper import (
    cgroups,
    init,
    kernel,
    launch,
    network,
    overlay,
    paths,
    processes,
    stage,
    trees,
    wire,
)

_FREEZE_SECONDS = 10.0
_KILL_SECONDS = 10.0
_CLOCK_BYTES = 64 * 32
_TARGETS = {"/home/agent": "home", "/workspace": "workspace", "/tmp": "tmp"}


class Failed(Exception):
    """An operation could not be done; the message says what and why."""

    kind = "SandboxError"


class InUse(Failed):
    """An address is taken."""

    kind = "AddressInUse"


@dataclass(frozen=True, slots=True)
class Ground:
    """What the helper prepared for all sandboxes of a run.

    Attributes:
        site: control groups.
        bwrap: path of bubblewrap.
        uid: of the agent, in the keeper's user namespace.
        root_grade: whether users and overlays are ours to make.
    """

    site: cgroups.Site
    bwrap: str
    uid: int
    root_grade: bool


@dataclass(slots=True)
class Keeper:
    """A sandbox, seen from outside."""

    ground: Ground
    spec: dict[str, Any]
    group: cgroups.Group | None = None
    pid: int = 0  # of pid 1, as we see it
    handle: int = -1  # its pidfd
    link: socket.socket | None = None  # to pid 1
    roots: dict[str, int] = field(default_factory=dict)
    layers: list[overlay.Layer] = field(default_factory=list)
    namespaces: tuple[int, ...] = ()
    frozen: bool = False

    def build(self, payload: bytes) -> tuple[dict[str, Any], list[socket.socket]]:
        """Make the sandbox; gives the answer and the sockets to hand out."""
        fresh = kernel.NEWNS | kernel.NEWNET | kernel.NEWIPC | kernel.NEWUTS | kernel.NEWPID
        kernel.unshare(fresh)
        socket.sethostname("sandbox")
        self._mount(payload)
        self._make_group()
        harness_end, init_end = socket.socketpair()
        self._fork_init(init_end)
        network.raise_loopback()
        counter = self._packet_socket()
        listeners = [self._listen(item) for item in self.spec["listens"]]
        self._await_init()
        self._open_layers()
        answer = {"packets": counter is not None, "uid": self.ground.uid}
        return answer, [harness_end, *([counter] if counter else []), *listeners]

    def _mount(self, payload: bytes) -> None:
        uid, wide = self.ground.uid, self.ground.root_grade
        stage.make_box(uid, self.spec["limits"]["disk"])
        if self.spec["shim"]:
            stage.write(f"{stage.CLOCK}/offset", "\0" * 8)
            stage.write(f"{stage.CLOCK}/reads", "\0" * _CLOCK_BYTES, 0o666)
        stage.fill(self.spec, overlay=wide)
        if wide:
            stage.mount_overlays()
        contents = io.BytesIO(payload)
        for name, path in (("home", stage.HOME), ("workspace", stage.WORKSPACE)):
            self.roots[name] = _folder(path)
            for item in self.spec[name]:
                content = contents.read(item["size"])
                paths.plant(self.roots[name], item, content, uid)

    def _make_group(self) -> None:
        site, limits = self.ground.site, self.spec["limits"]
        if not site.provides:
            return
        self.group = site.make(self.spec["name"])
        if "memory" in site.provides:
            self.group.limit_memory(limits["memory"])
        if "pids" in site.provides:
            self.group.limit_pids(limits["pids"])

    def _fork_init(self, init_end: socket.socket) -> None:
        self.link, theirs = socket.socketpair()
        counted = self.group is not None and "pids" in self.ground.site.provides
        plan = {
            "argv": stage.bubblewrap(
                self.ground.bwrap, self.spec, overlay=self.ground.root_grade, uid=self.ground.uid
            ),
            "nproc": 0 if counted else self.spec["limits"]["pids"],
        }
        entrances = self.group.entrances() if self.group else []
        place = launch.Place(self.ground.uid, self.ground.root_grade, entrances)
        self.pid = os.fork()
        if self.pid == 0:
            self.link.close()
            kernel.set_name("shakeout-init")
            init.run(init_end, theirs, plan, place)
        self.handle = os.pidfd_open(self.pid)
        theirs.close()
        init_end.close()
        for fd in entrances:
            os.close(fd)

    def _await_init(self) -> None:
        assert self.link is not None  # noqa: S101 - made by _fork_init
        self.link.settimeout(30)
        message = wire.receive(self.link)
        if "error" in message.body:
            raise Failed(f"the sandbox could not be built: {message.body['error']}")
        self.namespaces = message.fds

    def _packet_socket(self) -> socket.socket | None:
        try:
            return network.packet_socket()
        except OSError:  # a kernel without packet sockets: the capability is missing
            return None

    def _listen(self, item: dict[str, Any]) -> socket.socket:
        try:
            return network.listen(item["host"], item["port"], item["kind"])
        except OSError as error:
            where = f"{item['kind']} {item['host']}:{item['port']}"
            if error.errno == errno.EADDRINUSE:
                raise InUse(f"{where} is in use inside") from error
            raise Failed(f"{where} cannot be bound: {error.strerror}") from error

    def _open_layers(self) -> None:
        if self.ground.root_grade:
            for prefix, lower, name in (("/", stage.SKELETON, "root"), ("/usr", "/usr", "usr")):
                layer = overlay.Layer(prefix, _folder(lower), _folder(f"{stage.BOX}/{name}-upper"))
                layer.remember()
                self.layers.append(layer)

    # What the harness asks for, by name.

    def processes(self, _: wire.Message) -> dict[str, Any]:
        return {"processes": processes.listing(stage.PROC)}

    def freeze(self, message: wire.Message) -> dict[str, Any]:
        on = bool(message.body["on"])
        if self.group is not None and "freezer" in self.ground.site.provides:
            done = self.group.freeze(on=on, timeout=_FREEZE_SECONDS)
        elif on:
            done = self._ask_init({"op": "stop", "timeout": _FREEZE_SECONDS})["frozen"]
        else:
            self._ask_init({"op": "continue"})
            done = True
        if not done:
            raise Failed(
                f"not everything {'stopped' if on else 'went on'} within {_FREEZE_SECONDS:g} s"
            )
        self.frozen = on
        return {}

    def listing(self, _: wire.Message) -> dict[str, Any]:
        system = [change for layer in self.layers for change in layer.changes()]
        for inside, path in stage.SCRATCH.items():
            if inside != "/var/tmp" or not self.ground.root_grade:
                fd = _folder(path)
                try:
                    system += overlay.added(inside, fd)
                finally:
                    os.close(fd)
        trees_ = {name: trees.manifest(root) for name, root in self.roots.items()}
        return {**trees_, "system": system}

    def plant(self, message: wire.Message) -> dict[str, Any]:
        body = message.body
        paths.plant(self._root(body["root"]), body["item"], message.payload, self.ground.uid)
        return {}

    def exists(self, message: wire.Message) -> dict[str, Any]:
        root = self._root(message.body["root"])
        return {"there": paths.exists(root, message.body["path"])}

    def change(self, message: wire.Message) -> dict[str, Any]:
        body = message.body
        owner = 0 if body["owner"] == "root" else self.ground.uid
        if owner == 0 and not self.ground.root_grade:
            raise Failed("a path cannot be given to root: there is one user only (user grade)")
        root = self._root(body["root"])
        status = paths.change(root, body["path"], body["mode"], owner)
        with paths.Parent(root, body["path"]) as at:
            return {"before": trees.row(at.fd, at.name, status)}

    def move(self, message: wire.Message) -> dict[str, Any]:
        body = message.body
        paths.move(self._root(body["root"]), body["path"], body["to"])
        return {}

    def remount(self, message: wire.Message) -> dict[str, Any]:
        path = message.body["path"]
        if path not in _TARGETS:
            raise Failed(
                f"{path!r} is not mounted by itself: expected one of {', '.join(_TARGETS)}"
            )
        flags = kernel.REMOUNT | kernel.BIND | kernel.NOSUID | kernel.NODEV
        if message.body["read_only"]:
            flags |= kernel.RDONLY
        self._inside(lambda: kernel.mount("none", path, "", flags))
        return {}

    def resize(self, message: wire.Message) -> dict[str, Any]:
        free, limit = message.body["free"], self.spec["limits"]["disk"]
        state = os.statvfs(stage.BOX)
        used = (state.f_blocks - state.f_bfree) * state.f_frsize
        size = limit if free is None else used + free
        options = stage.box_options(limit).replace(f"size={limit}", f"size={size}")
        kernel.mount(
            "box", stage.BOX, "tmpfs", kernel.REMOUNT | kernel.NOSUID | kernel.NODEV, options
        )
        return {}

    def limit(self, message: wire.Message) -> dict[str, Any]:
        memory, pids = message.body["memory"], message.body["pids"]
        provides = self.ground.site.provides if self.group else frozenset()
        if memory is not None:
            if self.group is None or "memory" not in provides:
                raise Failed("memory cannot be limited: there is no control group for it")
            self.group.limit_memory(memory)
        if pids is not None:
            if self.group is not None and "pids" in provides:
                self.group.limit_pids(pids)
            else:
                processes.limit_count(stage.PROC, pids)
                self._ask_init({"op": "nproc", "value": pids})
        return {}

    def listen(self, message: wire.Message) -> tuple[dict[str, Any], list[socket.socket]]:
        return {}, [self._listen(message.body)]

    def clock(self, message: wire.Message) -> dict[str, Any]:
        if not self.spec["shim"]:
            raise Failed("the wall clock cannot be set: the sandbox was made without wall_clock")
        with open(f"{stage.CLOCK}/offset", "r+b", buffering=0) as file:
            file.write(struct.pack("=q", message.body["offset_ns"]))
        return {}

    def reads(self, _: wire.Message) -> dict[str, Any]:
        if not self.spec["shim"]:
            return {"reads": {}}
        with open(f"{stage.CLOCK}/reads", "rb") as file:
            return {"reads": processes.clock_reads(file.read(_CLOCK_BYTES))}

    def usage(self, _: wire.Message) -> dict[str, Any]:
        state = os.statvfs(stage.BOX)
        counted: dict[str, int | None] = dict.fromkeys(("oom_kills", "pids_refused", "memory_peak"))
        if self.group is not None:
            counted |= self.group.counters()
        return {
            **counted,
            "disk_free": state.f_bavail * state.f_frsize,
            "disk_total": state.f_blocks * state.f_frsize,
        }

    def mounts(self, _: wire.Message) -> dict[str, Any]:
        return self._ask_init({"op": "mounts"})

    def kill(self, _: wire.Message) -> dict[str, Any]:
        if self.frozen and self.group and not self.group.unified_freezer:
            self.group.freeze(on=False, timeout=_FREEZE_SECONDS)  # version 1 holds the dying back
        if not self._ask_init({"op": "kill", "timeout": _KILL_SECONDS})["gone"]:
            raise Failed(f"not every process ended within {_KILL_SECONDS:g} s of SIGKILL")
        return {}

    def _ask_init(self, body: dict[str, Any]) -> dict[str, Any]:
        assert self.link is not None  # noqa: S101 - made by _fork_init
        self.link.settimeout(_KILL_SECONDS + 5)
        wire.send(self.link, body)
        reply = wire.receive(self.link).body
        if "error" in reply:
            raise Failed(reply["error"]["message"])
        return reply

    def _root(self, name: str) -> int:
        if name not in self.roots:
            raise Failed(
                f"paths of {name!r} are not reached one by one: expected home or workspace"
            )
        return self.roots[name]

    def _inside(self, action: Callable[[], None]) -> None:
        """Do something in the sandbox's mount namespace, in a child."""
        pid = os.fork()
        if pid == 0:
            code = 1
            with contextlib.suppress(OSError):
                for fd in self.namespaces:
                    kernel.setns(fd, 0)
                action()
                code = 0
            os._exit(code)
        if os.waitpid(pid, 0)[1]:
            raise Failed("the mount could not be changed inside the sandbox")

    def remove(self) -> list[str]:
        """End everything; gives what could not be removed."""
        if self.handle >= 0:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self.handle, signal.SIGKILL)
            if self.frozen and self.group and not self.group.unified_freezer:
                self.group.freeze(on=False, timeout=_FREEZE_SECONDS)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(self.pid, 0)
        if self.group is None:
            return []
        self.group.close()
        return self.ground.site.remove(self.spec["name"])


_OPERATIONS: dict[str, Callable[[Keeper, wire.Message], dict[str, Any]]] = {
    "processes": Keeper.processes,
    "freeze": Keeper.freeze,
    "listing": Keeper.listing,
    "plant": Keeper.plant,
    "exists": Keeper.exists,
    "change": Keeper.change,
    "move": Keeper.move,
    "remount": Keeper.remount,
    "resize": Keeper.resize,
    "limit": Keeper.limit,
    "clock": Keeper.clock,
    "reads": Keeper.reads,
    "usage": Keeper.usage,
    "kill": Keeper.kill,
    "mounts": Keeper.mounts,
}


def serve(ground: Ground, harness: socket.socket) -> None:
    """Be the keeper of one sandbox until it is destroyed or somebody is gone."""
    request = wire.receive(harness)
    keeper = Keeper(ground, request.body)
    try:
        answer, handed = keeper.build(request.payload)
    except (OSError, Failed, ValueError, paths.Refused, wire.Closed) as error:
        keeper.remove()
        wire.send(
            harness,
            {"error": {"kind": getattr(error, "kind", "SandboxError"), "message": str(error)}},
        )
        return
    wire.send(harness, answer, fds=[sock.fileno() for sock in handed])
    for sock in handed:
        # The last to close a packet socket waits 10 ms for the kernel: let that be us, at exit.
        if sock.family != socket.AF_PACKET:
            sock.close()
    left: list[str] | None = None
    try:
        while left is None:
            left = _turn(keeper, harness)
        wire.send(harness, {"left": left})
    except wire.Closed:
        pass
    finally:
        if left is None:
            keeper.remove()


def _turn(keeper: Keeper, harness: socket.socket) -> list[str] | None:
    """Answer one request; gives what is left when that was to destroy."""
    poller = select.poll()
    poller.register(harness, select.POLLIN)
    poller.register(keeper.handle, select.POLLIN)
    if any(fd == keeper.handle for fd, _ in poller.poll()):
        raise wire.Closed("pid 1 of the sandbox is dead")
    message = wire.receive(harness)
    if message.body["op"] == "destroy":
        return keeper.remove()
    handed: list[socket.socket] = []
    payload_fd: int | None = None
    try:
        if message.body["op"] == "open":
            payload_fd = paths.open_file(keeper._root(message.body["root"]), message.body["path"])
            reply: dict[str, Any] = {}
        elif message.body["op"] == "listen":
            reply, handed = keeper.listen(message)
        else:
            reply = _OPERATIONS[message.body["op"]](keeper, message)
    except (OSError, Failed, ValueError, paths.Refused, trees.TooDeep) as error:
        reply = {"error": {"kind": getattr(error, "kind", "SandboxError"), "message": str(error)}}
    fds = [sock.fileno() for sock in handed] + ([payload_fd] if payload_fd is not None else [])
    wire.send(harness, reply, fds=fds)
    for fd in fds:
        os.close(fd)
    return None


def _folder(path: str) -> int:
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
