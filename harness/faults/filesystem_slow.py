"""``filesystem.slow``: calls on a path take longer."""

from __future__ import annotations

from collections.abc import Mapping

from harness.case import grammar
from harness.case.model import Params
from harness.faults.base import Landing, Layer, Place
from harness.faults.met import ANSWERS, HOLDS
from harness.faults.paths import inside
from harness.faults.ruled import Ruled, counted
from harness.faults.schemas import duration, params, path_inside, some_of
from sandboxes.rules import Slow as Rule
from sandboxes.rules import Verb

_USUAL = (Verb.READ, Verb.WRITE, Verb.FSYNC, Verb.OPEN)


class Slow:
    """Each call is held back from outside, then done."""

    name = "filesystem.slow"
    summary = (
        "Calls on a file, or on everything below a folder, take so much longer each; "
        "it lands with each call that was held back. Healed, whoever waits goes on at once."
    )
    layer = Layer.FILESYSTEM
    needs = (ANSWERS, HOLDS)
    live = False
    schema = params(
        ("path", "by"),
        path=path_inside(
            "a file, or a folder with all below it, relative to the workspace, or ~/…"
        ),
        by=duration("how much longer each call takes"),
        on=some_of("the calls that are slow", tuple(Verb), _USUAL),
    )

    def inject(self, params: Params, place: Place) -> Ruled:
        """Hold them back from now on."""
        path = inside(params["path"])

        def prove(met: Mapping[str, int], _: Place) -> Landing:
            held = {verb: n for verb, n in met.items() if verb != "whole"}
            to_the_end = f"{met.get('whole', 0)} of them for all of {params['by']}"
            what = f"calls of the subject on {path} that were held back: {counted(held)}"
            return Landing(sum(held.values()), f"{what}; {to_the_end}" if held else what)

        verbs = frozenset(Verb(name) for name in params["on"])
        seconds = grammar.duration(params["by"])
        return Ruled.begin(place, Rule(path, verbs, seconds), prove)
