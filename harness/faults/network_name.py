"""``network.name-not-found`` and ``network.name-server-silent``: names do not resolve."""

from __future__ import annotations

from dataclasses import dataclass

from harness.case.model import Params
from harness.faults.base import Landing, Layer, Place
from harness.faults.schemas import params, text


@dataclass(frozen=True, slots=True)
class _Unresolved:
    name: str
    how: str

    def landing(self, place: Place) -> Landing:
        count = place.gate.name_failed(self.name)
        return Landing(count, f"{count} look-ups of {self.name} were answered with {self.how}")

    def heal(self, place: Place) -> None:
        place.gate.name_fails(self.name, None)


class NameFault:
    """Makes the name server of the sandbox answer wrongly, or not at all."""

    layer = Layer.NETWORK
    needs = ("network.services",)
    live = False

    def __init__(self, name: str, summary: str, how: str) -> None:
        """``how`` is what the look-up meets: ``nxdomain``, ``servfail`` or ``silent``."""
        self.name = name
        self.summary = summary
        self.schema = params(name=text("host name, * for every one", default="*"))
        self._how = how

    def inject(self, params: Params, place: Place) -> _Unresolved:
        """Have the look-ups fail."""
        place.gate.name_fails(params["name"], self._how)
        return _Unresolved(params["name"], self._how)


NOT_FOUND = NameFault(
    "network.name-not-found", "A host name is unknown to the name server (NXDOMAIN).", "nxdomain"
)
SILENT = NameFault(
    "network.name-server-silent", "The name server does not answer look-ups.", "silent"
)
