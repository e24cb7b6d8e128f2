"""Every oracle of the registry keeps the contract; a new one adds its samples for it."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from harness.evidence.model import Evidence
from harness.oracles.base import Finding, held
from harness.oracles.conformance import complaints
from harness.oracles.registry import ORACLES
from sandboxes.base import Root
from tests.unit.oracles.making import ran
from tests.unit.oracles.samples import EVIDENCES, SAMPLES


@pytest.mark.parametrize("name", ORACLES)
def test_an_oracle_keeps_the_contract(name: str):
    assert ORACLES[name].name == name
    assert list(complaints(ORACLES[name], SAMPLES[name], EVIDENCES)) == []


def test_the_samples_are_those_of_the_registry():
    assert SAMPLES.keys() == ORACLES.keys()


class Gullible:
    """Breaks every clause of the contract that can be broken quietly."""

    name = "gullible"
    summary = "passes whatever comes"
    schema: ClassVar[dict[str, Any]] = {"type": "object", "properties": {"x": {"type": "integer"}}}
    asked = 0

    def parse(self, value: Any) -> Any:
        value["y"] = 1
        return value

    def judge(self, params: Any, evidence: Evidence) -> Finding:
        self.asked += 1
        return held("", str(self.asked))

    def final(self, params: Any) -> bool:
        return None  # type: ignore[return-value]

    def wants(self, params: Any) -> Any:
        self.asked += 1
        return [(Root.HOME, str(self.asked))]


def test_a_bad_oracle_is_told_all_that_is_wrong_with_it():
    found = "\n".join(complaints(Gullible(), [{"x": 1}], [ran()]))

    for words in (
        "no sentence",
        "takes unknown keys",
        "has no description",
        "parse changed",
        "no truth value",
        "wants one thing first",
        "no evidence at all",
        "in two ways",
        "does not say",
    ):
        assert words in found
