"""Evidence of one trial: everything an oracle may look at, and nothing else.

Collected with the subject stopped, from outside. Oracles are pure functions of an
:class:`Evidence`, so a stored trial can be judged again. Paths are text with bytes that are
no UTF-8 written as ``\\xNN``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sandboxes.base import Root


@dataclass(frozen=True, slots=True)
class PathState:
    """What a path was: ``type`` is file, dir, link or other; ``mode`` like ``"0644"``."""

    type: str
    mode: str
    size: int
    sha256: str | None = None
    target: str | None = None
    owner: str = "agent"  # agent, root, or a number


@dataclass(frozen=True, slots=True)
class FileChange:
    """One path that is not as it was at the start.

    Attributes:
        root: home, workspace or system.
        path: relative to home and workspace, absolute for system.
        change: ``added``, ``changed`` (bytes or target), ``removed``, ``retyped`` or ``meta``.
        by: ``planted`` (it was there at the start by our hand), ``own`` (the adapter's own
            paths) or ``other``.
    """

    root: Root
    path: str
    change: str
    before: PathState | None
    after: PathState | None
    by: str


@dataclass(frozen=True, slots=True)
class Request:
    """One request that reached a service; one line of ``requests.jsonl``.

    Attributes:
        seq: from 1, over all services of the trial.
        t: seconds since the first step.
        service: ``model`` or the service's key.
        conn: number of the connection.
        kind: ``turn``, ``side``, ``probe`` or ``beyond``.
        body_sha256: of the body as stored, after redaction.
        turn: index of the script's step that answered, or ``None``.
        attempt: how often this turn had been asked for, this one included.
        fault: id of the fault that hit it, or ``None``.
        bytes_sent: of the reply, headers included.
        ended: ``whole``, ``cut``, ``reset`` or ``refused``.
        tokens_in: as the harness counts them.
        tokens_out: likewise.
        model: name that the request asked for, where it is one to the model.
        secrets: marks of planted secrets found in it.
        tool_result: start of the last tool result that one to the model carries.
        message: what one to a chat service said to the person there, as far as it was taken
            for her: text, caption, and the texts of blocks.
    """

    seq: int
    t: float
    service: str
    conn: int
    kind: str
    method: str
    path: str
    headers: Mapping[str, str]
    body_sha256: str
    turn: int | None
    attempt: int
    fault: str | None
    status: int
    bytes_sent: int
    ended: str
    tokens_in: int = 0
    tokens_out: int = 0
    model: str | None = None
    secrets: Sequence[str] = ()
    tool_result: str | None = None
    message: str | None = None


@dataclass(frozen=True, slots=True)
class Output:
    """What a stream carried.

    Attributes:
        data: the first bytes, up to the cap, screened for secrets.
        total: how many bytes there were in all.
        capped: whether there were more than are kept.
    """

    data: bytes = b""
    total: int = 0
    capped: bool = False


@dataclass(frozen=True, slots=True)
class Lingering:
    """A process that lived on after the main one had ended."""

    pid: int
    ppid: int
    state: str
    argv: Sequence[str]


@dataclass(frozen=True, slots=True)
class Processes:
    """What still ran.

    Attributes:
        observed: whether the list could be taken.
        after: seconds since the end of the steps, to the live processes then (zombies and
            the main process apart); the last one is the list at the freeze.
    """

    observed: bool
    after: Sequence[tuple[float, Sequence[Lingering]]] = ()


@dataclass(frozen=True, slots=True)
class Network:
    """What was asked of the world outside.

    Attributes:
        names: undeclared host names asked for, each with how often.
        packets: packets to addresses that are no service; ``None`` without a counter.
        destinations: ``address/proto/port`` to packets, the first hundred.
        syns: connection attempts to services, ``address:port`` to count.
        dropped: packets that came faster than they were counted; then ``packets`` is the
            least there were.
    """

    names: Mapping[str, int] = field(default_factory=dict)
    packets: int | None = None
    destinations: Mapping[str, int] = field(default_factory=dict)
    syns: Mapping[str, int] = field(default_factory=dict)
    dropped: int = 0


@dataclass(frozen=True, slots=True)
class FaultRecord:
    """What became of a declared fault.

    Attributes:
        armed: whether it was injected.
        landed: whether it hit, by a proof taken outside the subject.
        count: how often.
        proof: the proof, in words and numbers.
    """

    id: str
    fault: str
    armed: bool
    landed: bool
    count: int
    proof: str


@dataclass(frozen=True, slots=True)
class Happening:
    """Something that the harness did or saw, on the clock of the requests.

    Attributes:
        t: seconds since the first step.
        what: ``armed`` or ``healed`` (a fault), ``step`` (it begins), ``started`` or ``ended``
            (the main process).
        name: id of the fault, or kind of the step; else empty.
        number: of the step, from 1; else 0.
    """

    t: float
    what: str
    name: str = ""
    number: int = 0


@dataclass(frozen=True, slots=True)
class Clocks:
    """What became of the wall clocks, inside and outside.

    Attributes:
        reads: reads of the wall clock that the shim inside answered, by the name of the
            program, the harness's own apart; ``None`` where no shim was there.
        host_moved: by how many seconds the host's wall clock was set while the trial lived,
            against a clock that never steps; ``None`` where nobody looked.
    """

    reads: Mapping[str, int] | None = None
    host_moved: float | None = None


@dataclass(frozen=True, slots=True)
class ModelRecord:
    """What the model did: ``turns`` asked, ``served``, steps ``left``, requests ``beyond``."""

    turns: int = 0
    served: int = 0
    left: int = 0
    beyond: int = 0


@dataclass(frozen=True, slots=True)
class SecretHit:
    """A planted secret found where it must not be.

    Attributes:
        name: of the variable.
        encoding: such as ``plain`` or ``base64``.
        where: ``stdout``, ``stderr``, ``file:<root>:<path>`` or ``request:<service>:<seq>``.
    """

    name: str
    encoding: str
    where: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """All of it.

    Attributes:
        changes: paths that are not as they were.
        paths: the state at the end of every path an expectation names, by root and path;
            ``None`` where it is absent; missing where it was not looked at.
        contents: bytes of files that an expectation names, likewise.
        sentinels: path in the home to whether it was seen ``(before, after)`` the run.
        listed: roots that were listed before and after.
        stdout: of the main process.
        stderr: of the main process.
        ended_by: ``exit``, ``signal``, ``deadline``, ``step``, ``oom`` or ``lost``.
        exit_code: ``128+N`` after signal N; ``None`` where the harness stopped it.
        final_text: the last message, as the adapter finds it in the output.
        secrets: every hit; ``None`` where nothing was planted.
        own: globs of the adapter's own paths in the home.
        prices: dollars per million tokens, ``(input, output)``, by model.
        timeline: what happened beside the requests, in order.
        attempts: of each path or program that an expectation names, what the subject tried,
            as in ``on.read`` (see :class:`sandboxes.base.Attempts`), to how often; ``None``
            where there was nothing to watch; missing where it was not watched.
        clocks: the wall clocks.
        notes: further facts by name, each documented by the oracle that reads it.
    """

    changes: Sequence[FileChange] = ()
    paths: Mapping[tuple[Root, str], PathState | None] = field(default_factory=dict)
    contents: Mapping[tuple[Root, str], bytes] = field(default_factory=dict)
    sentinels: Mapping[str, tuple[bool, bool]] = field(default_factory=dict)
    listed: frozenset[Root] = frozenset()
    requests: Sequence[Request] = ()
    stdout: Output = Output()
    stderr: Output = Output()
    processes: Processes = Processes(observed=False)
    network: Network = Network()
    faults: Sequence[FaultRecord] = ()
    model: ModelRecord = ModelRecord()
    ended_by: str = "exit"
    exit_code: int | None = None
    final_text: str | None = None
    secrets: Sequence[SecretHit] | None = None
    own: Sequence[str] = ()
    prices: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    timeline: Sequence[Happening] = ()
    attempts: Mapping[str, Mapping[str, int] | None] = field(default_factory=dict)
    clocks: Clocks = Clocks()
    notes: Mapping[str, Any] = field(default_factory=dict)


_ESCAPED = re.compile(r"\\x([0-9a-f]{2})")


def path_text(path: str) -> str:
    r"""A surrogate-escaped path as text: undecodable bytes, and ``\`` before ``x``, as ``\xNN``."""
    text = path.replace("\\x", "\\x5cx")
    return "".join(f"\\x{ord(c) - 0xDC00:02x}" if 0xDC80 <= ord(c) <= 0xDCFF else c for c in text)


def path_from_text(text: str) -> str:
    """The surrogate-escaped path that :func:`path_text` wrote as ``text``."""
    raw = b""
    at = 0
    for match in _ESCAPED.finditer(text):
        raw += text[at : match.start()].encode("utf-8", "surrogateescape")
        raw += bytes([int(match[1], 16)])
        at = match.end()
    raw += text[at:].encode("utf-8", "surrogateescape")
    return raw.decode("utf-8", "surrogateescape")
