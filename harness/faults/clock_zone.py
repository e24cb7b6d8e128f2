"""``clock.zone``: the subject runs in another time zone."""

from __future__ import annotations

from dataclasses import dataclass

from harness.case.model import Params
from harness.faults.base import Landing, Layer, Place
from harness.faults.schemas import params, text
from sandboxes.errors import SandboxError


@dataclass(frozen=True, slots=True)
class _Zoned:
    zone: str
    shown: bool

    def landing(self, place: Place) -> Landing:
        what = "showed" if self.shown else "did not show"
        return Landing(int(self.shown), f"a canary's clock {what} {self.zone}")

    def heal(self, place: Place) -> None:
        """A running program keeps the zone that it was started with."""


class Zone:
    """``TZ`` names the zone; it acts on programs that are started from then on."""

    name = "clock.zone"
    summary = "The main process is started in another time zone."
    layer = Layer.CLOCK
    needs = ("clock.zone",)
    live = False
    schema = params(("zone",), zone=text("name of the tz database, such as Asia/Kathmandu"))

    def inject(self, params: Params, place: Place) -> _Zoned:
        """Set it, and have a canary say which zone it sees."""
        zone = params["zone"]
        known, _ = place.canary(["/usr/bin/test", "-f", f"/usr/share/zoneinfo/{zone}"])
        if known != 0:
            raise SandboxError(f"no time zone {zone!r} in the sandbox; install tzdata")
        place.env["TZ"] = zone
        _, plain = place.canary(["/usr/bin/date", "+%z"])
        _, named = place.canary(["/usr/bin/env", f"TZ=:/usr/share/zoneinfo/{zone}", "date", "+%z"])
        return _Zoned(zone, plain == named != b"")
