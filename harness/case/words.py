"""Values, places and schemas in the words of messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from harness.case.errors import quoted
from harness.case.grammar import PUBLISHED
from harness.case.yaml_build import Keys

KINDS: Final[Mapping[str, str]] = {
    "object": "a map",
    "array": "a list",
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "null": "nothing",
}
#: What a text in one of the formats of the grammar is.
NOUNS: Final[Mapping[str, str]] = {
    "duration": "a duration",
    "size": "a size",
    "regex": "a regular expression",
    "glob": "a glob",
    "date": "a date",
    "instant": "a point in time",
    "version-range": "a range of versions",
    "signal": "a signal",
}
_SAMPLES: Final[Mapping[str, str]] = {
    "object": "{…}",
    "array": "[…]",
    "string": "TEXT",
    "integer": "N",
    "number": "N",
    "boolean": "true",
}


def kind_of(value: Any) -> str:
    """What a value is."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return quoted(value)
    if isinstance(value, dict):
        return "a map"
    if isinstance(value, list):
        return "a list"
    return f"the text {quoted(value)}" if isinstance(value, str) else f"the number {quoted(value)}"


def is_a(value: Any, kind: str) -> bool:
    """Whether a value is of a schema's ``type``; true and false are no numbers."""
    if isinstance(value, bool):
        return kind == "boolean"
    kinds = {"object": dict, "array": list, "string": str, "integer": int, "number": int | float}
    return isinstance(value, kinds.get(kind, ()))


def kinds_in_words(kind: str | list[str]) -> str:
    """What a schema's ``type`` asks for."""
    kinds = [kind] if isinstance(kind, str) else kind
    return " or ".join(KINDS.get(one, one) for one in kinds)


def name_of(path: Keys) -> str:
    """What is at a path: its key, or which entry of what."""
    if not path:
        return "the file"
    if isinstance(path[-1], int):
        parents = [key for key in path if isinstance(key, str)]
        return f"entry {path[-1] + 1} of {parents[-1]}" if parents else f"entry {path[-1] + 1}"
    return path[-1] if path[-1].isprintable() else quoted(path[-1])


def write(path: Keys, schema: Mapping[str, Any]) -> str:
    """A hint: what to write at ``path``, which is to fit ``schema``."""
    description = schema.get("description", "")
    if path and isinstance(path[-1], str):
        return f"write {name_of(path)}: {sample(schema)}" + (
            f" ({description})" if description else ""
        )
    return f"write {description}" if description else ""


def examples_of(schema: Mapping[str, Any]) -> list[str]:
    """Examples of text that a schema, or its format, gives."""
    published = PUBLISHED.get(schema.get("format", ""), {})
    return [*map(str, schema.get("examples", ())), *published.get("examples", ())]


def sample(schema: Mapping[str, Any]) -> str:
    """Something that fits a schema, or stands for it."""
    for branch in (schema, *schema.get("oneOf", ()), *schema.get("anyOf", ())):
        for value in (*examples_of(branch), *branch.get("enum", ()), branch.get("const")):
            if value is not None:
                return value if isinstance(value, str) else quoted(value)
    kind = schema.get("type", "")
    return _SAMPLES.get(kind if isinstance(kind, str) else kind[0], "…")
