"""What faults make of the reply of a service that keeps state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from harness.services.base import Hit
from harness.services.reply import Wire


class Rewritten(NamedTuple):
    """A wire after every hit, see :class:`~harness.services.base.Answer`.

    ``done`` says whether the request is carried out: it is not where its client gets another
    status or no head at all. One whose reply is cut or spoilt after its head is.
    """

    wire: Wire
    serves: bool
    missed: frozenset[str]
    done: bool


def rewritten(wire: Wire, hits: Sequence[Hit]) -> Rewritten:
    """Apply each hit, in order; one that gives the same wire back has missed."""
    status = wire.status
    serves = True
    missed: set[str] = set()
    for hit in hits:
        changed = hit.injector.rewrite_wire(hit.fault.params, wire)
        if changed is wire:
            missed.add(hit.fault.id)
        else:
            wire = changed
            serves = serves and hit.injector.serves
    return Rewritten(wire, serves, frozenset(missed), wire.head and wire.status == status)
