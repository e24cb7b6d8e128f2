"""Everything that ``explain`` can explain, from the registries, the schema and the glossary."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

from harness.case.grammar import PUBLISHED
from harness.case.schema import case_schema
from harness.case.tables import Tables, installed
from harness.commands.glossary import FORMATS, OTHER_REASONS, REASONS, VERDICTS, WORDS
from harness.commands.landing import LANDS
from harness.faults.base import Layer

Defs: TypeAlias = Mapping[str, Any]

#: Titles of maps whose keys are the names of a registry, which are topics of their own.
REGISTRIES: Final = frozenset({"oracle", "subject", "kind of service"})
_WRITTEN: Final = frozenset({"field", "parameter"})


@dataclass(frozen=True, slots=True)
class Topic:
    """One thing that can be explained.

    Attributes:
        kind: fault, oracle, service, subject, field, parameter (of one of the first four),
            form (of which fields are made), format, verdict, reason or word.
        name: as it is written; fields and parameters are dotted.
        summary: one sentence.
        schema: of what is written for it; ``None`` where nothing is.
        facts: further things worth knowing, by name.
        also: other names that lead to it.
    """

    kind: str
    name: str
    summary: str
    schema: Mapping[str, Any] | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    also: Sequence[str] = ()

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
    schema = case_schema(tables)
    return (
        *_registered(tables),
        *_fields(schema["properties"], schema["$defs"]),
        *_forms_of_fields(schema),
        *_formats(),
        *_verdicts(),
        *(Topic("word", word.name, word.meaning, also=word.also) for word in WORDS),
        *_parameters(tables, schema["$defs"]),
    )


def named(name: str, topics: Sequence[Topic]) -> list[Topic]:
    """The topics that a name means: those of that name, and fields that end in it.

    A field that is written alike in several places is given once, with its other names.
    """
    wanted = name.casefold()
    if wanted.startswith("broke:"):
        wanted = "broke"
    exact = [topic for topic in topics if wanted in _names(topic)]
    inner = [topic for topic in topics if topic.name.casefold().endswith(f".{wanted}")]
    alike: dict[str, list[Topic]] = {}
    for topic in (*exact, *inner):
        key = json.dumps([topic.kind in _WRITTEN or topic.kind, topic.summary, topic.schema])
        alike.setdefault(key, []).append(topic)
    return [_together(same) for same in alike.values()]


def _names(topic: Topic) -> set[str]:
    return {one.casefold() for one in (topic.name, *topic.also)}


def _together(same: Sequence[Topic]) -> Topic:
    others = list(dict.fromkeys(topic.name for topic in same[1:] if topic.name != same[0].name))
    if not others:
        return same[0]
    return replace(same[0], facts={**same[0].facts, "also": others})


def _registered(tables: Tables) -> Iterator[Topic]:
    layers = list(Layer)
    for name, fault in sorted(tables.faults.items(), key=lambda f: layers.index(f[1].layer)):
        facts = {
            "layer": str(fault.layer),
            "needs": list(fault.needs),
            "lands": LANDS[fault.layer],
        }
        yield Topic("fault", name, fault.summary, fault.schema, facts)
    for name, oracle in tables.oracles.items():
        yield Topic("oracle", name, oracle.summary, oracle.schema)
    for name, service in tables.services.items():
        schema = service.schema if service.parse is not None else None
        yield Topic("service", name, service.summary, schema)
    for name, subject in tables.subjects.items():
        yield Topic("subject", name, subject.summary, subject.schema)


def _parameters(tables: Tables, defs: Defs) -> Iterator[Topic]:
    """What stands beneath a fault, an oracle, a service or a subject."""
    for registry in (tables.faults, tables.oracles, tables.services, tables.subjects):
        for name, entry in registry.items():
            yield from _beneath("parameter", name, entry.schema, defs)


def _fields(properties: Mapping[str, Any], defs: Defs) -> Iterator[Topic]:
    for name, inner in properties.items():
        yield from _field("field", name, inner, defs)


def _field(kind: str, name: str, schema: Mapping[str, Any], defs: Defs) -> Iterator[Topic]:
    """A field and, one after the other, the fields of the maps and lists that it may hold."""
    target = _target(schema, defs)
    shown = {key: _expanded(value, defs) for key, value in target.items()}
    yield Topic(kind, name, target.get("description", ""), shown)
    yield from _beneath(kind, name, target, defs)


def _beneath(kind: str, name: str, schema: Mapping[str, Any], defs: Defs) -> Iterator[Topic]:
    seen: set[str] = set()
    for form in _forms(schema, defs):
        for key, inner in form.get("properties", {}).items():
            if key not in seen and form.get("title") not in REGISTRIES:
                seen.add(key)
                yield from _field(kind, f"{name}.{key}", inner, defs)


def _forms(schema: Mapping[str, Any], defs: Defs) -> Iterator[Mapping[str, Any]]:
    """The maps that a value may be, or may be a list or a table of."""
    schema = _target(schema, defs)
    yield schema
    for branch in (*schema.get("oneOf", ()), *schema.get("anyOf", ())):
        if "type" in branch or "$ref" in branch:
            yield from _forms(branch, defs)
    for inner in (schema.get("items"), schema.get("additionalProperties")):
        if isinstance(inner, Mapping):
            yield from _forms(inner, defs)


def _forms_of_fields(schema: Mapping[str, Any]) -> Iterator[Topic]:
    """What fields refer to, as far as it is no field itself."""
    for name, inner in schema["$defs"].items():
        if name not in schema["properties"]:
            shown = {key: _expanded(value, schema["$defs"]) for key, value in inner.items()}
            yield Topic("form", name, inner["description"], shown)


def _formats() -> Iterator[Topic]:
    for name, meaning in FORMATS.items():
        schema = {"type": "string", "format": name, **PUBLISHED.get(name, {})}
        yield Topic("format", name, meaning, schema)


def _target(schema: Mapping[str, Any], defs: Defs) -> Mapping[str, Any]:
    if "$ref" not in schema:
        return schema
    own = {key: value for key, value in schema.items() if key != "$ref"}
    return {**defs[schema["$ref"].removeprefix("#/$defs/")], **own}


def _expanded(schema: Any, defs: Defs) -> Any:
    """The same with what it refers to put in beside each reference; that refers on."""
    if isinstance(schema, list | tuple):
        return [_expanded(item, defs) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    if "$ref" in schema:
        return {**_target(schema, defs), "$ref": schema["$ref"]}
    return {key: _expanded(value, defs) for key, value in schema.items()}


def _verdicts() -> Iterator[Topic]:
    for verdict, summary in VERDICTS.items():
        yield Topic("verdict", verdict.value, summary, also=[verdict.value.replace("_", " ")])
    for verdict, word in OTHER_REASONS.items():
        facts = {"verdict": verdict.value}
        yield Topic("reason", word.name, word.meaning, None, facts, word.also)
    for reason, summary in REASONS.items():
        facts = {"verdict": reason.verdict.value}
        yield Topic("reason", reason.value, summary, None, facts)
