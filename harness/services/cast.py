"""The services of a trial before they are up, what they play with, and the thread for that."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Protocol, TypeVar

from harness.services.base import Gatekeeper, HttpService, Redact
from harness.services.bounds import Most
from harness.services.knock import Context
from harness.services.record import Shelf

T = TypeVar("T")


def _never() -> float:
    return 0.0


@dataclass(frozen=True, slots=True)
class Cast:
    """The services of a trial, and what they play with.

    Attributes:
        services: in order of declaration, the model among them.
        addresses: host name of each service to its address inside.
        shelf: where the record is stored.
        redact: replaces planted secrets in what is stored; ``None``: none is planted.
        gatekeeper: asked before each counting request is answered.
        since: seconds since the trial's first step.
        declared: ids of the case's faults, in order.
        connections: how many may be open at once; more wait in the kernel's queue.
        memory: bytes of bodies to hold at once; what is beyond is refused.
        most: what they take at most.
        context: the certificates to show; ``None``: TLS is not spoken.
    """

    services: Sequence[HttpService]
    addresses: Mapping[str, str]
    shelf: Shelf = Shelf()
    redact: Redact | None = None
    gatekeeper: Gatekeeper | None = None
    since: Callable[[], float] = _never
    declared: Sequence[str] = ()
    connections: int = 200
    memory: int = 512 << 20
    most: Most = Most()
    context: Context | None = None


class Loop(Protocol):
    """The thread that the event loop runs in."""

    @property
    def loop(self) -> asyncio.AbstractEventLoop: ...

    @property
    def aside(self) -> Executor: ...

    def call(self, work: Callable[[], T]) -> T:
        """Run ``work`` in the loop's thread and give what it gives; from any thread."""
