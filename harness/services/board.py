"""The board of armed reply faults of one trial: which of them hit the next request.

Faults are armed and disarmed by the trial's thread or the loop's, and taken in the loop's.
Taking uses up a fault's ``times``; its hits are counted apart, when a reply was really sent
that way, because only those prove that it landed.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from harness.case.model import Fault
from harness.faults.base import HandshakeFault, Layer, ReplyFault
from harness.plural import plural
from harness.services.base import Hit

MODEL = "model"


@dataclass(slots=True)
class _Armed:
    """A fault in force.

    Attributes:
        left: how many requests, or handshakes, it still hits; ``None``: all.
        greets: whether it hits handshakes.
    """

    hit: Hit
    service: str
    left: int | None
    greets: bool = False


class Board:
    """Armed faults, in the order in which the case declares them.

    Args:
        declared: the ids of the case's faults, in order; one that is not among them comes
            last. Several faults that hit one request are applied in this order, whichever
            was armed first.
    """

    def __init__(self, declared: Sequence[str] = ()) -> None:
        self._place = {fault_id: place for place, fault_id in enumerate(declared)}
        self._armed: tuple[_Armed, ...] = ()
        self._hits: dict[str, int] = {}
        self._remarks: dict[str, Counter[str]] = {}
        self._lock = threading.Lock()

    def arm(self, fault: Fault, injector: ReplyFault) -> None:
        """From now on, hit the next ``times`` requests of its service."""
        greets = isinstance(injector, HandshakeFault)
        armed = _Armed(Hit(fault, injector), target(fault, injector), fault.times, greets)
        with self._lock:
            others = [other for other in self._armed if other.hit.fault.id != fault.id]
            self._armed = tuple(sorted([*others, armed], key=self._order))

    def disarm(self, fault_id: str) -> None:
        """Hit no more; what it has hit stays counted."""
        with self._lock:
            self._armed = tuple(a for a in self._armed if a.hit.fault.id != fault_id)

    def take(self, service: str) -> Sequence[Hit]:
        """The faults that hit the next request of a service; each is used up by one."""
        return self._take(service) if self._armed else ()

    def take_greeting(self, service: str) -> tuple[Hit, str] | None:
        """The fault that hits the next handshake with a service, and what goes wrong by it."""
        for hit in self._take(service, greets=True, most=1):
            if isinstance(hit.injector, HandshakeFault):
                return hit, hit.injector.greeting(hit.fault.params)
        return None

    def _take(self, service: str, *, greets: bool = False, most: int | None = None) -> list[Hit]:
        with self._lock:
            taken = [
                armed
                for armed in self._armed
                if armed.service == service and armed.left != 0 and armed.greets is greets
            ][:most]
            for armed in taken:
                if armed.left is not None:
                    armed.left -= 1
        return [armed.hit for armed in taken]

    def give_back(self, fault_ids: Collection[str]) -> None:
        """These had nothing to change in the reply that they were taken for."""
        with self._lock:
            for armed in self._armed:
                if armed.left is not None and armed.hit.fault.id in fault_ids:
                    armed.left += 1

    def landed(self, hits: Iterable[Hit]) -> None:
        """A reply was sent the way these made it."""
        with self._lock:
            for hit in hits:
                self._hits[hit.fault.id] = self._hits.get(hit.fault.id, 0) + 1

    def hits(self, fault_id: str) -> int:
        """How many replies were sent the way a fault made them."""
        with self._lock:
            return self._hits.get(fault_id, 0)

    def met(self, hit: Hit, what: str) -> None:
        """Somebody met a fault, and took it so, without a reply that could tell."""
        self.landed([hit])
        self.remark(hit.fault.id, what)

    def remark(self, fault_id: str, what: str) -> None:
        """Put down how a client took a fault."""
        with self._lock:
            self._remarks.setdefault(fault_id, Counter())[what] += 1

    def proof(self, fault_id: str) -> str:
        """What proves that a fault landed, in words."""
        words = _on_record(self.hits(fault_id))
        with self._lock:
            remarks = self._remarks.get(fault_id, Counter())
            said = ", ".join(f"{what} {count}x" for what, count in remarks.items())
        return f"{words}; the client: {said}" if said else words

    def _order(self, armed: _Armed) -> int:
        return self._place.get(armed.hit.fault.id, len(self._place))


def target(fault: Fault, injector: ReplyFault) -> str:
    """The service whose replies a fault makes wrong: the model's, or the one it names."""
    if injector.layer is Layer.MODEL:
        return MODEL
    return str(fault.params["service"])


def _on_record(hits: int) -> str:
    return f"{plural(hits, 'request')} on record {'carries' if hits == 1 else 'carry'} it"
