"""An oracle inside another: what a case writes for it, and what it is there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.case.model import Params
from harness.evidence.model import Evidence
from harness.extension import Schema
from harness.oracles.base import Finding, Oracle, Watching
from sandboxes.base import Root


class Others:
    """The oracles that may stand inside one."""

    def __init__(self, oracles: Mapping[str, Oracle]) -> None:
        self._oracles = oracles

    def schema(self, description: str) -> Schema:
        """Of a map with one of them."""
        return {
            "title": "oracle",
            "type": "object",
            "properties": {
                name: {**oracle.schema, "description": oracle.summary}
                for name, oracle in self._oracles.items()
            },
            "minProperties": 1,
            "maxProperties": 1,
            "additionalProperties": False,
            "description": description,
        }

    def parse(self, written: Mapping[str, Any]) -> Params:
        """The oracle's name, and its parameters."""
        ((name, value),) = written.items()
        return {"oracle": name, "params": self._oracles[name].parse(value)}

    def judge(self, inner: Params, evidence: Evidence) -> Finding:
        """What it finds."""
        return self._oracles[inner["oracle"]].judge(inner["params"], evidence)

    def final(self, inner: Params) -> bool:
        """See :meth:`Oracle.final`."""
        return self._oracles[inner["oracle"]].final(inner["params"])

    def wants(self, inner: Params) -> Sequence[tuple[Root, str]]:
        """See :meth:`Oracle.wants`."""
        return self._oracles[inner["oracle"]].wants(inner["params"])

    def watched(self, inner: Params) -> Sequence[str]:
        """See :meth:`Watching.watched`."""
        oracle = self._oracles[inner["oracle"]]
        return oracle.watched(inner["params"]) if isinstance(oracle, Watching) else ()
