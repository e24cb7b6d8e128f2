"""A case, parsed: what is tested, what goes wrong, what is expected.

The loader turns a YAML file into these values once, at the edge; nothing behind it sees
YAML or an unchecked dictionary, except ``params`` and ``args``, which have been validated
against the schema of the fault, oracle, subject or service that they are for.
Durations are seconds, sizes bytes, paths as written in the case.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.case.repo import WorkTree
from sandboxes.base import Limits, Planted

Params = Mapping[str, Any]


@dataclass(frozen=True, slots=True, order=True)
class Where:
    """A place in a file; line and column count from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Trigger:
    """When a fault starts or ends.

    Attributes:
        kind: ``start``, ``request``, ``after``, ``output`` or ``file``.
        service: whose requests are counted (``request``); ``model`` by default.
        count: the number of the request, from 1 (``request``).
        seconds: time since the first step (``after``).
        pattern: a regular expression over stdout and stderr (``output``).
        path: a path that appears, ``~/…`` for the home, else in the workspace (``file``).
    """

    kind: str = "start"
    service: str = "model"
    count: int = 0
    seconds: float = 0.0
    pattern: str = ""
    path: str = ""

    def __str__(self) -> str:
        match self.kind:
            case "request":
                return f"request {self.count} of {self.service}"
            case "after":
                return f"{self.seconds:g} s to pass"
            case "output":
                return f"output that matches /{self.pattern}/"
            case "file":
                return f"the path {self.path}"
            case _:
                return "the start"


@dataclass(frozen=True, slots=True)
class Fault:
    """One declared fault.

    Attributes:
        id: its name in this case.
        fault: the injector's registry name, such as ``model.truncate``.
        when: from when on it acts.
        until: when it heals; ``None``: at the end, or when ``times`` is used up.
        times: how many requests it hits (model and upstream); ``None`` is ``always``.
        params: validated against the injector's schema, defaults filled in.
        where: its place in the case.
    """

    id: str
    fault: str
    when: Trigger = Trigger()
    until: Trigger | None = None
    times: int | None = 1
    params: Params = field(default_factory=dict)
    where: Where | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Expectation:
    """An oracle with its parameters, normalised by :meth:`Oracle.parse`."""

    id: str
    oracle: str
    params: Params
    where: Where | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call of the script.

    Attributes:
        kind: ``call`` (a tool by its own name), or abstract ``run``, ``write``, ``read``.
        name: the tool's name (``call``).
        args: the tool's arguments, or ``{command}``, ``{path, text}``, ``{path}``.
    """

    kind: str
    name: str = ""
    args: Params = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ScriptStep:
    """One turn of the model.

    Attributes:
        say: text of the reply.
        calls: tool calls of the reply, in order.
        usage: ``{input: N, output: N}`` tokens to report; else one per four bytes.
        stop: stop reason to send instead of the fitting one.
        raw: a body to send as it is.
        when: served only if this regular expression matches the last tool result.
        repeat: how many turns it serves; ``None`` is ``always``.
    """

    say: str | None = None
    calls: Sequence[Call] = ()
    usage: Mapping[str, int] | None = None
    stop: str | None = None
    raw: str | None = None
    when: str | None = None
    repeat: int | None = 1


@dataclass(frozen=True, slots=True)
class HttpRule:
    """One rule of a scripted HTTP upstream.

    Attributes:
        method: as in the request line.
        path: compared without the query.
        status: of the reply.
        headers: of the reply.
        body: of the reply.
        times: how many requests it serves; ``None``: any number.
    """

    method: str
    path: str
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    times: int | None = None


@dataclass(frozen=True, slots=True)
class ServiceDecl:
    """A service of the case.

    Attributes:
        kind: the registry name.
        name: its host name inside.
        params: what the kind made of what the case writes under that name; nobody else reads it.
    """

    kind: str
    name: str
    params: Any = ()


@dataclass(frozen=True, slots=True)
class Step:
    """One thing the harness does, in order.

    Attributes:
        kind: ``start``, ``wait``, ``run``, ``kill`` or ``restart``.
        argv: of ``run``.
        user: of ``run``: ``agent`` or ``root``.
        signal: of ``kill``: a number.
        at_most: of ``wait``: seconds.
        then: of ``wait`` with ``at_most``: ``terminate``, ``kill`` or ``continue``.
        where: of ``run``: the place of its program in the case.
    """

    kind: str
    argv: Sequence[str] = ()
    user: str = "agent"
    signal: int = 0
    at_most: float | None = None
    then: str = "terminate"
    where: Where | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class SubjectRef:
    """What is tested: a registered subject, or ``command`` with an argv; its place in the case."""

    name: str
    params: Params = field(default_factory=dict)
    argv: Sequence[str] = ()
    where: Where | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Clock:
    """The wall clock and zone that a case asks for; ``at`` in seconds since the epoch."""

    at: float | None = None
    zone: str | None = None


@dataclass(frozen=True, slots=True)
class SandboxDecl:
    """What a case asks of its sandbox.

    Attributes:
        network: ``none`` or ``services``.
        limits: with defaults filled in.
        seconds: the trial's own limit.
        written: names of the limits written in the case; those are required capabilities.
        needs: further required capabilities.
        clock: wall clock and zone.
        tls: whether the services answer on TLS too.
        places: where in the case what is written here stands, by its key such as ``clock.zone``.
    """

    network: str = "services"
    limits: Limits = Limits()
    seconds: float = 60.0
    written: frozenset[str] = frozenset()
    needs: Sequence[str] = ()
    clock: Clock = Clock()
    tls: bool = False
    places: Mapping[str, Where] = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True)
class Workspace:
    """What the workspace starts with.

    Attributes:
        files: planted there.
        git: what it starts with as a repository; ``None``: it is made none.
        mounts: host path (resolved against the case file) to absolute path inside.
    """

    files: Sequence[Planted] = ()
    git: WorkTree | None = None
    mounts: Mapping[Path, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Known:
    """A known defect of somebody else's agent."""

    subject: str
    version: str
    breaks: frozenset[str]
    because: str
    since: str


