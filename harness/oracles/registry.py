"""Every oracle by name. A new one is a module beside this one and a line here."""

from __future__ import annotations

from collections.abc import Mapping

from harness.oracles.attempts import Attempts
from harness.oracles.base import Oracle
from harness.oracles.claims import Claims
from harness.oracles.clock import Clock
from harness.oracles.escalations import Escalations
from harness.oracles.events import Events
from harness.oracles.exit import Exit
from harness.oracles.file import File
from harness.oracles.files import Files
from harness.oracles.git import Git
from harness.oracles.home import Home
from harness.oracles.network import Outward
from harness.oracles.order import Order
from harness.oracles.output import Printed
from harness.oracles.processes import Lingerers
from harness.oracles.requests import Requests
from harness.oracles.secrets import Secrets
from harness.oracles.spend import Spend

_SIMPLE: Mapping[str, Oracle] = {
    "home": Home(),
    "files": Files(),
    "file": File(),
    "git": Git(),
    "exit": Exit(),
    "output": Printed(),
    "processes": Lingerers(),
    "network": Outward(),
    "requests": Requests(),
    "escalations": Escalations(),
    "spend": Spend(),
    "secrets": Secrets(),
    "order": Order(),
    "attempts": Attempts(),
    "clock": Clock(),
}
#: What counts outside of the subject, whatever it says itself.
_OUTSIDE = ("requests", "escalations", "attempts", "order", "spend", "network")

ORACLES: Mapping[str, Oracle] = {
    **_SIMPLE,
    "events": Events({name: _SIMPLE[name] for name in _OUTSIDE}),
    "claims": Claims(_SIMPLE),
}
