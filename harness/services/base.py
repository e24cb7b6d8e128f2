"""The contract of a service that speaks HTTP, and of what the trial may ask of all services.

The server (``http1``) parses a request, lets the service *classify* it, waits for faults
that are due at this request, then lets the service *answer* it with the faults that hit it,
sends the wire byte by byte, and tells the service how that ended. Every request is recorded
where the subject cannot reach it. All of it runs in the thread of the run's event loop; a
service never blocks.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

from harness.case.model import Fault
from harness.evidence.model import ModelRecord, Request
from harness.extension import Schema
from harness.faults.base import ReplyFault, ServiceGate
from harness.services.chat.human import Human
from harness.services.reply import Sealed, Wire
from sandboxes.base import Listen

#: Screens bytes before they are stored: gives them with every planted secret replaced by its
#: mark, and the marks in order of appearance.
Redact = Callable[[bytes], tuple[bytes, Sequence[str]]]


#: Host names that a case may give its services.
HOST_NAMES: Schema = {
    "pattern": "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$",
    "not": {"const": "model"},
}


class Notes:
    """What was worked out of a request, kept for when the very same one comes again.

    The service and the record each keep here what depends on nothing but the request, and
    look at no other's.
    """

    __slots__ = ("record", "service")

    def __init__(self) -> None:
        self.service: object = None
        self.record: object = None


# What is made anew for each request is a named tuple: a frozen dataclass takes three times as
# long to make.


class Incoming(NamedTuple):
    """A request as it came in; header names in lower case, the path with its query.

    ``notes`` is there once the very same request has come before on this connection.
    """

    conn: int
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    notes: Notes | None = None


class Asked(NamedTuple):
    """What a request is.

    Attributes:
        kind: ``turn``, ``side``, ``probe`` or ``beyond``.
        counts: whether it counts for triggers and takes faults.
        model: the model's name that it asks for.
        detail: whatever the service wants to see again in :meth:`HttpService.answer`.
    """

    kind: str
    counts: bool
    model: str | None = None
    detail: object = None


@dataclass(frozen=True, slots=True)
class Hit:
    """A fault that hits this request."""

    fault: Fault
    injector: ReplyFault


class Answer(NamedTuple):
    """What to send, and what it is on record as.

    ``kind`` may differ from what :class:`Asked` said (``beyond`` is known only now).
    ``missed`` names the hits that had nothing to change in this reply, by the fault's id:
    they have not landed, and still have all their ``times``. ``tool_result`` is the last one
    that the request carried, as a script's ``if`` sees it; ``message`` is what it said to a
    person, and was taken for her.
    """

    wire: Wire | Sealed
    kind: str
    turn: int | None = None
    attempt: int = 1
    tokens_in: int = 0
    tokens_out: int = 0
    serves: bool = True
    detail: object = None
    missed: frozenset[str] = frozenset()
    tool_result: str | None = None
    message: str | None = None


class Later(NamedTuple):
    """No answer yet, as in a long poll.

    ``look`` is called when so many ``seconds`` are over, and whenever the service has answered
    another request meanwhile, until it gives an answer. It is not called any more once the
    client has gone.
    """

    seconds: float
    look: Callable[[], Answer | Later]


class HttpService(Protocol):
    """A scripted thing that answers HTTP requests."""

    @property
    def name(self) -> str:
        """Its host name inside, and its key in the record."""

    def classify(self, incoming: Incoming) -> Asked:
        """Say what kind of request it is; changes nothing."""

    def answer(self, incoming: Incoming, asked: Asked, hits: Sequence[Hit]) -> Answer | Later:
        """Decide the reply, every hit applied, or that there is none yet."""

    def ended(self, answer: Answer, how: str) -> None:
        """The reply has left (``whole``), or was ``cut`` or ``reset`` before its end."""


@runtime_checkable
class ModelService(HttpService, Protocol):
    """The scripted model: it also says how far its script has come."""

    def tally(self) -> ModelRecord:
        """What it did so far."""


@runtime_checkable
class Peopled(HttpService, Protocol):
    """A service behind which there is a person."""

    @property
    def human(self) -> Human:
        """She; used in the loop's thread only."""


class Hosted(Protocol):
    """A repository that a service holds, as it was when it was asked for."""

    def pictures(self, asked: Sequence[tuple[str, str]]) -> Mapping[str, Any]:
        """Before and after, with what is at some paths of some refs, for the oracle ``git``."""


@runtime_checkable
class Hosting(HttpService, Protocol):
    """A service that holds git repositories."""

    def hosted(self) -> Mapping[str, Hosted]:
        """Copies of them by name."""


@runtime_checkable
class Keeping(HttpService, Protocol):
    """A service that holds something that its client made of it."""

    def kept(self) -> Mapping[str, Any]:
        """What it holds, in plain data."""


class Held(NamedTuple):
    """What the services of a trial hold.

    Attributes:
        repositories: git repositories, as ``NAME/REPO``.
        services: what each of those holds that hold anything, by name, as plain data.
    """

    repositories: Mapping[str, Hosted]
    services: Mapping[str, Any]


#: Called for each counting request before it is answered: ``(service, number)``. A future
#: that it gives is waited for, so that a fault due at request N is in force when N is served.
Gatekeeper = Callable[[str, int], "Future[None] | None"]


class LiveServices(ServiceGate, Protocol):
    """The services of one trial, up and recording. Safe to call from any thread."""

    def arm(self, fault: Fault, injector: ReplyFault) -> None:
        """From the next counting request of its service on, hit ``times`` requests."""

    def disarm(self, fault_id: str) -> None:
        """Hit no more."""

    def hits(self, fault_id: str) -> int:
        """How many requests it has hit, counted when the reply had been decided and sent."""

    def proof(self, fault_id: str) -> str:
        """What proves that it has, in words."""

    def requests(self) -> Sequence[Request]:
        """The record so far, in order of arrival."""

    def unrecorded(self) -> int:
        """How many requests came beyond what is taken, and are not on record."""

    def names_asked(self) -> Mapping[str, int]:
        """Undeclared host names that were looked up, and how often."""

    def model(self) -> ModelRecord: ...

    def held(self) -> Held:
        """What the services hold by now."""

    def failure(self) -> BaseException | None:
        """The first bug of the harness that a request brought to light, or ``None``."""

    def adopt(self, where: Listen, listener: socket.socket) -> None:
        """Serve a listener that was bound later."""

    def settle(self, seconds: float) -> bool:
        """With the subject dead: take in all that it had sent, until its connections have ended.

        ``False`` where that took longer than ``seconds``.
        """

    def close(self) -> None:
        """Stop serving, reset what is open, flush the record."""
