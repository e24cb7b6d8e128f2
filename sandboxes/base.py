"""The contract of a sandbox: what a backend offers and what each call means.

A *backend* is a kind of place (bubblewrap, docker); a *sandbox* is one live place.
What the subject does wrong is data (:class:`Ended`, :class:`Usage`); what the place does
wrong is an exception from :mod:`sandboxes.errors`. A backend states what it can do as
:class:`Capability` values taken from live probes, never from a version string.

Nothing here decides a verdict and nothing here is told what a case expects.
"""

from __future__ import annotations

import enum
import socket
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from sandboxes.attempts import Act as Act
from sandboxes.attempts import Attempts as Attempts
from sandboxes.attempts import Depth as Depth
from sandboxes.attempts import Touched as Touched
from sandboxes.capabilities import CAPABILITIES as CAPABILITIES
from sandboxes.capabilities import Capability as Capability
from sandboxes.capabilities import Probe as Probe
from sandboxes.listing import Entry as Entry
from sandboxes.listing import Kind as Kind
from sandboxes.listing import Listing as Listing
from sandboxes.listing import Manifest as Manifest
from sandboxes.listing import SystemChange as SystemChange
from sandboxes.rules import Rule as Rule
from sandboxes.rules import Watch as Watch
from sandboxes.trusted import Authority as Authority

AGENT_HOME = "/home/agent"
WORKSPACE = "/workspace"
AGENT = "agent"
ROOT = "root"
#: The agent's uid and gid, as the sandbox and every listing show it.
AGENT_UID = 61234


class Root(enum.StrEnum):
    """The three trees that evidence speaks of."""

    HOME = "home"
    WORKSPACE = "workspace"
    SYSTEM = "system"


@dataclass(frozen=True, slots=True)
class Limits:
    """Hard limits; bytes for memory and disk, a count for pids."""

    memory: int = 2 << 30
    pids: int = 512
    disk: int = 1 << 30


@dataclass(frozen=True, slots=True)
class Planted:
    """A path made before the subject starts, owned by the agent.

    Attributes:
        path: relative to its root; surrogate-escaped where it is no UTF-8.
        kind: file, dir or link.
        content: a file's bytes.
        target: a link's target.
        mode: permission bits.
    """

    path: str
    kind: Kind = Kind.FILE
    content: bytes = b""
    target: str = ""
    mode: int = 0o644


@dataclass(frozen=True, slots=True)
class Mount:
    """A host folder or file shown read-only inside.

    Attributes:
        source: absolute path on the host.
        target: absolute path inside.
    """

    source: Path
    target: str


@dataclass(frozen=True, slots=True)
class Listen:
    """An address inside the sandbox that is served from outside it."""

    host: str
    port: int
    kind: str = "tcp"  # tcp | udp


@dataclass(frozen=True, slots=True)
class SandboxSpec:
    """What to make.

    Attributes:
        name: unique within the run, ``[a-z0-9.-]``; part of what it is labelled with.
        limits: hard limits, applied as far as the capabilities go.
        home: planted in the agent's home.
        workspace: planted in the workspace.
        mounts: host paths shown read-only.
        hosts: extra lines of ``/etc/hosts``, name to address.
        listens: addresses to bind before anything starts.
        trusted: added to the certificates that the system trusts.
        zone: name of the time zone that ``/etc/localtime`` points to.
        wall_clock: whether the wall-clock shim is loaded into every dynamic program
            (through ``/etc/ld.so.preload``, so an emptied environment keeps it).
        watch: which calls of watched programs are looked at; each of them costs the program
            some microseconds. With any of them, :meth:`Sandbox.watch` works.
        guarded: a folder of the host, resolved, that nothing inside may change; see
            :meth:`Sandbox.touched`.
        nest: whether the agent can make sandboxes inside (user namespaces, mounts in them);
            then nothing can be started as root.
    """

    name: str
    limits: Limits = Limits()
    home: Sequence[Planted] = ()
    workspace: Sequence[Planted] = ()
    mounts: Sequence[Mount] = ()
    hosts: Mapping[str, str] = field(default_factory=dict)
    listens: Sequence[Listen] = ()
    trusted: Authority | None = None
    zone: str = "UTC"
    wall_clock: bool = False
    watch: Collection[Watch] = ()
    guarded: Path | None = None
    nest: bool = False


