"""``identity.home-unset``: there is no HOME."""

from __future__ import annotations

from harness.case.model import Params
from harness.faults.base import Layer, Place
from harness.faults.main_start import INSPECTED, Changed, change
from harness.faults.schemas import params


class HomeUnset:
    """The variable alone is gone; the password file still names a home."""

    name = "identity.home-unset"
    summary = (
        "HOME is not in the environment; it lands when the main process is started without it."
    )
    layer = Layer.IDENTITY
    needs = (INSPECTED,)
    live = False
    schema = params()

    def inject(self, params: Params, place: Place) -> Changed:
        """Have it start so."""
        del params
        return change(place, {"HOME": None}, "without HOME")
