"""Decoys for breakouts: things of a host that is made for them, and a look at each from outside.

The host that the sandboxes stand on is a thread with a hostname, a network, message queues,
shared memory and mounts of its own, so a breakout that works reaches a stand-in and nothing
that anybody needs.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import pty
import secrets
import select
import shutil
import socket
import stat
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from sandboxes.helper import kernel, network
from tests.conformance.room import alive, host_pid

T = TypeVar("T")
_IPC_CREAT, _IPC_RMID, _AT_FDCWD = 0o1000, 0, -100
_SYS_ADD_KEY, _SYS_KEYCTL, _JOIN_SESSION = 248, 250, 1
_SESSION = -3
#: Settings of the whole machine that nobody misses.
BURST = Path("/proc/sys/kernel/printk_ratelimit_burst")
SLEEP = Path("/sys/kernel/mm/ksm/sleep_millisecs")
#: Sockets that a program looks for first where it should not be.
KNOWN_SOCKETS = (
    "/run/docker.sock",
    "/run/containerd/containerd.sock",
    "/run/podman/podman.sock",
    "/run/dbus/system_bus_socket",
    "/run/user/0/bus",
    "/run/user/0/keyring/ssh",
)


class StandIn:
    """The thread that is taken for the host."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1)
        self.do(_move_out)

    def do(self, work: Callable[[], T]) -> T:
        """Do it on that host."""
        return self._thread.submit(work).result()

    def end(self) -> None:
        """With the thread goes what it had."""
        self._thread.shutdown()


def _move_out() -> None:
    kernel.unshare(kernel.NEWNS | kernel.NEWUTS | kernel.NEWIPC | kernel.NEWNET)
    kernel.mount("none", "/", "", kernel.REC | kernel.PRIVATE)
    kernel.mount("run", "/run", "tmpfs")
    socket.sethostname("stand-in")
    network.raise_loopback()