@dataclass(frozen=True, slots=True)
class ProcessSpec:
    """One program to start; no shell is involved.

    Attributes:
        argv: the program and its arguments; ``argv[0]`` is looked up in ``env["PATH"]``.
        env: the whole environment.
        stdout: descriptor of this process to hand over as fd 1 (the caller closes its copy).
        stderr: likewise fd 2.
        cwd: absolute path inside.
        user: ``agent`` or ``root``.
        stdin: descriptor for fd 0; ``None`` gives ``/dev/null``.
        watched: whether what it and its children attempt is counted, where the sandbox
            was made with ``watch``; its own start is not.
        inspected: whether :meth:`Sandbox.beginning` is to be known of it.
    """

    argv: Sequence[str]
    env: Mapping[str, str]
    stdout: int
    stderr: int
    cwd: str = WORKSPACE
    user: str = AGENT
    stdin: int | None = None
    watched: bool = False
    inspected: bool = False


@dataclass(frozen=True, slots=True)
class Beginning:
    """What the kernel said of a program with its first instruction still to come.

    Attributes:
        env: its environment.
        uid: as in listings.
        stdin: what fd 0 is, as ``/proc/PID/fd`` names it: ``/dev/null``, ``pipe:[INODE]``.
        terminal: whether it has a controlling terminal.
    """

    env: Mapping[str, str]
    uid: int
    stdin: str
    terminal: bool


@dataclass(frozen=True, slots=True)
class Ended:
    """How a started process ended, from its own wait status.

    Attributes:
        process: the number that :meth:`Sandbox.start` gave.
        exit_code: its code, or ``None`` where a signal ended it.
        signal: the signal's number, or ``None``.
    """

    process: int
    exit_code: int | None
    signal: int | None


@dataclass(frozen=True, slots=True)
class Process:
    """One process of the sandbox, the keeper's own excepted."""

    pid: int  # inside
    ppid: int  # inside
    state: str  # a letter of proc(5)
    argv: Sequence[str]
    uid: int  # as the sandbox sees it
    main: int | None  # the number Sandbox.start gave, if it is one of those
    planted: bool = False  # left behind by Sandbox.burden


@dataclass(frozen=True, slots=True)
class Usage:
    """Counters of the kernel for this sandbox; ``None`` where nothing counts it."""

    oom_kills: int | None
    pids_refused: int | None
    memory_peak: int | None
    disk_free: int | None
    disk_total: int | None


@dataclass(frozen=True, slots=True)
class Lock:
    """An exclusive lock of a file.

    Attributes:
        suffix: what is added to the path of the file.
        flock: whether it is one of flock(2), of the whole file, and not one of fcntl(2).
        start: the first byte.
        length: how many bytes; 0: to the end, wherever that will be.
    """

    suffix: str = ""
    flock: bool = False
    start: int = 0
    length: int = 0


