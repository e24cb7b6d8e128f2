"""Everything that ``explain`` can explain, from the registries and the schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from harness.case.schema import case_schema
from harness.case.tables import Tables, installed
from verifiers.verdicts import Reason, Verdict

VERDICTS: Final[Mapping[Verdict, str]] = {
    Verdict.PASSED: "at least one expectation, all of them observed, all held; every fault landed",
    Verdict.FAILED: "an expectation was observed, and broken; the reason is broke:ID",
    Verdict.TIMED_OUT: "the trial's own limit stopped the subject before it could be judged",
    Verdict.UNAVAILABLE: "it could not be tried or observed here; nothing is known, so not passed",
    Verdict.ERROR: "the harness or the sandbox broke; nothing is known of the subject",
}

REASONS: Final[Mapping[Reason, str]] = {
    Reason.BACKEND_MISSING: "no sandbox backend works on this machine; see shakeout doctor",
    Reason.CAPABILITY_MISSING: "the sandbox cannot do what the case needs",
    Reason.TOOL_MISSING: "a program that is to be run is not there",
    Reason.SUBJECT_MISSING: "the agent is not installed here",
    Reason.NOT_WRITTEN: "the suite names this check, and its case is not written yet",
    Reason.FAULT_NOT_DELIVERED: "a declared fault did not land, so nothing was tried",
    Reason.NOT_PROVOKED: "what the case provokes the subject with did not happen",
    Reason.SCRIPT_NOT_FINISHED: "turns of the model's script were left over",
    Reason.NOTHING_EXPECTED: "the case expects nothing, so nothing could hold",
    Reason.NOT_OBSERVED: "what an expectation is about could not be seen",
    Reason.NOTHING_RAN: "there was nothing to merge a verdict from",
    Reason.BREAKER_OPEN: "evidence could not be sealed earlier; nothing runs until it is reset",
    Reason.SANDBOX_LOST: "the sandbox died or stopped answering",
    Reason.EVIDENCE_LOST: "evidence that must be there could not be taken",
    Reason.RESIDUE: "something was left behind, or touched, outside the sandbox",
    Reason.HARNESS_BUG: "the harness itself is wrong; please report it",
    Reason.NOT_SEALED: "the evidence could not be sealed",
    Reason.INTERRUPTED: "the user stopped the run",
    Reason.SABOTAGE_NOT_APPLIED: "the sabotage found nothing to remove",
    Reason.TOOL_CRASHED: "a tool of the harness or of a verifier died",
    Reason.REPORT_UNREADABLE: "a tool's report could not be read",
    Reason.WRONG_CODE: "what ran is not the code that was asked for",
}


@dataclass(frozen=True, slots=True)
class Topic:
    """One thing that can be explained.

    Attributes:
        kind: fault, oracle, service, subject, field, verdict or reason.
        name: as it is written; fields are dotted.
        summary: one sentence.
        schema: of what is written for it; ``None`` where nothing is.
        facts: further things worth knowing, by name.
    """

    kind: str
    name: str
    summary: str
    schema: Mapping[str, Any] | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)

    def item(self) -> dict[str, Any]:
        """The topic as an item of what ``--json`` prints."""
        return {
            "kind": self.kind,
            "name": self.name,
            "summary": self.summary,
            "schema": self.schema,
            **self.facts,
        }


def everything(tables: Tables | None = None) -> tuple[Topic, ...]:
    """All topics, in the order in which they are shown."""
    tables = tables or installed()
    return (*_registered(tables), *_fields(case_schema(tables)), *_verdicts())


def _registered(tables: Tables) -> Iterator[Topic]:
    for name, fault in tables.faults.items():
        facts = {"layer": str(fault.layer), "needs": list(fault.needs)}
        yield Topic("fault", name, fault.summary, fault.schema, facts)
    for name, oracle in tables.oracles.items():
        yield Topic("oracle", name, oracle.summary, oracle.schema)
    for name, service in tables.services.items():
        schema = service.schema if service.parse is not None else None
        yield Topic("service", name, service.summary, schema)
    for name, subject in tables.subjects.items():
        yield Topic("subject", name, subject.summary, subject.schema)


def _fields(schema: Mapping[str, Any]) -> Iterator[Topic]:
    for name, inner in schema["properties"].items():
        yield from _field(name, inner, schema["$defs"])


def _field(name: str, schema: Mapping[str, Any], defs: Mapping[str, Any]) -> Iterator[Topic]:
    """A field and, one after the other, the fields of the maps and lists that it may hold."""
    target = _target(schema, defs)
    yield Topic("field", name, target.get("description", ""), target)
    seen: set[str] = set()
    for form in _forms(target, defs):
        for key, inner in form.get("properties", {}).items():
            if key not in seen and not _of_a_registry(form):
                seen.add(key)
                yield from _field(f"{name}.{key}", inner, defs)


def _forms(schema: Mapping[str, Any], defs: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The maps that a value may be, or may be a list or a table of."""
    schema = _target(schema, defs)
    yield schema
    for branch in schema.get("oneOf", ()):
        if "type" in branch or "$ref" in branch:
            yield from _forms(branch, defs)
    for inner in (schema.get("items"), schema.get("additionalProperties")):
        if isinstance(inner, Mapping):
            yield from _forms(inner, defs)


def _target(schema: Mapping[str, Any], defs: Mapping[str, Any]) -> Mapping[str, Any]:
    if "$ref" not in schema:
        return schema
    own = {key: value for key, value in schema.items() if key != "$ref"}
    return {**defs[schema["$ref"].removeprefix("#/$defs/")], **own}


def _of_a_registry(schema: Mapping[str, Any]) -> bool:
    """Whether the keys of a map are names of a registry, which are topics of their own."""
    return schema.get("title") in {"oracle", "subject", "kind of service"}


def _verdicts() -> Iterator[Topic]:
    for verdict, summary in VERDICTS.items():
        yield Topic("verdict", verdict.value, summary)
    for reason, summary in REASONS.items():
        facts = {"verdict": reason.verdict.value}
        yield Topic("reason", reason.value, summary, None, facts)
