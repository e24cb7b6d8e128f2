"""The public JSON Schema of case files, made from the fields and the registries.

``python -m harness.case.schema`` writes it to ``cases/schema/``; a test compares. Editors read
it, ``shakeout explain`` prints it, and the loader validates with the same schema, except
that the parameters of faults are looked up by name instead of tried one after the other.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from harness.case import fields
from harness.case.grammar import PUBLISHED
from harness.case.pieces import Schema, counted, either, listing, record, ref, table, text
from harness.case.script_schema import SCRIPT
from harness.case.tables import Tables, installed

DRAFT: Final = "https://json-schema.org/draft/2020-12/schema"
FOLDER: Final = Path(__file__).resolve().parents[2] / "cases" / "schema"

SUITE: Final[Schema] = record(
    "a suite: ids in order, each with its case file once it is written",
    {
        "schema": {"const": 1, "description": "version of this format"},
        "suite": text("its name", title="suite id", pattern=fields.CASE_ID),
        "title": text("one line for people"),
        "checks": listing(
            "what the suite consists of",
            record(
                "one check",
                {
                    "id": text("its id", title="check id", pattern="^[A-Z][0-9]+$"),
                    "title": text("one line for people", minLength=1),
                    "case": text(
                        "its case file, relative to the suite's; without one the check is not "
                        "written yet, and unavailable",
                        minLength=1,
                    ),
                },
                ("id", "title"),
            ),
            minItems=1,
        ),
    },
    ("suite", "checks"),
)


def documents() -> dict[str, Schema]:
    """What is published, by file name."""
    return {
        "case.schema.json": _published(case_schema(installed()), "case"),
        "suite.schema.json": _published(SUITE, "suite"),
    }


def case_schema(tables: Tables) -> Schema:
    """The schema of a case for these registries, with definitions."""
    schema = record("a fault case", fields.FIELDS, ("case",))
    return schema | {"$defs": definitions(tables)}


@functools.cache
def loader_schema(tables: Tables) -> Schema:
    """The same with references resolved, and the parameters of faults left to the caller."""
    schema = case_schema(tables)
    defs = schema.pop("$defs")
    defs["fault"] = {key: value for key, value in defs["fault"].items() if key != "allOf"}
    resolved: Schema = _resolve(schema, defs)
    return resolved


def definitions(tables: Tables) -> dict[str, Schema]:
    """What the schema refers to."""
    return {
        "argv": fields.ARGV,
        "planted": fields.PLANTED,
        "trigger": fields.TRIGGER,
        "script": SCRIPT,
        "subject": _subject(tables),
        "services": _services(tables),
        "faults": listing("what goes wrong", ref("fault")),
        "fault": _fault(tables),
        "expectations": listing("expectations", ref("expectation")),
        "expectation": _expectation(tables),
    }


def _subject(tables: Tables) -> Schema:
    plain = sorted(name for name in tables.subjects if name != "command")
    return either(
        "what is tested: a registered subject, with parameters where it has any, or a command",
        text("a registered subject", title="subject", enum=plain),
        record(
            "a registered subject with parameters, or command with an argv",
            {name: _described(entry) for name, entry in sorted(tables.subjects.items())},
            title="subject",
            minProperties=1,
            maxProperties=1,
        ),
    )


def _services(tables: Tables) -> Schema:
    kinds = {
        name: _described(entry)
        for name, entry in sorted(tables.services.items())
        if entry.parse is not None
    }
    return record(
        "scripted things that the subject can talk to, by kind and then by host name",
        kinds,
        title="kind of service",
    )


def _fault(tables: Tables) -> Schema:
    schema = record(
        "one fault",
        {
            "id": text(
                "its name in this case; the fault's by default", title="id", pattern=fields.ID
            ),
            "fault": text("which one", title="fault", enum=sorted(tables.faults)),
            "when": ref("trigger", "from when on it acts; from the start by default"),
            "until": ref("trigger", "when it heals; at the end by default"),
            "times": counted("model and upstream: how many requests it hits", 1),
            "with": {"type": "object", "description": "its parameters"},
            "each": table(
                "parameters to lists of values: one trial for each combination",
                listing("values", {}, minItems=1),
                minProperties=1,
            ),
        },
        ("fault",),
    )
    chosen = [
        {
            "if": {"properties": {"fault": {"const": name}}, "required": ["fault"]},
            "then": {"properties": {"with": _without_required(entry.schema)}},
        }
        for name, entry in sorted(tables.faults.items())
    ]
    return schema | {"allOf": chosen} if chosen else schema


def _expectation(tables: Tables) -> Schema:
    properties: dict[str, Any] = {
        "id": text("its name in this case; the oracle's by default", title="id", pattern=fields.ID)
    }
    properties |= {name: _described(entry) for name, entry in sorted(tables.oracles.items())}
    return record(
        "one oracle with what it is asked about", properties, title="oracle", minProperties=1
    )


def _described(entry: Any) -> Schema:
    schema = dict(entry.schema)
    return schema | {"description": schema.get("description", entry.summary)}


def _without_required(schema: Mapping[str, Any]) -> Schema:
    """A parameter may stand in ``each`` instead of ``with``, so none is required in ``with``."""
    return {key: value for key, value in schema.items() if key != "required"}


def _resolve(schema: Any, defs: Mapping[str, Any]) -> Any:
    if isinstance(schema, list):
        return [_resolve(item, defs) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        target = defs[schema["$ref"].removeprefix("#/$defs/")]
        rest = {key: value for key, value in schema.items() if key != "$ref"}
        return _resolve({**target, **rest}, defs)
    return {key: _resolve(value, defs) for key, value in schema.items()}


def _published(schema: Schema, name: str) -> Schema:
    head = {"$schema": DRAFT, "$id": f"urn:shakeout:{name}:1", "title": f"Shakeout {name}"}
    published: Schema = _formats(schema)
    return published | head


def _formats(schema: Any) -> Any:
    """Our formats in words that every validator reads alike."""
    if isinstance(schema, list | tuple):
        return [_formats(item) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    plain = {key: _formats(value) for key, value in schema.items()}
    form = plain.get("format")
    if isinstance(form, str) and "type" in plain:
        del plain["format"]
        plain = {**PUBLISHED.get(form, {}), "title": form, **plain}
    return plain


def rendered(schema: Schema) -> str:
    """The file's text: sorted, so that two makings of it compare."""
    return json.dumps(schema, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def write(folder: Path = FOLDER) -> None:
    """Write what is published."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, schema in documents().items():
        (folder / name).write_text(rendered(schema), encoding="utf-8")


if __name__ == "__main__":
    write()
