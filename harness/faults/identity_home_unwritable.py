"""``identity.home-unwritable``: nothing can be made in the home."""

from __future__ import annotations

from harness.case.model import Params
from harness.faults.base import Landing, Layer, Place
from harness.faults.filesystem_permission import barred
from harness.faults.main_start import INSPECTED, AtNext, Changed, change
from harness.faults.met import ATTEMPTS, Met, expect
from harness.faults.schemas import params, text
from sandboxes.base import AGENT_HOME, ROOT, Kind, Root

_MODE = 0o755
_TOP = "/"


class _AtTop:
    """HOME is the root folder, which nobody but root may write."""

    def __init__(self, changed: Changed, met: Met) -> None:
        self._changed = changed
        self._met = met

    def landing(self, place: Place) -> Landing:
        started = self._changed.landing(place)
        met = self._met.landing(place)
        return Landing(met.count if started.landed else 0, f"{started.proof}; {met.proof}")

    def heal(self, place: Place) -> None:
        self._changed.heal(place)


class HomeUnwritable:
    """The home is root's, or HOME is ``/``; what was in the home before can still be changed."""

    name = "identity.home-unwritable"
    summary = (
        "The home belongs to root when the main process is started, or HOME is /, as under "
        "docker run --user 4242; it lands when the subject tries to make, rename or remove "
        "something right in it."
    )
    layer = Layer.IDENTITY
    needs = ("user.separate", ATTEMPTS, INSPECTED)
    live = False
    schema = params(
        home=text(
            "which home: the agent's own, or the root folder", enum=["own", "/"], default="own"
        ),
    )

    def inject(self, params: Params, place: Place) -> AtNext | _AtTop:
        """Have it start so."""
        if params["home"] == _TOP:
            _refused(place, _TOP)
            return _AtTop(change(place, {"HOME": _TOP}, "with HOME=/"), _begin(place, _TOP))
        return AtNext.begin(
            place, lambda: _take(place), lambda: place.sandbox.restore(Root.HOME, ".")
        )


def _take(place: Place) -> Met:
    """Give the home to root, and have a canary try to write."""
    place.sandbox.change(Root.HOME, ".", _MODE, ROOT)
    try:
        _refused(place, AGENT_HOME)
        return _begin(place, AGENT_HOME)
    except BaseException:
        place.sandbox.restore(Root.HOME, ".")
        raise


def _refused(place: Place, path: str) -> None:
    expect(place, ["/usr/bin/test", "-w", path], 1, f"{path} refused")


def _begin(place: Place, path: str) -> Met:
    return Met.begin(place, path, barred(_MODE, Kind.DIR))
