"""The contract of a fault.

Two kinds. A :class:`ReplyFault` makes a reply of a service wrong; it is a pure rewrite that
the service applies to the next ``times`` requests, and the service's record is its landing
proof. A :class:`PlaceFault` does something to the sandbox from outside; it gives an
:class:`Injection`, which heals, and which proves that the fault hit.

A fault that is injected and hits nothing has not landed, and its trial is unavailable.
"""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar, runtime_checkable

from harness.case.model import Params, Trigger
from harness.extension import Extension
from harness.services.chat.human import Human
from harness.services.reply import Turn, Wire
from sandboxes.base import Beginning, Ended, Entry, Root, Sandbox

T = TypeVar("T")


class Layer(enum.StrEnum):
    """Where a fault lands."""

    MODEL = "model"
    UPSTREAM = "upstream"
    PROCESS = "process"
    FILESYSTEM = "filesystem"
    NETWORK = "network"
    CLOCK = "clock"
    STATE = "state"
    IDENTITY = "identity"
    HUMAN = "human"


class Injector(Extension, Protocol):
    """What both kinds have."""

    @property
    def layer(self) -> Layer: ...

    @property
    def needs(self) -> Sequence[str]:
        """Capabilities of the sandbox without which it cannot be injected."""


@runtime_checkable
class ReplyFault(Injector, Protocol):
    """A fault in what a service answers.

    ``serves`` says whether the reply is still a complete one (malformed arguments, a refusal,
    an empty completion: the script moves on) or not (a status, a cut: the retry gets the
    same turn).

    A rewrite that finds nothing to change (no tool call to break, no event to cut after)
    gives back the very object that it was given: it has not hit.
    """

    @property
    def serves(self) -> bool: ...

    def rewrite_turn(self, params: Params, turn: Turn) -> Turn:
        """Change what the model says, before it is put into a protocol's words."""

    def rewrite_wire(self, params: Params, wire: Wire) -> Wire:
        """Change what is sent, byte by byte, and when."""


@runtime_checkable
class HandshakeFault(ReplyFault, Protocol):
    """A fault in how a service greets those who connect to it on TLS; replies it leaves alone.

    It hits the next ``times`` handshakes: a client has asked for one, and gets what is wrong.
    """

    def greeting(self, params: Params) -> str:
        """What goes wrong, see :mod:`harness.services.knock`."""


@dataclass(frozen=True, slots=True)
class Landing:
    """Whether and how often a fault hit, and the proof, taken outside the subject."""

    count: int
    proof: str

    @property
    def landed(self) -> bool:
        """It hit at least once."""
        return self.count > 0


class ServiceGate(Protocol):
    """What a place fault may do to the services of the trial. Safe to call from any thread."""

    def cut(self) -> int:
        """Reset every open connection; gives how many there were."""

    def refuse(self, service: str | None) -> None:
        """Close the listeners of one service, or of all: new connections are refused."""

    def admit(self, service: str | None) -> None:
        """Open them again."""

    def delay(self, service: str | None, seconds: float) -> None:
        """Hold back every reply of it by that much; 0 ends it."""

    def delayed(self, service: str | None) -> int:
        """How many replies were held back."""

    def lose(self, service: str, percent: int) -> None:
        """Lose that many of a hundred packets to it (``dns``: the name server); 0 ends it."""

    def lost(self, service: str) -> int:
        """How many packets were lost so."""

    def name_fails(self, name: str, how: str | None) -> None:
        """Answer a look-up of ``name`` (``*``: all) with ``nxdomain``, ``servfail`` or
        ``silent``; ``None`` ends it.
        """

    def name_failed(self, name: str) -> int:
        """How many look-ups were answered so."""

    def with_human(self, service: str, act: Callable[[Human], T]) -> T:
        """What ``act`` gives, done with the person behind a service and in the thread of hers.

        Raises:
            LookupError: there is nobody behind it.
        """


@dataclass(slots=True)
class WallClock:
    """The wall clock shown inside: real time plus ``offset`` seconds.

    Attributes:
        aside: reads of it while a canary or a step of the case ran, by program; none of them
            proves anything about the subject.
        aside_late: those among them that were late ones.
    """

    offset: float = 0.0
    aside: Counter[str] = field(default_factory=Counter)
    aside_late: Counter[str] = field(default_factory=Counter)


