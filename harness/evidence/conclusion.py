"""What a run came to, in words: by what was asked of it, and its exit code."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Final

from verifiers.verdicts import Verdict


class Asked(enum.StrEnum):
    """What a run was to show."""

    RUN = "run"
    TEETH = "teeth"


_SPOILT: Final[Mapping[int, str]] = {
    4: "the harness or the place broke, or the evidence could not be sealed",
    130: "interrupted; the evidence so far is here",
}
_WORDS: Final[Mapping[Asked, Mapping[int, str]]] = {
    Asked.RUN: {
        0: "everything that counts passed",
        1: "something failed or timed out",
        3: "something could not be tried or observed, and nothing is worse",
        **_SPOILT,
    },
    Asked.TEETH: {
        0: "every sabotage broke exactly what it names, and nothing else failed that counts",
        1: "a sabotage did not break exactly what it names, or a case has none or failed by itself",
        3: "whether every case can fail could not be tried or observed, and nothing is worse",
        **_SPOILT,
    },
}
_SET_ASIDE: Final = "nothing failed but known defects, sabotages, and what is in quarantine"
_NOTHING: Final = "nothing was selected"


def conclusion(asked: Asked, exit_code: int, verdict: Verdict, trials: int) -> str:
    """The sentence for people.

    Args:
        asked: what the run was to show.
        exit_code: of the run.
        verdict: the plain merge of its trials.
        trials: how many there are.
    """
    if not trials and exit_code not in _SPOILT:
        return _NOTHING
    if asked is Asked.RUN and exit_code == 0 and verdict is Verdict.FAILED:
        return _SET_ASIDE
    return _WORDS[asked][exit_code]
