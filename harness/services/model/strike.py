"""Applies the faults that hit a turn, and finds out which of them really changed it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harness.services.base import Hit
from harness.services.reply import Turn, Wire


@dataclass(frozen=True, slots=True)
class Struck:
    """The reply after all hits; ``missed`` holds the ids of faults that changed nothing."""

    wire: Wire
    missed: frozenset[str]


def strike(hits: Sequence[Hit], turn: Turn, render: Callable[[Turn], Wire]) -> Struck:
    """First every change of what is said, then every change of what is sent.

    A fault has missed when it gave back what it was given, and also when what it changed
    never shows: a wrong usage in a stream that reports none.
    """
    landed: set[str] = set()
    wire = render(turn)
    for hit in hits:
        after = hit.injector.rewrite_turn(hit.fault.params, turn)
        if after is turn:
            continue
        shown = render(after)
        if shown != wire or not hit.injector.serves:
            landed.add(hit.fault.id)
        turn, wire = after, shown
    for hit in hits:
        changed = hit.injector.rewrite_wire(hit.fault.params, wire)
        if changed is not wire:
            landed.add(hit.fault.id)
            wire = changed
    return Struck(wire, frozenset(hit.fault.id for hit in hits) - landed)