@dataclass(frozen=True, slots=True)
class Quarantine:
    """Keeps a case out of the exit code until the date, inclusive, in UTC."""

    owner: str
    reason: str
    until: datetime.date


@dataclass(frozen=True, slots=True)
class Control:
    """The clean control, as far as it differs from the case without its faults."""

    script: Sequence[ScriptStep] | None = None
    stimulus: Sequence[Expectation] | None = None
    expect: Sequence[Expectation] | None = None


@dataclass(frozen=True, slots=True)
class Sabotage:
    """A protection to remove, which must break exactly these expectations; its place in the case."""

    name: str
    breaks: frozenset[str]
    params: Params = field(default_factory=dict)
    where: Where | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Case:
    """A case file, whole.

    Attributes:
        document: the file as plain data, for ``case.yaml`` in the evidence.
        script: ``None`` where the case has none: every turn gets ``Done.``.
        each: parameters by fault id to the values that each make a variant.
        prices: dollars per million tokens, model name to ``(input, output)``.
    """

    id: str
    source: Path
    where: Where
    document: Mapping[str, Any]
    title: str = ""
    proves: str = ""
    tags: Sequence[str] = ()
    subjects: Sequence[SubjectRef] = ()
    task: str = ""
    sandbox: SandboxDecl = SandboxDecl()
    home: Sequence[Planted] = ()
    workspace: Workspace = Workspace()
    env: Mapping[str, str] = field(default_factory=dict)
    secrets: Sequence[str] = ()
    script: Sequence[ScriptStep] | None = None
    leftover: bool = False
    services: Sequence[ServiceDecl] = ()
    faults: Sequence[Fault] = ()
    each: Mapping[str, Mapping[str, Sequence[Any]]] = field(default_factory=dict)
    steps: Sequence[Step] = (Step("start"), Step("wait"))
    stimulus: Sequence[Expectation] = ()
    expect: Sequence[Expectation] = ()
    control: Control | None = None
    sabotage: Sequence[Sabotage] = ()
    prices: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    known: Sequence[Known] = ()
    quarantine: Quarantine | None = None
