"""``identity.stripped-env``: next to nothing is in the environment."""

from __future__ import annotations

from harness.case.model import Params
from harness.faults.base import Layer, Place
from harness.faults.main_start import INSPECTED, Changed, change
from harness.faults.schemas import params


class StrippedEnv:
    """As a program starts that cron, systemd or sudo runs; what the case plants is gone too."""

    name = "identity.stripped-env"
    summary = (
        "The environment is empty but for what is kept, as under cron, systemd or sudo; "
        "it lands when the main process is started so."
    )
    layer = Layer.IDENTITY
    needs = (INSPECTED,)
    live = False
    schema = params(
        keep={
            "type": "array",
            "items": {"type": "string", "minLength": 1},
            "default": [],
            "description": "names of variables that stay, such as PATH",
        },
    )

    def inject(self, params: Params, place: Place) -> Changed:
        """Have it start so."""
        gone = [name for name in place.next.env if name not in params["keep"]]
        left = [name for name in place.next.env if name in params["keep"]]
        what = f"with {', '.join(left) or 'nothing'} in its environment"
        return change(place, dict.fromkeys(gone), what)
