"""What the faults of a person share: she is swayed, and somebody must have met that.

A fault lands where the subject asked her something that a rule of hers answers, and the moment
of that answer came while the subject was still there: it ran, or went on looking for answers.
A message that no rule answers asks her nothing; an answer that would have come too late for
the subject anyway is none that it would have got.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.case.model import Params
from harness.extension import Schema
from harness.faults.base import Landing, Layer, Place
from harness.faults.schemas import params, text
from harness.plural import plural
from harness.services.chat.human import Sway, Swayed
from sandboxes import clock


@dataclass(slots=True)
class Asked:
    """A sway in force.

    Attributes:
        done: what became of an answer, in one word.
        ended: when the main process was first seen to have ended; ``None`` while it runs.
    """

    service: str
    swayed: Swayed
    done: str
    ended: float | None = None

    def sample(self, place: Place) -> None:
        """See whether the subject is still there."""
        if place.main is None or place.main not in place.ended:
            self.ended = None
        elif self.ended is None:
            self.ended = clock.monotonic()

    def landing(self, place: Place) -> Landing:
        """How many of her answers it met."""
        self.sample(place)
        end = clock.monotonic() if self.ended is None else self.ended
        asked, met, looks = place.gate.with_human(
            self.service,
            lambda _: (len(self.swayed.moments), self.swayed.met(end), self.swayed.looks),
        )
        return Landing(
            met,
            f"{plural(asked, 'message')} to {self.service} that she would have answered; {met} of these "
            f"answers were {self.done} while the subject was there, and it looked {plural(looks, 'time')} "
            "after the first",
        )

    def heal(self, place: Place) -> None:
        """She answers as her rules say again."""
        place.gate.with_human(self.service, lambda human: human.unsway(self.swayed))


class HumanFault:
    """A fault of the person behind the service that ``service`` names."""

    layer = Layer.HUMAN
    needs: Sequence[str] = ("network.services",)
    live = False
    done = ""

    def sway(self, params: Params) -> Sway:
        """What she does otherwise."""
        raise NotImplementedError

    def inject(self, params: Params, place: Place) -> Asked:
        """Sway her, from the next message on."""
        service, sway = params["service"], self.sway(params)
        swayed = place.gate.with_human(service, lambda human: human.sway(sway))
        return Asked(service, swayed, self.done)


def with_person(**properties: Schema) -> Schema:
    """The schema of such a fault's ``with``."""
    return params(
        required=("service",),
        service=text("behind which she is: a name under `services.telegram` or `services.slack`"),
        **properties,
    )
