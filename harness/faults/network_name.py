"""``network.name-not-found`` and ``network.name-server-silent``: names do not resolve."""

from __future__ import annotations

from dataclasses import dataclass

from harness.case.model import Params
from harness.faults.base import Landing, Layer, Place
from harness.faults.schemas import params, text
from sandboxes.errors import SandboxError


@dataclass(frozen=True, slots=True)
class _Unresolved:
    name: str
    how: str
    before: int

    def landing(self, place: Place) -> Landing:
        count = place.gate.name_failed(self.name) - self.before
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
        name = params["name"]
        if self._how == "nxdomain" and name != "*" and name.lower() not in place.addresses:
            raise SandboxError(f"nobody would find {name!r} anyway: it is no service of the case")
        before = place.gate.name_failed(name)
        place.gate.name_fails(name, self._how)
        return _Unresolved(name, self._how, before)


NOT_FOUND = NameFault(
    "network.name-not-found", "A host name is unknown to the name server (NXDOMAIN).", "nxdomain"
)
SILENT = NameFault(
    "network.name-server-silent", "The name server does not answer look-ups.", "silent"
)