class Sandbox(Protocol):
    """A live place. All calls come from one thread.

    Every call raises :class:`sandboxes.errors.SandboxLost` when the place is gone.
    """

    @property
    def listeners(self) -> Mapping[Listen, socket.socket]: ...

    @property
    def packets(self) -> socket.socket | None:
        """Packet socket on the loopback device of the sandbox, or ``None`` without counter.

        It yields the first bytes, from the IP header on, of every packet whose destination
        is outside 127.0.0.0/8 and ``::1``, and of every TCP packet that has SYN and not ACK
        set, whatever its destination. Each packet is seen once; an empty one stands for some
        that came too fast to be seen.
        """

    def start(self, spec: ProcessSpec) -> int:
        """Start a program; gives its number, from 1.

        Raises:
            CommandNotFound: no such program inside, or it is not executable.
        """

    def beginning(self, process: int) -> Beginning | None:
        """How a started process began; ``None``: not inspected, or killed before it began."""

    def waiting(self, pipe: int) -> int:
        """How many threads inside wait to read from a pipe, given by its inode.

        They are blocked in a read of it, or in a poll, select or epoll that asks for it.
        """

    def wait(self, timeout: float, wake: int | None = None) -> Ended | None:
        """Wait for the next ended process, ``timeout`` seconds, or ``wake`` (fd) readable."""

    def signal(self, process: int, signum: int) -> bool:
        """Send a signal to a started process; ``False`` when it has ended already."""

    def processes(self) -> Sequence[Process]:
        """Every live process inside, zombies (state ``Z``) among them."""

    def freeze(self) -> None:
        """Stop everything inside; on return nothing of the subject runs."""

    def thaw(self) -> None: ...

    def listing(self) -> Listing:
        """Walk the trees from outside: no link is followed, nothing of the subject is run."""

    def open(self, root: Root, path: str) -> int | None:
        """Open a regular file for reading, no link in ``path`` followed; ``None`` if absent."""

    def exists(self, root: Root, path: str) -> bool:
        """Whether a path is there, no link followed."""

    def plant(self, root: Root, planted: Planted) -> None:
        """Make a path while it runs, from outside, with no link of the subject followed."""

    def change(self, root: Root, path: str, mode: int, owner: str) -> Entry:
        """Give a path a mode and an owner (``agent`` or ``root``); gives what it was."""

    def restore(self, root: Root, path: str) -> None:
        """Give what :meth:`change` changed its first mode and owner again, wherever it is now."""

    def name_agent(self, *, named: bool) -> None:
        """Take the agent's entry out of the password file, or put it back.

        Its uid stays what it is, and files stay its own; it has no name, and no home on record.
        """

    def take(self, root: Root, path: str) -> None:
        """Take a file or folder out of the sandbox, with all that is in it."""

    def put_back(self, root: Root, path: str) -> None:
        """Bring what was taken back to its place.

        What the subject made there since stays; of a folder, what is missing comes back into
        it. Where the folder that it was in is gone, it is gone too.
        """

    def tree(self, root: Root, path: str) -> Manifest:
        """A path as ``.``, and all below it by its place in there; empty where nothing is."""

    def cut(self, root: Root, path: str, size: int) -> int:
        """Cut a file down to its first ``size`` bytes, in its place; gives a number for it."""

    def leave(self, root: Root, planted: Planted, *, instead: bool = False) -> int:
        """Make a path where nothing is, in a folder that is there; gives a number for it.

        With ``instead``, also where something is, which comes back when it is undone.
        """

    def hold(self, root: Root, path: str, locks: Sequence[Lock]) -> int:
        """Lock a file, or files beside it, from outside; gives a number for it.

        The locks keep out those of processes and those of descriptors, inside and outside.
        They are given up when this is undone, and with the sandbox.

        Raises:
            SandboxError: somebody inside holds one of them, or a file is not there.
        """

    def save(self, root: Root, path: str, name: str) -> None:
        """Keep a copy of a file or folder as it is now, out of sight, or that there is none.

        It takes its room from the private file system. Sockets and fifos are left out.
        """

    def revert(self, root: Root, path: str, name: str) -> int:
        """Put what was saved of the path under that name in the place of what is there, once.

        Gives a number for it.
        """

    def programs(self, name: str, path: str) -> Sequence[str]:
        """Every place where a program is found, absolute, with no link but the last name.

        ``name`` may be an absolute path; ``path`` holds the folders to look in, as ``PATH`` does.
        """

    def hide(self, path: str) -> int:
        """Take a program away from an absolute path; gives a number for it.

        Outside home and workspace it is one of the system's, which needs ``files.system``. It
        comes back as it was.
        """

    def burden(self, path: str, seconds: float | None) -> int:
        """Have each start of a program of the system leave a child behind; gives a number for it.

        The child has a session of its own, ignores SIGTERM and SIGHUP, holds on to standard
        output and error, and lives so many seconds; ``None``: until it is killed. To undo it
        kills them.
        """

    def lingering(self) -> Sequence[int]:
        """The pids of children that watched programs have left behind so, and that live."""

    def undo(self, number: int) -> None:
        """Take back what has that number, once.

        What the subject has touched since stays as it is.
        """

    def alias(self, root: Root, path: str, name: str) -> None:
        """Give a file a second name in its folder (a hard link).

        Raises:
            SandboxError: there is no such file, or something has that name.
        """

    def drop_alias(self, root: Root, path: str, name: str) -> None:
        """Take the second name away, unless another file has it since."""

    def remount(self, path: str, *, read_only: bool) -> None:
        """Make the home, the workspace or ``/tmp`` read-only, or writable again."""

    def resize(self, free: int | None) -> None:
        """Leave ``free`` bytes on the private file system; ``None`` gives back the limit."""

    def limit(
        self,
        *,
        memory: int | None = None,
        pids: int | None = None,
        descriptors: int | None = None,
    ) -> None:
        """Change a limit while it runs.

        ``descriptors`` is how many each process may have open, of those that live and of those
        that start later.
        """

    def reset_limit(self, name: str) -> None:
        """Give back the limit that it was made with: ``memory``, ``pids`` or ``descriptors``."""

    def listen(self, where: Listen) -> socket.socket:
        """Bind another address inside.

        Raises:
            AddressInUse: something inside has it.
        """

    def set_wall_clock(self, offset_ns: int, mark_ns: int = 0) -> Mapping[str, int]:
        """Move the wall clock shown by the shim to real time plus ``offset_ns``.

        ``mark_ns`` is a moment of the shown clock, nanoseconds since the epoch, from which on
        reads are late ones; 0: none are. Gives :meth:`wall_clock_reads` of the very moment before.
        """

    def wall_clock_reads(self, *, late: bool = False) -> Mapping[str, int]:
        """How many reads of the wall clock the shim answered, by the name of the program.

        ``late`` takes only those that were shown the mark of their time, or a later moment.
        """

    def watch(self, path: str) -> None:
        """Count from now on what watched programs attempt on an absolute path, and below it.

        Of a path that :meth:`change` changed, only while there is still there what it changed.
        """

    def attempts(self, path: str) -> Attempts:
        """The count so far of a path that is watched."""

    def intercept(self, rule: Rule) -> int:
        """Have calls of watched programs answered by a rule from now on; gives its number.

        Of several rules for one call, the first decides, and the longest wait counts.

        Raises:
            AddressInUse: something inside has the address that is to be taken.
            SandboxError: the sandbox was made without watching what the rule is about, or
                there is nothing at the path that is to be swapped.
        """

    def met(self, number: int) -> Mapping[str, int]:
        """What a rule did so far; each says what it counts. What did not happen is left out."""

    def release(self, number: int) -> Mapping[str, int]:
        """End a rule and undo what it did; gives what it did."""

    def usage(self) -> Usage: ...

    def mounts(self) -> str:
        """The sandbox's ``mountinfo`` (proc(5)), read from outside; empty if it cannot be."""

    def touched(self) -> Touched:
        """What processes inside changed in the guarded folder so far.

        Of a file that is still being written, or that was, its name is told once.
        """

    def kill(self) -> None:
        """End every process inside; on return they are gone."""

    def destroy(self) -> Sequence[str]:
        """Remove it all. Gives what could not be removed, in words; empty is right."""


class Site(Protocol):
    """A backend made ready for one run: its helper is up, its leftovers are swept."""

    def create(self, spec: SandboxSpec) -> Sandbox:
        """Make a sandbox.

        Raises:
            SandboxError: it could not be made; nothing is left.
        """


class Backend(Protocol):
    """A kind of place."""

    @property
    def name(self) -> str: ...

    def probe(self) -> Probe:
        """Look at this machine, in a second or less; cached for the process."""

    def site(self, run: str) -> AbstractContextManager[Site]:
        """Get ready for a run.

        Args:
            run: the run's id; everything made carries it.
        """

    def sweep(self) -> Sequence[str]:
        """Remove what runs of dead owners left; gives it in words. Never another run's."""
