"""Schemas that others wrote, made fit to be shown to a model and to check arguments against.

Checking must neither fetch anything, nor take for ever, nor fail by itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from runtime.tools.hotplug.offers import LONGEST, clean, hidden
from runtime.tools.hotplug.specs import BadPlug

_BYTES: Final = 1 << 16
_DEEPEST: Final = 32
#: Schemas that one value may have to be checked against.
_CHECKS: Final = 1_000
_WORDS: Final = frozenset({"description", "title", "$comment"})
_NAMED: Final = frozenset({"properties", "$defs", "definitions", "dependentSchemas"})
#: Regular expressions of others can take for ever: the tool itself still checks them. Names of
#: schemas change what a reference means. What is only an example, nobody needs.
_DROPPED: Final = frozenset(
    {
        *("pattern", "patternProperties", "format", "default", "examples"),
        *("$id", "$schema", "$anchor", "$dynamicAnchor"),
    }
)
#: What is checked against the same value as the schema that it is in.
_SAME: Final = ("anyOf", "allOf", "oneOf", "not", "if", "then", "else", "dependentSchemas")


def safe_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A schema that can be shown, and checked against.

    Raises:
        BadPlug: it is too large, too deep or too slow, refers elsewhere, or hides characters.
    """
    try:
        size = len(json.dumps(schema))
    except (TypeError, ValueError, RecursionError) as error:
        raise BadPlug(f"its schema is no JSON: {error}", "") from None
    if size > _BYTES:
        raise BadPlug(f"its schema takes {size} bytes, of {_BYTES} at most", "")
    cleaned = {"type": "object", **_schema(schema, 0)}
    _Cost(cleaned).check()
    return cleaned


def _schema(schema: Mapping[str, Any], depth: int) -> dict[str, Any]:
    if depth > _DEEPEST:
        raise BadPlug(f"its schema is nested more than {_DEEPEST} deep", "")
    return {
        key: _part(key, value, depth + 1) for key, value in schema.items() if key not in _DROPPED
    }


def _part(key: str, value: Any, depth: int) -> Any:
    if key in _WORDS and isinstance(value, str):
        return clean(value)[:LONGEST]
    if key == "$dynamicRef" or (key == "$ref" and not str(value).startswith("#")):
        raise BadPlug(f"its schema refers to {str(value)!r}, which is elsewhere", "")
    if key in _NAMED and isinstance(value, Mapping):
        return {_seen(name): _value(each, depth) for name, each in value.items()}
    return _value(value, depth)


def _value(value: Any, depth: int) -> Any:
    if isinstance(value, Mapping):
        return _schema(value, depth)
    if isinstance(value, list):
        return [_value(each, depth + 1) for each in value]
    return _seen(value) if isinstance(value, str) else value


def _seen(text: str) -> str:
    if any(hidden(letter) for letter in text):
        raise BadPlug(f"its schema hides characters in {text!a}", "")
    return text


class _Cost:
    """How many schemas a value may have to be checked against, references followed."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._known: dict[str, int] = {}
        self._open: set[str] = set()

    def check(self) -> None:
        for schema in _within(self._root):
            self._of(schema)

    def _of(self, schema: Any) -> int:
        if not isinstance(schema, Mapping):
            return 1
        cost = 1 + sum(self._of(each) for key in _SAME for each in _parts(schema.get(key)))
        if isinstance(reference := schema.get("$ref"), str):
            cost += self._referred(reference)
        if cost > _CHECKS:
            raise BadPlug("its schema takes too long to check", "")
        return cost

    def _referred(self, reference: str) -> int:
        if reference in self._open:
            raise BadPlug(f"its schema refers to itself at {reference!r}", "")
        if reference not in self._known:
            self._open.add(reference)
            self._known[reference] = self._of(self._at(reference))
            self._open.remove(reference)
        return self._known[reference]

    def _at(self, reference: str) -> Any:
        found: Any = self._root
        for word in reference.split("/")[1:]:
            try:
                found = found[word.replace("~1", "/").replace("~0", "~")]
            except (KeyError, TypeError):
                raise BadPlug(
                    f"its schema refers to {reference!r}, which is not there", ""
                ) from None
        return found


def _parts(value: Any) -> Iterator[Any]:
    if isinstance(value, list):
        yield from value
    elif isinstance(value, Mapping):
        yield value
        yield from (each for each in value.values() if isinstance(each, Mapping))


def _within(value: Any) -> Iterator[Mapping[str, Any]]:
    """Every object in a schema, itself included."""
    if isinstance(value, Mapping):
        yield value
        for each in value.values():
            yield from _within(each)
    elif isinstance(value, list):
        for each in value:
            yield from _within(each)