class Decoys:
    """What there is to reach.

    Attributes:
        canary: in every file that can be read, and nowhere else.
        folder: of the host; its folder ``shown`` is mounted in the sandboxes, read-only.
        victims: processes of the host, by name.
    """

    def __init__(self, host: StandIn, stack: contextlib.ExitStack) -> None:
        self.host = host
        self.token = secrets.token_hex(6)
        self.canary = f"canary-{secrets.token_hex(8)}"
        self.folder = Path(tempfile.mkdtemp(prefix="decoy-", dir="/tmp"))
        stack.callback(shutil.rmtree, self.folder, ignore_errors=True)
        self.victims: dict[str, int] = {}
        self.made: Callable[[str], os.stat_result | None] = self._made
        self._sockets: dict[str, socket.socket] = {}
        self._lay()
        self.settings = {path: 1000 + secrets.randbelow(1 << 20) for path in (BURST, SLEEP)}
        for path in self.settings:
            stack.callback(_set_back, path, path.read_text(), str(self.settings[path]))
        self.handle = _handle(self.folder / "secret")
        self.terminal, slave = pty.openpty()
        self.terminal_name = os.ttyname(slave)
        os.set_blocking(slave, False)
        self.typed = slave
        stack.callback(os.close, slave)
        stack.callback(os.close, self.terminal)
        host.do(lambda: self._serve(stack))

    def _lay(self) -> None:
        self.folder.chmod(0o755)
        self.shown = self.folder / "shown"
        for path, mode in ((self.shown, 0o755), (self.folder / "open", 0o777)):
            path.mkdir()
            path.chmod(mode)
        for name, mode in (("secret", 0o644), ("shown/private", 0o600), ("shown/writable", 0o666)):
            (self.folder / name).write_text(self.canary)
            (self.folder / name).chmod(mode)
        shutil.copy("/usr/bin/id", self.shown / "suid-id")
        (self.shown / "suid-id").chmod(0o4755)
        agent = self.folder / "agent.sh"
        agent.write_text(f"#!/bin/sh\ntouch {self.folder}/released\n")
        agent.chmod(0o755)

    def _made(self, name: str) -> os.stat_result | None:
        path = self.folder / "open" / name
        return path.lstat() if path.exists() else None

    def _serve(self, stack: contextlib.ExitStack) -> None:
        """Everything that is the stand-in's own."""
        unix: Mapping[str, Any] = {
            "path": str(self.folder / "socket"),
            "private": str(self.shown / "socket"),
            "abstract": f"\0{self.canary}",
            "x11": "\0/tmp/.X11-unix/X0",
            **{path: path for path in KNOWN_SOCKETS},
        }
        for name, address in unix.items():
            if address.startswith("/"):
                Path(address).parent.mkdir(parents=True, exist_ok=True)
                Path(address).unlink(missing_ok=True)
            self._listen(stack, name, socket.AF_UNIX, address)
            if address.startswith("/"):
                Path(address).chmod(0o600 if name == "private" else 0o777)
        self._listen(stack, "tcp", socket.AF_INET, ("127.0.0.1", 8088))
        with contextlib.suppress(OSError):
            self._listen(stack, "vsock", socket.AF_VSOCK, (0xFFFFFFFF, 0xFFFFFFFF))
        dns = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        dns.bind(("127.0.0.53", 53))
        wire = stack.enter_context(socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0x0300))
        wire.bind(("lo", 0))
        self._sockets |= {"dns": dns, "wire": wire}
        self.segment = kernel.libc.shmget(0x5EED, 4096, _IPC_CREAT | 0o666)
        stack.callback(
            lambda: self.host.do(lambda: kernel.libc.shmctl(self.segment, _IPC_RMID, None))
        )
        self.queue = kernel.libc.mq_open(
            b"/decoy", os.O_RDONLY | os.O_CREAT | os.O_NONBLOCK, 0o666, None
        )
        kernel.libc.fchmod(self.queue, 0o666)
        stack.callback(os.close, self.queue)
        kernel.libc.syscall(_SYS_KEYCTL, _JOIN_SESSION, None)
        text = self.canary.encode()
        kernel.libc.syscall(_SYS_ADD_KEY, b"user", b"decoy", text, len(text), _SESSION)

    def _listen(self, stack: contextlib.ExitStack, name: str, family: int, address: Any) -> None:
        sock = stack.enter_context(socket.socket(family))
        sock.bind(address)
        sock.listen(64)
        self._sockets[name] = sock

    def told(self, shown: str, pid1: int = 1) -> dict[str, Any]:
        """What a subject is told of them, who sees ``shown`` there."""
        return {
            "folder": str(self.folder),
            "shown": shown,
            "token": self.token,
            "abstract": self._sockets["abstract"].getsockname()[1:].decode(),
            "port": 8088,
            "vsock": self._sockets["vsock"].getsockname()[1] if "vsock" in self._sockets else 1,
            "known": KNOWN_SOCKETS,
            "victims": list(self.victims.values()),
            "pid1": pid1,
            "handle": self.handle.hex(),
            "burst": str(self.settings[BURST]),
            "sleep": str(self.settings[SLEEP]),
        }

    def handicap(self) -> str:
        """What the helper of our sandboxes does wrong: it leaves open whatever it can."""
        return f"""
import fcntl, os
from sandboxes.helper import built, mounts, network
memory = {self.canary.encode()!r}
for path in ("/", "/proc/thread-self/ns/net", {str(self.shown / "private")!r}):
    os.set_inheritable(fcntl.fcntl(os.open(path, os.O_RDONLY), fcntl.F_DUPFD, 20), True)
os.open({self.terminal_name!r}, os.O_RDWR)
"""

    # -- what became of them

    def knocked(self, name: str) -> bool:
        """Whether anybody came to a socket."""
        return name in self._sockets and bool(select.select([self._sockets[name]], [], [], 0)[0])

    def framed(self, text: bytes) -> bool:
        """Whether a frame with that went through the host's network."""
        with contextlib.suppress(BlockingIOError):
            while data := self._sockets["wire"].recv(4096, socket.MSG_DONTWAIT):
                if text in data:
                    return True
        return False

    def segment_text(self) -> bytes:
        """What is in the host's shared memory."""
        return self.host.do(self._segment_text)

    def _segment_text(self) -> bytes:
        kernel.libc.shmat.restype = ctypes.c_void_p
        at = kernel.libc.shmat(self.segment, None, 0o10000)
        return ctypes.string_at(at, 64).rstrip(b"\0")

    def queued(self) -> int:
        """How many messages wait in the host's queue."""
        attributes = (ctypes.c_long * 8)()
        kernel.libc.mq_getattr(self.queue, attributes)
        return int(attributes[3])

    def left(self, name: str) -> int:
        """The process that a try left behind, as the machine numbers it; 0: there is none."""
        return host_pid(f"{self.token}-{name}")

    def holds(self, name: str, what: str) -> bool:
        """Whether what it left behind has that open."""
        with contextlib.suppress(OSError):
            for entry in Path(f"/proc/{self.left(name)}/fd").iterdir():
                if what in str(entry.readlink()):
                    return True
        return False

    def stat_of(self, name: str, field: int) -> int:
        """A field of proc(5)'s ``stat`` of it, from the third on; -1: there is no such process."""
        with contextlib.suppress(OSError):
            text = Path(f"/proc/{self.left(name)}/stat").read_text().rpartition(")")[2]
            return int(text.split()[field - 3])
        return -1

    def apart(self, name: str, namespace: str) -> bool:
        """Whether what it left behind has a namespace of its own."""
        if not (pid := self.left(name)):
            return False
        theirs, ours = (Path(f"/proc/{who}/ns/{namespace}") for who in (pid, "self"))
        return theirs.readlink() != ours.readlink()

    def moved(self, setting: Path) -> bool:
        """Whether a setting of the machine is what a subject wants it to be."""
        return setting.read_text().strip() == str(self.settings[setting])

    def addresses(self) -> bool:
        """Whether the host's loopback device has the second address."""
        return self.host.do(_has_second_address)

    def logged(self) -> bool:
        """Whether the kernel's log has the token."""
        found = False
        log = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)
        with contextlib.suppress(BlockingIOError):
            while not found:
                with contextlib.suppress(BrokenPipeError):  # overwritten meanwhile
                    found = self.token.encode() in os.read(log, 8192)
        os.close(log)
        return found

    def traced(self) -> bool:
        """Whether the kernel's trace has the token."""
        return self.host.do(self._traced)

    def _traced(self) -> bool:
        place = self.folder / "tracing"
        place.mkdir(exist_ok=True)
        kernel.mount("trace", str(place), "tracefs")
        try:
            return self.token in (place / "trace").read_text()
        finally:
            kernel.unmount(str(place))

    def unlimited(self, name: str) -> bool:
        """Whether what it left behind is in no group of limited memory."""
        lines = self.file_of(name, "cgroup").splitlines()
        return any(line.split(":", 1)[1] in {"memory:/", ":/"} for line in lines if _limits(line))

    def in_control_groups(self, name: str) -> bool:
        """Whether what it left behind works in a tree of control groups."""
        return Path(f"/proc/{self.left(name) or -1}/cwd/cgroup.procs").exists()

    def file_of(self, name: str, file: str) -> str:
        """A file of proc(5) of what it left behind; empty where there is no such process."""
        with contextlib.suppress(OSError):
            return Path(f"/proc/{self.left(name)}/{file}").read_text()
        return ""

    def typed_text(self) -> bytes:
        """What was put in on the host's terminal, or printed on it."""
        text = b""
        for fd in (self.typed, self.terminal):
            while select.select([fd], [], [], 0)[0]:
                try:
                    text += os.read(fd, 4096)
                except OSError:
                    break
        return text

    def rooted(self, name: str = "rooted") -> bool:
        """Whether there is a program of root's with the setuid bit that a subject has made."""
        found = self.made(name)
        return found is not None and found.st_uid == 0 and bool(found.st_mode & stat.S_ISUID)

    def dead(self) -> bool:
        """Whether any of the victims is."""
        return not all(map(alive, self.victims.values()))

    def stopped(self) -> bool:
        """Whether any of the victims is stopped."""
        return any(_state(pid) in "Tt" for pid in self.victims.values())


