"""What every oracle must keep, whoever wrote it; ``tests/conformance`` asks it of all."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Sequence
from typing import Any

from jsonschema import Draft202012Validator

from harness.case.model import Params
from harness.evidence.model import Evidence
from harness.oracles.base import Oracle
from verifiers.verdicts import Reason, Verdict

_JUDGED = {Verdict.PASSED, Verdict.FAILED, Verdict.UNAVAILABLE}


def complaints(
    oracle: Oracle, written: Sequence[Any], evidences: Sequence[Evidence]
) -> Iterator[str]:
    """What is wrong with an oracle; nothing, if all is well.

    Args:
        oracle: the entry.
        written: what cases may write for it; together they use every property.
        evidences: some evidence to judge, of all kinds.
    """
    yield from _describes_itself(oracle)
    validator = Draft202012Validator(dict(oracle.schema))
    for value in written:
        if not validator.is_valid(value):
            yield f"its schema refuses {value!r}"
            continue
        before = copy.deepcopy(value)
        params = oracle.parse(value)
        if value != before:
            yield f"parse changed {before!r}"
        yield from _parses(oracle, value, params)
        yield from _is_blind_without_evidence(oracle, params)
        for evidence in evidences:
            yield from _is_pure(oracle, params, evidence)


def _describes_itself(oracle: Oracle) -> Iterator[str]:
    if not oracle.summary.endswith(".") or "\n" in oracle.summary:
        yield "its summary is no sentence"
    Draft202012Validator.check_schema(dict(oracle.schema))
    for path, schema in _objects(oracle.schema, oracle.name):
        if schema.get("additionalProperties") is not False:
            yield f"{path} takes unknown keys"
        for name, inner in schema["properties"].items():
            if "description" not in inner and "anyOf" not in inner:
                yield f"{path}.{name} has no description"


def _objects(schema: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Every schema of an object that a schema holds, conditions apart."""
    if isinstance(schema, dict):
        if schema.get("type") == "object" and "properties" in schema:
            yield path, schema
            for name, inner in schema["properties"].items():
                yield from _objects(inner, f"{path}.{name}")
        for inner in schema.get("anyOf", ()):
            yield from _objects(inner, path)


def _parses(oracle: Oracle, value: Any, params: Params) -> Iterator[str]:
    if params != oracle.parse(value):
        yield f"parses {value!r} in two ways"
    if params != json.loads(json.dumps(params)):
        yield f"the parameters of {value!r} are no plain data"
    if oracle.final(params) not in (True, False):
        yield "final gives no truth value"
    if tuple(oracle.wants(params)) != tuple(oracle.wants(params)):
        yield "wants one thing first and then another"


def _is_blind_without_evidence(oracle: Oracle, params: Params) -> Iterator[str]:
    finding = oracle.judge(params, Evidence())
    if finding.verdict is Verdict.PASSED:
        yield f"passes {params!r} where there is no evidence at all"


def _is_pure(oracle: Oracle, params: Params, evidence: Evidence) -> Iterator[str]:
    before = copy.deepcopy((params, evidence))
    finding = oracle.judge(params, evidence)
    if finding != oracle.judge(params, evidence):
        yield f"judges the same evidence in two ways: {params!r}"
    if (params, evidence) != before:
        yield f"changes what it judges: {params!r}"
    if finding.verdict not in _JUDGED:
        yield f"gives {finding.verdict} where it raised nothing"
    blind = finding.verdict is Verdict.UNAVAILABLE
    if finding.reason is not (Reason.NOT_OBSERVED if blind else None):
        yield f"gives {finding.verdict.value} the reason {finding.reason}"
    if not finding.expected or not finding.seen:
        yield f"does not say what it expected and saw: {params!r}"
