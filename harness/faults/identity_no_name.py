"""``identity.no-name``: the user that the subject runs as has no name."""

from __future__ import annotations

from harness.case.model import Params
from harness.faults.base import Layer, Place
from harness.faults.main_start import AtNext
from harness.faults.met import ATTEMPTS, Barred, Met, expect
from harness.faults.schemas import params
from sandboxes.base import Act, Depth

_FILE = "/etc/passwd"
_ASKED: Barred = {Depth.ON: (Act.READ,), Depth.IN: (), Depth.BELOW: ()}


class NoName:
    """The uid stays, and owns what it owned; its entry in the password file is taken out."""

    name = "identity.no-name"
    summary = (
        "The subject's uid has no entry in the password file when the main process is started; "
        "it lands when the subject reads that file, as whoever asks for a name does."
    )
    layer = Layer.IDENTITY
    needs = ("user.nameless", ATTEMPTS)
    live = False
    schema = params()

    def inject(self, params: Params, place: Place) -> AtNext:
        """Have it start so."""
        del params
        return AtNext.begin(
            place, lambda: _take(place), lambda: place.sandbox.name_agent(named=True)
        )


def _take(place: Place) -> Met:
    """Take the name, and have a canary ask for it."""
    place.sandbox.name_agent(named=False)
    try:
        expect(place, ["/usr/bin/id", "-un"], 1, "that its user has no name")
        return Met.begin(place, _FILE, _ASKED)
    except BaseException:
        place.sandbox.name_agent(named=True)
        raise
