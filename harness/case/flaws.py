"""Structural errors in our words: what came, what was expected, what to write.

jsonschema finds them; of several branches the one that fits best is explained, not all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

from harness.case import grammar
from harness.case.advice import expected, instead, of_several
from harness.case.errors import closest, nearest, quoted
from harness.case.fields import CASE_ID, ID
from harness.case.grammar import PATH_INSIDE
from harness.case.meant import elsewhere, meant, other_parameter
from harness.case.patterns import PATTERNS
from harness.case.words import kind_of, name_of, write
from harness.case.yaml_build import Keys
from harness.services.base import HOST_NAMES

#: A ``ValidationError`` of jsonschema, whose own types admit values that it never gives.
Error: TypeAlias = Any

#: How many names a hint says; what there are more of, ``explain`` lists.
_MOST: Final = 12
_LISTED: Final = ("oracle", "fault")
#: What the patterns of names and paths mean.
_MEANT: Final[Mapping[str, str]] = {
    PATH_INSIDE: "a relative path that stays inside, such as docs/notes.txt",
    CASE_ID: "a-z, 0-9 and - between them, such as rate-limit-once",
    ID: "a-z, 0-9 and ., _ or - between them, such as first-try",
    str(HOST_NAMES["pattern"]): "a host name of a-z, 0-9 and -, such as api",
    **PATTERNS,
}


@dataclass(frozen=True, slots=True)
class Flaw:
    """One structural error.

    Attributes:
        path: where, from the top of the data.
        message: what is wrong.
        hint: what to write.
        at_key: the place is the key of ``path``, not its value.
        harmless: the rest of what it is in can still be read.
        means: the known key that an unknown one most likely stands for.
        lacks: keys of which one is not there; no flaw of its own where another means it.
    """

    path: Keys
    message: str
    hint: str = ""
    at_key: bool = False
    harmless: bool = False
    means: str = ""
    lacks: frozenset[str] = frozenset()

    @property
    def within(self) -> Keys:
        """The map that it is about."""
        return self.path[:-1] if self.at_key else self.path


def explain(error: Error, path: Keys) -> Iterator[Flaw]:
    """What an error of jsonschema says, in our words; ``path`` leads to what was validated."""
    here = (*path, *error.absolute_path)
    if "propertyNames" in error.absolute_schema_path:
        yield from _name_of_key(error, here)
        return
    words = _EXPLAIN.get(str(error.validator))
    if words is None:
        yield Flaw(here, error.message)
    else:
        yield from words(error, here)


def told(flaws: Iterable[Flaw]) -> Iterator[Flaw]:
    """Each once; what lacks a key is left out where an unknown key most likely means it."""
    each = list(flaws)
    meant = {(flaw.within, flaw.means) for flaw in each if flaw.means}
    lacking = {(flaw.within, name) for flaw in each for name in flaw.lacks}
    seen = set()
    for flaw in each:
        known = (flaw.path, flaw.message) in seen
        seen.add((flaw.path, flaw.message))
        if not known and meant.isdisjoint((flaw.within, name) for name in flaw.lacks):
            here = (flaw.within, flaw.means)
            yield replace(flaw, harmless=False) if here in lacking else flaw


def _unknown_keys(error: Error, here: Keys) -> Iterator[Flaw]:
    known = error.schema.get("properties", {})
    noun = error.schema.get("title", "key")
    for key in error.instance:
        if key not in known:
            names = [name for name in known if noun == "key" or name != "id"]
            message, means = f"unknown {noun} {quoted(key)}", meant(key, names)
            harmless = noun == "key"
            hint = elsewhere(here, key, error.instance[key], known, means)
            hint = hint or _explained(noun, key, names)
            hint = hint or nearest(key, names, most=len(names) if harmless else _MOST)
            yield Flaw((*here, key), message, hint, True, harmless, means)


def _explained(noun: str, name: str, names: Sequence[str]) -> str:
    """Where to read of them all, where a name is near to none of many."""
    many = noun in _LISTED and len(names) > _MOST and closest(name, names) is None
    return f"shakeout explain {noun}s lists them" if many else ""


def _name_of_key(error: Error, here: Keys) -> Iterator[Flaw]:
    """A key has no path of its own in jsonschema."""
    key = error.instance
    hint = "write another name"
    if error.validator == "pattern":
        pattern = error.validator_value
        hint = f"write {_MEANT[pattern]}"
    yield Flaw((*here, key), f"{quoted(key)} cannot stand here as a key", hint, True)


def _excluded(error: Error, here: Keys) -> Iterator[Flaw]:
    """``not`` is used for keys that exclude one another."""
    wrong = error.validator_value
    names = [name for one in (wrong, *wrong.get("anyOf", ())) for name in one.get("required", ())]
    present = [name for name in names if name in error.instance]
    path = (*here, present[0]) if present else here
    what = present[0] if present else quoted(error.instance)
    yield Flaw(path, f"{what} cannot stand here beside the rest", "keep one of them", bool(present))


def _missing(error: Error, here: Keys) -> Iterator[Flaw]:
    for name in error.validator_value:
        if name not in error.instance:
            yield Flaw(
                here,
                f"{name_of(here)} lacks {name}",
                write((*here, name), error.schema.get("properties", {}).get(name, {})),
                lacks=frozenset({name}),
            )


def _type(error: Error, here: Keys) -> Iterator[Flaw]:
    if "enum" in error.schema or "const" in error.schema:
        return  # told by those
    hint = instead(error.instance, error.schema, name_of(here)) or write(here, error.schema)
    if here[:1] == ("services",) and here[2:] and here[2] in error.schema.get("properties", {}):
        hint = f"a host name goes first: {here[1]}: {{NAME: {{{here[2]}: {error.instance}}}}}"
    hint = other_parameter(here, error.instance) or hint
    message = f"expected {expected(error.schema)}, came {kind_of(error.instance)}"
    yield Flaw(here, message, hint)


def _enum(error: Error, here: Keys) -> Iterator[Flaw]:
    noun = error.schema.get("title")
    known = [value if isinstance(value, str) else quoted(value) for value in error.validator_value]
    value = error.instance
    hint = instead(value, error.schema)
    if not hint:
        hint = write(here, error.schema) if len(known) == 1 else ""
        near = _explained(noun or "", str(value), known) or nearest(str(value), known)
        hint = hint if hint and not closest(str(value), known) else near
    yield Flaw(here, _unknown(noun, value, here), hint)


def _unknown(noun: str | None, value: object, here: Keys) -> str:
    return (
        f"unknown {noun} {quoted(value)}" if noun else f"{name_of(here)} cannot be {quoted(value)}"
    )


def _const(error: Error, here: Keys) -> Iterator[Flaw]:
    wanted = expected(error.schema)
    hint = instead(error.instance, error.schema) or f"write {wanted}"
    yield Flaw(here, f"expected {wanted}, came {kind_of(error.instance)}", hint)


def _pattern(error: Error, here: Keys) -> Iterator[Flaw]:
    noun = error.schema.get("title")
    examples = ", ".join(str(value) for value in error.schema.get("examples", ()))
    pattern = error.validator_value
    hint = f"write one such as {examples}" if examples else f"write {_MEANT[pattern]}"
    what = f"is no {noun}" if noun else f"does not fit {name_of(here)}"
    yield Flaw(here, f"{quoted(error.instance)} {what}", hint)


def _format(error: Error, here: Keys) -> Iterator[Flaw]:
    cause = error.cause
    hint = cause.hint if isinstance(cause, grammar.GrammarError) else ""
    yield Flaw(here, f"{quoted(error.instance)} {cause or 'is wrong'}", hint)


def _bound(words: str) -> Callable[[Error, Keys], Iterator[Flaw]]:
    def explain(error: Error, here: Keys) -> Iterator[Flaw]:
        limit = error.validator_value
        yield Flaw(
            here,
            f"expected {words} {limit}, came {quoted(error.instance)}",
            write(here, error.schema),
        )

    return explain


def _amount(error: Error, here: Keys) -> Iterator[Flaw]:
    what = {"Items": "entries", "Length": "characters", "Properties": "keys"}
    keyword = str(error.validator)
    bound = "at least" if keyword.startswith("min") else "at most"
    noun = what[keyword[3:]] if error.validator_value != 1 else _singular(what[keyword[3:]])
    came = len(error.instance)
    found = "it is empty" if came == 0 else f"there are {came}"
    hint = write(here, error.schema) if keyword.startswith("min") else "leave some out"
    yield Flaw(here, f"expected {bound} {error.validator_value} {noun}, {found}", hint)


def _singular(noun: str) -> str:
    return {"entries": "entry", "characters": "character", "keys": "key"}[noun]


def _twice(error: Error, here: Keys) -> Iterator[Flaw]:
    values = error.instance
    for at, value in enumerate(values):
        if value in values[:at]:
            first = values.index(value) + 1
            yield Flaw((*here, at), f"is the same as entry {first}", "keep one of them")


def _dependent(error: Error, here: Keys) -> Iterator[Flaw]:
    for key, needed in error.validator_value.items():
        for name in needed:
            if key in error.instance and name not in error.instance:
                message, hint = f"{key} goes only with {name}", f"write {name} too"
                yield Flaw((*here, key), message, hint, True, lacks=frozenset({name}))


def _branches(error: Error, here: Keys) -> Iterator[Flaw]:
    branches = error.validator_value
    if all(set(branch) == {"required"} for branch in branches):
        if isinstance(error.instance, dict):  # another kind is told by its type
            yield _one_key(error, here, [branch["required"][0] for branch in branches])
        return
    grouped: dict[int, list[Error]] = {}
    for inner in error.context or ():
        grouped.setdefault(int(inner.schema_path[0]), []).append(inner)
    fitting = [errors for errors in grouped.values() if not any(map(_other_type, errors))]
    best = min(fitting, key=lambda errors: (_no_choice(errors), len(errors)), default=None)
    if not grouped:
        yield Flaw(here, "fits more than one form", error.schema.get("description", ""))
    elif best is None or _no_choice(best):
        yield _no_form(error, here)
    else:
        base = here[: len(here) - len(error.absolute_path)]
        for inner in best:
            yield from explain(inner, base)


def _no_form(error: Error, here: Keys) -> Flaw:
    branches, value = error.validator_value, error.instance
    noun = next((branch["title"] for branch in branches if "title" in branch), None)
    if noun and isinstance(value, str):
        message = _unknown(noun, value, here)
    else:
        forms = dict.fromkeys(map(expected, branches))
        message = f"expected {' or '.join(forms)}, came {kind_of(value)}"
    if noun == "subject" and value == "command":
        return Flaw(here, message, 'write command: [PROGRAM, "{task}"]')
    if noun == "subject" and isinstance(value, str) and "/" in value:
        return Flaw(here, message, f"write {{command: [{value}]}}")
    return Flaw(here, message, of_several(value, branches))


def _other_type(error: Error) -> bool:
    """Whether the branch is out because the value is of another kind altogether."""
    return not error.path and error.validator in {"type", "const"}


def _no_choice(errors: list[Error]) -> bool:
    return any(not error.path and error.validator == "enum" for error in errors)


def _one_key(error: Error, here: Keys, names: list[str]) -> Flaw:
    present = [name for name in error.instance if name in names]
    choice = ", ".join(names)
    if len(present) > 1:
        return Flaw(
            (*here, present[1]), f"{present[1]} stands beside {present[0]}", "keep one", True
        )
    amount = "exactly one" if error.validator == "oneOf" else "at least one"
    message, hint = f"{name_of(here)} has none of {choice}", f"write {amount} of them"
    return Flaw(here, message, hint, lacks=frozenset(names))


_EXPLAIN: Mapping[str, Callable[[Error, Keys], Iterator[Flaw]]] = {
    "additionalProperties": _unknown_keys,
    "required": _missing,
    "type": _type,
    "enum": _enum,
    "const": _const,
    "pattern": _pattern,
    "format": _format,
    "minimum": _bound("at least"),
    "maximum": _bound("at most"),
    "exclusiveMinimum": _bound("more than"),
    "exclusiveMaximum": _bound("less than"),
    "minItems": _amount,
    "maxItems": _amount,
    "minLength": _amount,
    "maxLength": _amount,
    "minProperties": _amount,
    "maxProperties": _amount,
    "uniqueItems": _twice,
    "dependentRequired": _dependent,
    "not": _excluded,
    "oneOf": _branches,
    "anyOf": _branches,
}
