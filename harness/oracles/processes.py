"""``processes``: what still ran after the end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from harness.case.grammar import DURATION, duration
from harness.case.model import Params
from harness.evidence.model import Evidence, Lingering, Processes
from harness.extension import Schema
from harness.oracles.base import Finding, broken, held, unseen
from harness.oracles.seen import some
from sandboxes.base import Root

_EVIDENCE = "processes.json"
_COUNT = {"type": "integer", "minimum": 0}
DEFAULT_AFTER = "1s"


class Lingerers:
    """Counts live processes, zombies and the main process apart, some time after the end.

    The list is a step function: what was seen last holds until the next look, and once
    nothing was left, nothing can come back.
    """

    name = "processes"
    summary = "Exactly, or at most, so many processes of the subject live on after its end."
    schema: ClassVar[Schema] = {
        "anyOf": [
            {"const": "none-left", "description": "None is left one second after the end."},
            {
                "type": "object",
                "properties": {
                    "left": {**_COUNT, "description": "How many, exactly."},
                    "at_most": {**_COUNT, "description": "How many at most, in place of `left`."},
                    "after": {
                        **DURATION,
                        "default": DEFAULT_AFTER,
                        "description": "How long after the end of the steps.",
                    },
                },
                "oneOf": [{"required": ["left"]}, {"required": ["at_most"]}],
                "additionalProperties": False,
            },
        ]
    }

    def parse(self, value: Any) -> Params:
        if value == "none-left":
            value = {"left": 0}
        bound = {key: value[key] for key in ("left", "at_most") if key in value}
        return {**bound, "after": duration(value.get("after", DEFAULT_AFTER))}

    def judge(self, params: Params, evidence: Evidence) -> Finding:
        exact = "left" in params
        count, after = params["left" if exact else "at_most"], params["after"]
        bound = f"{count or 'no'}" if exact else f"at most {count}"
        expected = f"{bound} processes left {after:g} s after the end"
        living = _living(evidence.processes, after)
        if living is None:
            return unseen(expected, "the processes were not listed", _EVIDENCE)
        good = len(living) == count if exact else len(living) <= count
        return (held if good else broken)(expected, _in_words(living), _EVIDENCE)

    def final(self, params: Params) -> bool:
        return False

    def wants(self, params: Params) -> Sequence[tuple[Root, str]]:
        return ()


def _living(processes: Processes, after: float) -> Sequence[Lingering] | None:
    if not processes.observed:
        return None
    looks = [living for at, living in processes.after if at <= after]
    return looks[-1] if looks else None


def _in_words(living: Sequence[Lingering]) -> str:
    if not living:
        return "none left"
    words = [f"{process.pid} ({' '.join(process.argv)[:60]})" for process in living]
    return f"{len(living)} left: {some(words)}"
