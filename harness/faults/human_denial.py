"""``human.denial``: the person says no."""

from __future__ import annotations

from harness.case.model import Params
from harness.faults.human_base import HumanFault, with_person
from harness.faults.schemas import text
from harness.services.chat.human import PRESS, REACT, SAY, Act, Sway


class Denial(HumanFault):
    """She answers at the moment that her rules say, and denies what they would have granted."""

    name = "human.denial"
    summary = (
        "The person behind a chat service says no; it lands where the subject asked, and was "
        "still there when the answer was due."
    )
    done = "replaced by a denial"
    schema = with_person(
        says=text("what she says instead", default="no", minLength=1),
        press=text("the button that she presses instead, where the message has it", minLength=1),
        react=text("the reaction that she adds instead, where the service has such", minLength=1),
    )

    def sway(self, params: Params) -> Sway:
        """She presses, reacts or says something else; the first that the message allows."""
        kinds = ((PRESS, "press"), (REACT, "react"), (SAY, "says"))
        return Sway(instead=tuple(Act(kind, params[key]) for kind, key in kinds if key in params))
