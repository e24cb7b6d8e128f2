"""What a backend can do, as it says itself after having tried."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Capability:
    """One thing a backend can or cannot do here.

    Attributes:
        name: dotted name, as a case writes it under ``sandbox.needs``.
        available: what the live probe found.
        detail: the mechanism used, or why it is missing.
        remedy: a command or a sentence that makes it available; empty if there is none.
    """

    name: str
    available: bool
    detail: str
    remedy: str = ""


#: The one that a sandbox only has where it is asked for.
NEST = "nest"

#: Every capability name and what it promises. A backend reports each of them.
CAPABILITIES: Mapping[str, str] = {
    "limits.memory": "a hard memory limit on the subject and all it starts",
    "limits.pids": "a hard limit on the number of processes and threads",
    "limits.disk": "a hard limit on what the subject can write",
    "oom": "an out-of-memory kill is known from the kernel's own counter",
    "freeze": "every process of the subject can be stopped at once, from outside",
    "files.system": "changes outside home and workspace are recorded",
    "files.attempts": "what the subject attempts on a path is counted from outside",
    "files.locks": "attempts of the subject to lock a file are counted from outside",
    "files.answers": "calls of the subject on a file can be failed or cut short from outside",
    "files.holds": "calls of the subject on a file can be held back from outside",
    "process.descriptors": "open files can be limited, and calls that needed one more are counted",
    "user.separate": "the subject's kernel uid owns nothing on the host",
    "user.root": "a step of the case can run as root of the sandbox",
    "user.nameless": "the agent's entry can be taken out of the password file while it runs",
    "processes.inspected": "how a program began, and which pipe it waits for, is known",
    "network.none": "nothing outside the sandbox can be reached",
    "network.services": "listeners inside the sandbox are served from outside it",
    "network.counter": "packets to addresses that are no service are seen from outside",
    "network.low-ports": "services can answer on port 80",
    "network.binds": "binds of the subject to an address that is held are counted from outside",
    "disk.resize": "the free space of the private file system can be changed while it runs",
    "remount": "a mounted folder can be made read-only and writable again while it runs",
    "clock.wall": "the wall clock of dynamically linked programs can be set",
    "clock.zone": "the time zone can be set",
    NEST: "sandboxes can be made inside the sandbox",
}


@dataclass(frozen=True, slots=True)
class Probe:
    """What a backend found when it looked.

    Attributes:
        backend: the backend's registry name.
        available: whether a sandbox can be made at all.
        grade: ``root`` or ``user``.
        reason: why it is not available; empty otherwise.
        remedy: what to run or do about it.
        capabilities: by name, one for each of :data:`CAPABILITIES`.
        versions: tools and kernel, for the report.
        image: digest of the image that sandboxes are made of; empty where there is none.
    """

    backend: str
    available: bool
    grade: str
    reason: str = ""
    remedy: str = ""
    capabilities: Mapping[str, Capability] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    image: str = ""
