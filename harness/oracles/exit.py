"""``exit``: the code with which the main process ended."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from harness.case.model import Params
from harness.evidence.model import Evidence
from harness.extension import Schema
from harness.oracles.base import Finding, broken, held, unseen
from sandboxes.base import Root

_CODE = {"type": "integer", "minimum": 0, "maximum": 255}
_EVIDENCE = "verdict.json#/exit_code"


class Exit:
    """A signal N counts as 128+N. A process that the harness stopped has no code."""

    name = "exit"
    summary = "The subject ended by itself, with one of the given exit codes."
    schema: ClassVar[Schema] = {
        "anyOf": [
            {**_CODE, "description": "The code."},
            {
                "type": "array",
                "items": _CODE,
                "minItems": 1,
                "maxItems": 255,
                "uniqueItems": True,
                "description": "The codes, any of them.",
            },
            {"const": "nonzero", "description": "Any code but 0."},
        ]
    }

    def parse(self, value: Any) -> Params:
        if value == "nonzero":
            return {"codes": None}
        return {"codes": [value] if isinstance(value, int) else list(value)}

    def judge(self, params: Params, evidence: Evidence) -> Finding:
        codes, code = params["codes"], evidence.exit_code
        expected = "an exit code that is not 0" if codes is None else f"exit code {_any(codes)}"
        if code is None:
            seen = f"no exit code: ended by {evidence.ended_by}"
            return unseen(expected, seen, _EVIDENCE)
        good = code != 0 if codes is None else code in codes
        return (held if good else broken)(expected, f"exit code {code}", _EVIDENCE)

    def final(self, params: Params) -> bool:
        return False

    def wants(self, params: Params) -> Sequence[tuple[Root, str]]:
        return ()


def _any(codes: Sequence[int]) -> str:
    return " or ".join(map(str, codes))
