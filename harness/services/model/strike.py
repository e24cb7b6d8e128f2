"""Applies the faults that hit a turn, and finds out what they really did to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harness.services.base import Hit
from harness.services.model.protocols.base import TERMINATOR, TOOL
from harness.services.reply import Turn, Wire


@dataclass(frozen=True, slots=True)
class Struck:
    """The reply after all hits.

    Attributes:
        turn: what is said.
        wire: what is sent.
        missed: ids of the faults that changed nothing.
        serves: whether the reply is still a complete one.
        whole: ids of the calls that leave to their last byte though the end does not.
    """

    turn: Turn
    wire: Wire
    missed: frozenset[str] = frozenset()
    serves: bool = True
    whole: frozenset[str] = frozenset()


def strike(hits: Sequence[Hit], turn: Turn, render: Callable[[Turn], Wire]) -> Struck:
    """First every change of what is said, then every change of what is sent.

    A fault has missed when it gave back what it was given, and also when what it changed
    never shows: a wrong usage in a stream that reports none.
    """
    meant, landed = turn, set[str]()
    wire = clean = render(turn)
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
    return Struck(
        turn,
        wire,
        missed=frozenset(hit.fault.id for hit in hits) - landed,
        serves=all(hit.injector.serves for hit in hits if hit.fault.id in landed),
        whole=frozenset(c.id for c in meant.calls if _only_the_end_is_missing(wire, clean)),
    )


def _only_the_end_is_missing(wire: Wire, clean: Wire) -> bool:
    """Whether a stream says every call to its last byte, and stops before its end."""
    return _bytes(wire, TOOL) == _bytes(clean, TOOL) and (
        _bytes(wire, TERMINATOR) != _bytes(clean, TERMINATOR)
    )


def _bytes(wire: Wire, name: str) -> bytes:
    return b"".join(part.data for part in wire.parts if part.name == name)
