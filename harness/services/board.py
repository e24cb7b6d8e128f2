"""The board of armed reply faults of one trial: which of them hit the next request.

Faults are armed and disarmed by the trial's thread or the loop's, and taken in the loop's.
Taking uses up a fault's ``times``; its hits are counted apart, when a reply was really sent
that way, because only those prove that it landed.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from harness.case.model import Fault
from harness.faults.base import Layer, ReplyFault
from harness.services.base import Hit

MODEL = "model"


@dataclass(slots=True)
class _Armed:
    """A fault in force: ``left`` is how many requests it still hits, ``None`` for always."""

    hit: Hit
    service: str
    left: int | None


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
        self._lock = threading.Lock()

    def arm(self, fault: Fault, injector: ReplyFault) -> None:
        """From now on, hit the next ``times`` requests of its service."""
        armed = _Armed(Hit(fault, injector), target(fault, injector), fault.times)
        with self._lock:
            others = [other for other in self._armed if other.hit.fault.id != fault.id]
            self._armed = tuple(sorted([*others, armed], key=self._order))

    def disarm(self, fault_id: str) -> None:
        """Hit no more; what it has hit stays counted."""
        with self._lock:
            self._armed = tuple(a for a in self._armed if a.hit.fault.id != fault_id)

    def take(self, service: str) -> Sequence[Hit]:
        """The faults that hit the next request of a service; each is used up by one."""
        if not self._armed:
            return ()
        with self._lock:
            taken = [a for a in self._armed if a.service == service and a.left != 0]
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

    def _order(self, armed: _Armed) -> int:
        return self._place.get(armed.hit.fault.id, len(self._place))


def target(fault: Fault, injector: ReplyFault) -> str:
    """The service whose replies a fault makes wrong: the model's, or the one it names."""
    if injector.layer is Layer.MODEL:
        return MODEL
    return str(fault.params["service"])
