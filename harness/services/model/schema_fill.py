"""Arguments that a tool's schema requires and a script does not give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.extension import Schema

_FOLDERS = ("cwd", "workdir", "working_directory", "workingdirectory", "directory", "dir_path")
_DEPTH = 4


def properties(schema: Schema) -> Mapping[str, Schema]:
    """The arguments that a tool knows, each with its schema."""
    found = schema.get("properties")
    if not isinstance(found, Mapping):
        return {}
    return {name: each for name, each in found.items() if isinstance(each, Mapping)}


def required(schema: Schema) -> Sequence[str]:
    """The arguments that it cannot do without."""
    found = schema.get("required")
    return [name for name in found if isinstance(name, str)] if isinstance(found, list) else []


def variant(schema: Schema) -> Schema:
    """The schema itself, or the first real one among its alternatives."""
    for key in ("anyOf", "oneOf", "allOf"):
        options = schema.get(key)
        if isinstance(options, list):
            for option in options:
                if isinstance(option, Mapping) and option.get("type") != "null":
                    return variant(option)
    return schema


def kind_of(schema: Schema) -> str:
    """``string``, ``array``, …; empty where the schema does not say."""
    found = variant(schema).get("type")
    if isinstance(found, list):
        found = next((each for each in found if each != "null"), "")
    return found if isinstance(found, str) else ""


def enumeration(schema: Schema) -> Sequence[Any]:
    """The values that it allows, where it lists them."""
    chosen = variant(schema)
    if "const" in chosen:
        return [chosen["const"]]
    found = chosen.get("enum")
    return found if isinstance(found, list) else []


def complete(schema: Schema, given: Mapping[str, Any], depth: int = 0) -> dict[str, Any]:
    """``given``, and something fitting for every other required argument."""
    known = properties(schema)
    filled = dict(given)
    for name in required(schema):
        if name not in filled:
            filled[name] = _value(name, known.get(name, {}), depth)
    return filled


def _value(name: str, schema: Schema, depth: int) -> object:
    if "default" in schema:
        return schema["default"]
    allowed = enumeration(schema)
    if allowed:
        return allowed[0]
    return _typed(name, variant(schema), depth)


def _typed(name: str, schema: Schema, depth: int) -> object:
    kind = kind_of(schema)
    if kind == "array":
        return _items(name, schema, depth)
    if kind == "object":
        return complete(schema, {}, depth + 1) if depth < _DEPTH else {}
    if kind in ("integer", "number"):
        return schema.get("minimum", 1)
    return False if kind == "boolean" else _text(name)


def _items(name: str, schema: Schema, depth: int) -> list[object]:
    least = schema.get("minItems", 0)
    items = schema.get("items")
    if not isinstance(least, int) or not isinstance(items, Mapping) or depth >= _DEPTH:
        return []
    return [_value(name, items, depth + 1)] * least


def _text(name: str) -> str:
    if name.lower() in _FOLDERS:
        return "."
    return f"scripted {name.replace('_', ' ')}"
