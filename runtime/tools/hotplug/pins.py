"""The definitions that may be used: those that were seen first, or that a person accepted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from runtime.tools.hotplug.offers import Offer


class Pins:
    """The digests of a plug's tools.

    A tool that went away keeps its pin: what comes back has to be the same.

    Args:
        stored: as :meth:`as_json` gave them; none if absent.

    Attributes:
        accepted: of each tool, the one that may be used.
        changed: of each tool that has another now, that one.
    """

    def __init__(self, stored: Mapping[str, Any] | None = None) -> None:
        self.accepted: dict[str, str] = dict((stored or {}).get("accepted", {}))
        self.changed: dict[str, str] = dict((stored or {}).get("changed", {}))

    def usable(self, offers: Sequence[Offer]) -> list[Offer]:
        """Take note of the definitions that there are now; those of them that may be used."""
        self.changed = {
            each.name: each.digest
            for each in offers
            if self.accepted.setdefault(each.name, each.digest) != each.digest
        }
        return [each for each in offers if each.name not in self.changed]

    def accept(self) -> tuple[str, ...]:
        """Let what has changed be used, and say what that is."""
        names = tuple(sorted(self.changed))
        self.accepted |= self.changed
        self.changed = {}
        return names

    def as_json(self) -> dict[str, Any]:
        """To be stored."""
        return {"accepted": dict(self.accepted), "changed": dict(self.changed)}
