"""``human.late-answer``: the person takes longer to answer."""

from __future__ import annotations

from harness.case.grammar import duration as seconds
from harness.case.model import Params
from harness.faults.human_base import HumanFault, with_person
from harness.faults.schemas import duration
from harness.services.chat.human import Sway


class LateAnswer(HumanFault):
    """She answers what her rules say, so much later than they say it."""

    name = "human.late-answer"
    summary = (
        "The person behind a chat service answers late; it lands where the subject asked, and was "
        "still there when the answer was due."
    )
    done = "held back"
    schema = with_person(
        by=duration(
            "how much later than her rules say, more than nothing",
            default="30s",
            **{"not": {"pattern": "^0+(ms|s|m|h)$"}},
        )
    )

    def sway(self, params: Params) -> Sway:
        """Her answers come later."""
        return Sway(late=seconds(params["by"]))