class Canary(Protocol):
    """Shows from inside that a state is in force; says nothing about what the subject met."""

    def __call__(
        self, argv: Sequence[str], more: Mapping[str, str] = ..., /
    ) -> tuple[int | None, bytes]:
        """Run a program as the agent, with more variables, and wait for it.

        Returns:
            Its exit code (``None``: a signal, or no end within two seconds) and its output.
        """


class Stdin(enum.StrEnum):
    """What the main process finds on its standard input."""

    EMPTY = "empty"  # /dev/null
    OPEN = "open"  # a pipe that carries nothing and is not closed before the end of the trial


@dataclass(slots=True)
class Start:
    """How the main process will be started the next time; faults change it.

    What the harness runs beside it, canaries and steps of the case, is started as ever.

    Attributes:
        env: its whole environment.
        stdin: its standard input.
        inspected: whether the kernel's word on it is wanted in :attr:`Place.starts`.
        before: what is done to the sandbox right before, once.
    """

    env: dict[str, str]
    stdin: Stdin = Stdin.EMPTY
    inspected: bool = False
    before: list[Callable[[], None]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Place:
    """What a place fault works on.

    Attributes:
        sandbox: the live sandbox; only the trial's thread uses it.
        gate: the trial's services.
        main: the number of the main process, ``None`` before it is started.
        next: how the main process will be started the next time.
        starts: of each inspected start of it, what the kernel said of it when it began.
        capabilities: names of what the place can do.
        canary: runs a program inside.
        syns: connection attempts seen so far, ``address:port`` to count.
        addresses: of each service, ``address:port`` as in ``syns``.
        ended: how started processes have ended, by their number.
        wall: where the wall clock of the sandbox stands.
        bystanders: numbers of programs that are started beside the subject, and not its own.
    """

    sandbox: Sandbox
    gate: ServiceGate
    main: int | None
    next: Start
    starts: Sequence[Beginning]
    capabilities: frozenset[str]
    canary: Canary
    syns: Callable[[], Mapping[str, int]]
    addresses: Mapping[str, Sequence[str]]
    ended: Mapping[int, Ended]
    wall: WallClock
    bystanders: set[int] = field(default_factory=set)


class Injection(Protocol):
    """A fault that is in force."""

    def landing(self, place: Place) -> Landing:
        """The proof so far; asked before ``until`` heals it, else with the subject frozen."""

    def heal(self, place: Place) -> None:
        """Undo it, and leave no trace; called once, on any way out, unless the sandbox is gone.

        At the end the subject is frozen.
        """


@runtime_checkable
class Sampled(Injection, Protocol):
    """An injection whose proof may pass: it is looked at again and again while in force."""

    def sample(self, place: Place) -> None:
        """Look, and remember."""


#: A path below one of the roots.
Where = tuple[Root, str]
#: Of each path that was changed from outside: what it was, and what it was made.
Planted = Mapping[Where, tuple[Entry | None, Entry | None]]


@runtime_checkable
class Lasting(Injection, Protocol):
    """An injection whose work stays when the trial ends: it is healed by ``until`` alone.

    Mending it at the end would pass for something that the subject did. Instead it counts as
    there from the start, so what the subject did not touch is no change.
    """

    def planted(self) -> Planted:
        """What it changed."""


@runtime_checkable
class PlaceFault(Injector, Protocol):
    """A fault in the place: processes, files, network, clock.

    ``live`` says that it needs the main process; then ``start`` means right after its start
    instead of right before.
    """

    @property
    def live(self) -> bool: ...

    def inject(self, params: Params, place: Place) -> Injection:
        """Do it, for real.

        Raises:
            sandboxes.errors.SandboxError: it could not be injected; it has not landed, and
                nothing of it is left.
        """


@runtime_checkable
class Remembering(PlaceFault, Protocol):
    """A fault of the place that needs something from an earlier moment of the trial."""

    def moment(self, params: Params) -> Trigger:
        """When that moment comes."""

    def remember(self, params: Params, place: Place) -> None:
        """It has come.

        Raises:
            sandboxes.errors.SandboxError: it could not be remembered; then it is not injected.
        """


FaultTable = Mapping[str, ReplyFault | PlaceFault]
