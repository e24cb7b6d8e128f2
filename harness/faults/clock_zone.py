"""``clock.zone``: the subject runs in another time zone."""

from __future__ import annotations

from dataclasses import dataclass

from harness.case.model import Params
from harness.faults.base import Landing, Layer, Place
from harness.faults.met import ATTEMPTS, Barred, Met
from harness.faults.schemas import params, text
from harness.plural import plural
from sandboxes.base import Act, Depth
from sandboxes.errors import SandboxError

_ZONES = "/usr/share/zoneinfo"
_LOADED: Barred = {Depth.ON: (Act.READ,), Depth.IN: (), Depth.BELOW: ()}


@dataclass(frozen=True, slots=True)
class Zoned:
    """A zone that is named in the environment from now on."""

    zone: str
    was: str | None
    met: Met

    def landing(self, place: Place) -> Landing:
        """It landed when a program of the subject has loaded the rules."""
        count = self.met.landing(place).count
        return Landing(count, f"programs of the subject loaded {self.zone} {plural(count, 'time')}")

    def heal(self, place: Place) -> None:
        """For programs started from now on; a running one keeps what it was started with."""
        if self.was is None:
            place.next.env.pop("TZ", None)
        else:
            place.next.env["TZ"] = self.was


class Zone:
    """``TZ`` names the zone; it acts on programs that are started from then on."""

    name = "clock.zone"
    summary = (
        "The main process is started in another time zone; "
        "it lands when a program of the subject loads the rules of that zone."
    )
    layer = Layer.CLOCK
    needs = ("clock.zone", ATTEMPTS)
    live = False
    schema = params(("zone",), zone=text("name of the tz database, such as Asia/Kathmandu"))

    def inject(self, params: Params, place: Place) -> Zoned:
        """Set it."""
        zone = params["zone"]
        code, out = place.canary(["/usr/bin/readlink", "-e", f"{_ZONES}/{zone}"])
        rules = out.decode("utf-8", "replace").strip()
        if code != 0 or not rules.startswith(f"{_ZONES}/"):
            raise SandboxError(f"no time zone {zone!r} in the sandbox; install tzdata")
        was = place.next.env.get("TZ")
        place.next.env["TZ"] = zone
        return Zoned(zone, was, Met.begin(place, rules, _LOADED))
