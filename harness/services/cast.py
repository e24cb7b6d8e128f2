"""The services of a trial before they are up, and what they play with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from harness.services.base import Gatekeeper, HttpService, Redact
from harness.services.record import Shelf


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
