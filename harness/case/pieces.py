"""Small pieces that the case's schema is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Schema = dict[str, Any]


def text(description: str, **more: Any) -> Schema:
    """Some text."""
    return {"type": "string", "description": description, **more}


def formatted(form: str, description: str, **more: Any) -> Schema:
    """Text in one of :data:`harness.case.grammar.FORMATS`."""
    return {"type": "string", "format": form, "description": description, **more}


def number(description: str, **more: Any) -> Schema:
    """A number that may have a fraction."""
    return {"type": "number", "description": description, **more}


def whole(description: str, **more: Any) -> Schema:
    """A whole number."""
    return {"type": "integer", "description": description, **more}


def flag(description: str, **more: Any) -> Schema:
    """True or false."""
    return {"type": "boolean", "description": description, **more}


def choice(description: str, *values: str, **more: Any) -> Schema:
    """One of some words."""
    return {"type": "string", "enum": list(values), "description": description, **more}


def listing(description: str, items: Mapping[str, Any], **more: Any) -> Schema:
    """A list of ``items``."""
    return {"type": "array", "items": items, "description": description, **more}


def table(description: str, values: Mapping[str, Any], **more: Any) -> Schema:
    """A map from free names to ``values``."""
    return {
        "type": "object",
        "additionalProperties": values,
        "description": description,
        **more,
    }


def record(
    description: str, properties: Mapping[str, Any], required: Sequence[str] = (), **more: Any
) -> Schema:
    """A map of these keys and no others."""
    schema = {
        "type": "object",
        "properties": dict(properties),
        "additionalProperties": False,
        "description": description,
        **more,
    }
    return schema | {"required": list(required)} if required else schema


def either(description: str, *branches: Mapping[str, Any], **more: Any) -> Schema:
    """Exactly one of some schemas."""
    return {"oneOf": list(branches), "description": description, **more}


def one_key_of(*names: str) -> list[Schema]:
    """For ``oneOf`` in a record: exactly one of these keys."""
    return [{"required": [name]} for name in names]


def ref(name: str, description: str = "") -> Schema:
    """One of the schema's definitions."""
    schema: Schema = {"$ref": f"#/$defs/{name}"}
    return schema | {"description": description} if description else schema


def counted(description: str, default: Any) -> Schema:
    """A number of times, or ``always``."""
    return either(
        description,
        whole("so many", minimum=1, maximum=1_000_000),
        choice("without end", "always"),
        default=default,
    )
