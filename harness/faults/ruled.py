"""Faults that are a rule of the sandbox: what it did to calls of the subject is the proof."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from harness.faults.base import Landing, Place
from sandboxes.base import Rule

#: Makes the proof of what a rule has met.
Prove = Callable[[Mapping[str, int], Place], Landing]


@dataclass(frozen=True, slots=True)
class Ruled:
    """A rule that is in force.

    Attributes:
        number: of the rule.
        prove: the proof, of what it has met.
    """

    number: int
    prove: Prove

    @classmethod
    def begin(cls, place: Place, rule: Rule, prove: Prove) -> Ruled:
        """Put a rule into force."""
        return cls(place.sandbox.intercept(rule), prove)

    def landing(self, place: Place) -> Landing:
        """What the rule did to the subject."""
        return self.prove(place.sandbox.met(self.number), place)

    def heal(self, place: Place) -> None:
        """End the rule, and have undone what it did."""
        place.sandbox.release(self.number)


def counted(met: Mapping[str, int]) -> str:
    """How often each was met, in words."""
    return ", ".join(f"{what} {n}x" for what, n in sorted(met.items()) if n) or "none"
