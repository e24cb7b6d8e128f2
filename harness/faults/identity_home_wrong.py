"""``identity.home-wrong``: HOME is a folder, and not the one that the password file names."""

from __future__ import annotations

from harness.case.model import Params
from harness.faults.base import Layer, Place
from harness.faults.main_start import INSPECTED, Changed, change
from harness.faults.met import expect
from harness.faults.schemas import params, text
from sandboxes.base import AGENT_HOME


class HomeWrong:
    """The variable alone is wrong; the home is where it was."""

    name = "identity.home-wrong"
    summary = (
        "HOME names a folder that is there and is not the home of the password file; "
        "it lands when the main process is started so."
    )
    layer = Layer.IDENTITY
    needs = (INSPECTED,)
    live = False
    schema = params(
        to=text(
            "a folder inside, absolute",
            pattern="^/",
            default="/tmp",  # noqa: S108 - inside
            **{"not": {"const": AGENT_HOME}},
        ),
    )

    def inject(self, params: Params, place: Place) -> Changed:
        """Have it start so."""
        to = params["to"]
        expect(place, ["/usr/bin/test", "-d", to], 0, f"a folder {to}")
        return change(place, {"HOME": to}, f"with HOME={to}")
