"""``human.no-answer``: the person does not answer."""

from __future__ import annotations

from harness.case.model import Params
from harness.faults.human_base import HumanFault, with_person
from harness.services.chat.human import Sway


class NoAnswer(HumanFault):
    """She reads, and neither says nor presses anything; a rule's ``times`` are left to it."""

    name = "human.no-answer"
    summary = (
        "The person behind a chat service gives no answer; it lands where the subject asked, and "
        "was still there when the answer was due."
    )
    done = "withheld"
    schema = with_person()

    def sway(self, params: Params) -> Sway:
        """She gives no answer."""
        return Sway(mute=True)
