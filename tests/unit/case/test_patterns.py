"""No pattern of the schema is shown to a person who wrote something else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from harness.case.flaws import _MEANT
from harness.case.patterns import PATTERNS
from harness.case.schema import SUITE, loader_schema
from harness.case.script_schema import SCRIPT
from harness.case.tables import installed
from harness.faults.registry import FAULTS


def patterns(schema: Any) -> Iterator[str]:
    if isinstance(schema, Mapping):
        if isinstance(schema.get("pattern"), str):
            yield schema["pattern"]
        for value in schema.values():
            yield from patterns(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from patterns(value)


#: Parameters of faults have schemas of their own.
SCHEMAS = (loader_schema(installed()), SUITE, SCRIPT, [f.schema for f in FAULTS.values()])
ALL = sorted({p for schema in SCHEMAS for p in patterns(schema)})


@pytest.mark.parametrize("pattern", ALL)
def test_each_pattern_has_words(pattern: str):
    words = _MEANT[pattern]

    assert not set("^$\\") & set(words)


def test_no_words_are_of_a_pattern_that_is_gone():
    assert set(PATTERNS) <= set(ALL)
