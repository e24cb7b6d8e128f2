"""``process.fd-limit``: no more files can be opened."""

from __future__ import annotations

from dataclasses import dataclass

from harness.case.model import Params
from harness.faults.base import Landing, Layer, Place
from harness.faults.met import DESCRIPTORS
from harness.faults.schemas import params
from harness.plural import plural
from sandboxes.rules import Full


@dataclass(frozen=True, slots=True)
class _Full:
    rule: int
    descriptors: int

    def landing(self, place: Place) -> Landing:
        failed = place.sandbox.met(self.rule).get("calls", 0)
        return Landing(
            failed,
            f"{plural(failed, 'call')} of the subject that needed a descriptor failed with EMFILE, "
            f"{self.descriptors} being open",
        )

    def heal(self, place: Place) -> None:
        place.sandbox.release(self.rule)
        place.sandbox.reset_limit("descriptors")


class FdLimit:
    """A low limit on open descriptors of each process; a call that needs one more gets EMFILE."""

    name = "process.fd-limit"
    summary = (
        "The number of open files, sockets and pipes of each process is limited, of what runs and "
        "of what starts later; it lands when a call needs one more. A program cannot raise it."
    )
    layer = Layer.PROCESS
    needs = (DESCRIPTORS,)
    live = False
    schema = params(
        ("descriptors",),
        descriptors={
            "type": "integer",
            "minimum": 3,
            "description": "how many each process may have open, its standard streams among them",
        },
    )

    def inject(self, params: Params, place: Place) -> _Full:
        """Lower it."""
        count = params["descriptors"]
        rule = place.sandbox.intercept(Full(count))
        place.sandbox.limit(descriptors=count)
        return _Full(rule, count)