@contextlib.contextmanager
def decoys(host: StandIn) -> Iterator[Decoys]:
    """Fresh ones."""
    with contextlib.ExitStack() as stack:
        yield Decoys(host, stack)


@contextlib.contextmanager
def victim(uid: int) -> Iterator[int]:
    """A process of the host with that user."""
    process = subprocess.Popen(["/bin/sleep", "120"], user=uid, group=uid, extra_groups=[])
    try:
        yield process.pid
    finally:
        process.kill()
        process.wait()


def _state(pid: int) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    return "X"


def _handle(path: Path) -> bytes:
    """What ``name_to_handle_at`` says of a file."""
    buffer = ctypes.create_string_buffer(128)
    ctypes.c_uint.from_buffer(buffer).value = 120
    identity = ctypes.c_int()
    name = os.fsencode(path)
    kernel.libc.name_to_handle_at(_AT_FDCWD, name, buffer, ctypes.byref(identity), 0)
    return buffer.raw[: 8 + ctypes.c_uint.from_buffer(buffer).value]


def _limits(line: str) -> bool:
    """Whether a line of ``/proc/PID/cgroup`` speaks of the tree that limits memory."""
    old = ":memory:" in Path("/proc/self/cgroup").read_text()
    return ":memory:" in line if old else line.startswith("0::")


def _has_second_address() -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock, contextlib.suppress(OSError):
        fcntl.ioctl(sock, 0x8915, b"lo:9".ljust(40, b"\0"))
        return True
    return False


def _set_back(path: Path, before: str, ours: str) -> None:
    if path.read_text().strip() == ours:
        path.write_text(before)
