"""Topics of ``explain`` as text: a schema in words, one line for each key."""

from __future__ import annotations

import itertools
import json
import shutil
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from harness.commands.explained import REGISTRIES, Topic

_WIDTH: Final = 96
_NARROWEST, _WIDEST = 80, 120
_FEW: Final = 3
_KINDS: Final = {"object": "map", "array": "list", "string": "text", "integer": "whole number"}
_BOUNDS: Final = {
    "minimum": "at least",
    "maximum": "at most",
    "exclusiveMinimum": "more than",
    "minItems": "at least",
}


def brief(topics: Sequence[Topic]) -> Iterator[str]:
    """One line for each topic."""
    width = max((len(topic.name) for topic in topics), default=0)
    for topic in topics:
        yield from wrapped(f"  {topic.name:<{width}}  ", topic.summary)


def by_layer(topics: Sequence[Topic]) -> Iterator[str]:
    """Faults, layer by layer: how they land, and of each what it does and what it needs."""
    width = max(len(topic.name) for topic in topics)
    for layer, group in itertools.groupby(topics, key=lambda topic: str(topic.facts["layer"])):
        faults = list(group)
        yield from wrapped(f"  {layer}: ", f"lands where {faults[0].facts['lands']}")
        for fault in faults:
            needs = ", ".join(fault.facts["needs"])
            about = f"{fault.summary} (needs {needs})" if needs else fault.summary
            yield from wrapped(f"    {fault.name:<{width}}  ", about)


def full(topic: Topic) -> Iterator[str]:
    """All that is known of a topic."""
    yield from wrapped(f"{topic.kind} {topic.name}: ", topic.summary)
    for name, value in topic.facts.items():
        shown = ", ".join(value) if isinstance(value, list) else str(value)
        if shown:
            yield from wrapped(f"  {name}: ", shown)
    if "default" in (topic.schema or {}):
        yield f"  {_default(topic.schema or {})}"
    if topic.schema is not None:
        if topic.kind != "format":
            yield from _form(topic.schema, "  ")
        yield from _usage(topic)
    yield ""


def _default(schema: Mapping[str, Any]) -> str:
    return f"default {json.dumps(schema['default'], ensure_ascii=False)}"


def _form(schema: Mapping[str, Any], indent: str) -> Iterator[str]:
    """What a value may be: each form that it may take, with its keys or entries."""
    branches = [one for one in _branches(schema) if set(one) != {"required"}]
    shown: set[str] = set()
    for form in branches or [schema]:
        inside = list(_inside(form, indent, shown))
        about = _about(form, schema)
        if about or not inside:
            yield from wrapped(f"{indent}{_kind(form)}  ", about)
        yield from inside


def _inside(schema: Mapping[str, Any], indent: str, shown: set[str]) -> Iterator[str]:
    """The keys of a map; what the entries of a list, or the values of a table, are.

    ``shown`` has the maps that were shown before: none is shown a second time.
    """
    for form in _branches(schema):
        yield from _inside(form, indent, shown)
    if keys := schema.get("properties"):
        map_ = json.dumps(keys, sort_keys=True)
        if len(keys) > _FEW and map_ in shown:
            yield f"{indent}the keys are those above"
        else:
            shown.add(map_)
            yield from _properties(schema, indent, shown)
    for key, head in (("items", "each entry"), ("additionalProperties", "each value")):
        inner = schema.get(key)
        if isinstance(inner, Mapping) and inner:
            yield from _key(head, inner, indent, shown, required=False)


def _branches(schema: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    return schema.get("oneOf") or schema.get("anyOf") or ()


def _properties(schema: Mapping[str, Any], indent: str, shown: set[str]) -> Iterator[str]:
    registry = schema.get("title") in REGISTRIES
    for key, inner in schema["properties"].items():
        if registry:
            yield from wrapped(f"{indent}{key}  ", inner.get("description", ""))
            continue
        yield from _key(key, inner, indent, shown, required=key in schema.get("required", ()))
    names = [one["required"][0] for one in _branches(schema) if set(one) == {"required"}]
    if names:
        amount = "exactly one" if "oneOf" in schema else "at least one"
        yield f"{indent}{amount} of {', '.join(names)}"


def _key(
    name: str, schema: Mapping[str, Any], indent: str, shown: set[str], *, required: bool
) -> Iterator[str]:
    marks = ["required"] if required else []
    if "default" in schema:
        marks.append(_default(schema))
    note = f" ({', '.join(marks)})" if marks else ""
    yield from wrapped(f"{indent}{name}: {_kind(schema)}{note}  ", _about(schema, {}))
    yield from _inside(schema, indent + "  ", shown)


def _about(schema: Mapping[str, Any], outer: Mapping[str, Any]) -> str:
    about = str(schema.get("description", ""))
    if about and about == outer.get("description"):
        about = ""
    bounds = [f"{words} {schema[key]}" for key, words in _BOUNDS.items() if key in schema]
    examples = [f"such as {value}" for value in schema.get("examples", ())[:1]]
    more = ", ".join((*bounds, *examples))
    return f"{about} ({more})" if more and about else about or more


def _kind(schema: Mapping[str, Any]) -> str:
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if words := schema.get("enum", [schema["const"]] if "const" in schema else []):
        known = schema.get("title") == "fault"
        return "see shakeout explain faults" if known else " | ".join(map(_value, words))
    forms = [one for one in _branches(schema) if set(one) != {"required"}]
    if forms:
        return " | ".join(dict.fromkeys(map(_kind, forms)))
    if "format" in schema:
        return str(schema["format"])
    kind = schema.get("type", "anything")
    kinds: Sequence[str] = [kind] if isinstance(kind, str) else kind
    return " | ".join(_KINDS.get(one, one) for one in kinds)


def _value(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _usage(topic: Topic) -> Iterator[str]:
    schema = topic.schema or {}
    needed = ", ".join(f"{name}: …" for name in schema.get("required", ()))
    if topic.kind == "format" and "examples" in schema:
        yield f"  write: {', '.join(map(str, schema['examples']))}"
    elif topic.kind == "fault":
        params = f", with: {{{needed}}}" if needed else ""
        yield f"  write: faults: [{{fault: {topic.name}{params}}}]"
    elif topic.kind == "oracle":
        yield f"  write: expect: [{{{topic.name}: {_sample(schema)}}}]"
    elif topic.kind == "subject" and topic.name == "command":
        yield '  write: subject: {command: [PROGRAM, "{task}"]}'
    elif topic.kind == "subject":
        yield f"  write: subject: {topic.name}"


def _sample(schema: Mapping[str, Any]) -> str:
    for branch in _branches(schema):
        if "const" in branch or "enum" in branch:
            return _kind(branch)
    needed = schema.get("required") or next(
        (one["required"] for one in _branches(schema) if "required" in one), ()
    )
    return f"{{{', '.join(f'{name}: …' for name in needed)}}}" if needed else "…"


def _width() -> int:
    """Of the terminal, within what can be read; a file gets lines of one width."""
    columns = shutil.get_terminal_size((_WIDTH, 0)).columns
    return max(_NARROWEST, min(columns, _WIDEST))


def wrapped(head: str, text: str) -> Iterator[str]:
    """Lines no longer than the terminal; what follows the first hangs below its text."""
    hang = " " * (len(head) if len(head) <= 36 else len(head) - len(head.lstrip()) + 4)
    yield from textwrap.wrap(
        head + text,
        _width(),
        subsequent_indent=hang,
        break_long_words=False,
        break_on_hyphens=False,
    ) or [head.rstrip()]
