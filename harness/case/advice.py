"""What a schema asks for, and what to write instead of a value of the wrong kind.

Advice is given only where what it says to write would be right: a number where a duration is
asked for gets its unit, not quotes, and text that only lost its way into quotes loses them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from harness.case import grammar
from harness.case.errors import closest, nearest, quoted
from harness.case.grammar import PUBLISHED, GrammarError
from harness.case.words import KINDS, NOUNS, examples_of, is_a, kinds_in_words, sample

Schema = Mapping[str, Any]

#: Characters of a text that could be a number somebody put in quotes.
_LONGEST: Final = 20
_PLAIN: Final = re.compile(r"(?P<whole>-?(?:0|[1-9][0-9]*))|(?P<fraction>-?[0-9]+\.[0-9]+)")
_SHOWN: Final = 6


def expected(schema: Schema) -> str:
    """What a schema asks for."""
    if "enum" in schema:
        return " or ".join(map(_word, schema["enum"][:_SHOWN]))
    if "const" in schema:
        return _word(schema["const"])
    kind = schema.get("type", "")
    noun = NOUNS.get(schema.get("format", ""))
    kinds = [kind] if isinstance(kind, str) else kind
    if noun and "string" in kinds:
        return " or ".join([noun, *(KINDS[one] for one in kinds if one != "string")])
    return kinds_in_words(kind) or "another form"


def instead(value: Any, schema: Schema, name: str = "") -> str:
    """What to write for ``value`` where ``schema`` is asked for under the key ``name``.

    Empty where the value does not show what was meant.
    """
    if isinstance(value, str) and fits(read := _unquoted(value), schema):
        return f"write {_word(read)} without quotes"
    for advise in (_as_text, _as_word, _as_list, _as_key):
        if hint := advise(value, schema):
            return hint
    return _seconds(value, schema) if name == "seconds" else ""


def of_several(value: Any, branches: Sequence[Schema]) -> str:
    """The same where one of ``branches`` is asked for: which one was meant, else all of them."""
    words = [word for branch in branches for word in _words(branch)]
    if isinstance(value, str) and closest(value, words):
        return nearest(value, words)
    for branch in branches:
        if hint := instead(value, branch):
            single = words if hint.endswith("quotes") and len(words) == 1 else ()
            return ", or ".join([hint, *single])
    return f"write {' or '.join(map(_written, branches))}"


def fits(value: Any, schema: Schema) -> bool:
    """Whether a plain value is what a schema asks for, as far as can be told without keys."""
    if "const" in schema or "enum" in schema:
        known = schema.get("enum", [schema.get("const")])
        return any(value == one and type(value) is type(one) for one in known)
    if not any(is_a(value, kind) for kind in _kinds(schema)):
        return False
    if isinstance(value, int) and not isinstance(value, bool):
        return bool(schema.get("minimum", value) <= value <= schema.get("maximum", value))
    return not isinstance(value, str) or _text_fits(value, schema)


def _text_fits(text: str, schema: Schema) -> bool:
    if "pattern" in schema and re.search(schema["pattern"], text) is None:
        return False
    try:
        grammar.FORMATS.get(schema.get("format", ""), str)(text)
    except GrammarError:
        return False
    return True


def _kinds(schema: Schema) -> set[str]:
    kind = schema.get("type", ())
    return {kind} if isinstance(kind, str) else set(kind)


def _unquoted(text: str) -> Any:
    """What the text would be read as without quotes; ``None`` where that is text again."""
    if text in ("true", "false"):
        return text == "true"
    match = _PLAIN.fullmatch(text) if len(text) <= _LONGEST else None
    if match is None:
        return None
    return int(text) if match["whole"] else float(text)


def _as_text(value: Any, schema: Schema) -> str:
    """Where text is asked for, and a number or true or false came."""
    if not isinstance(value, bool | int | float) or "string" not in _kinds(schema):
        return ""
    if form := schema.get("format"):
        if hint := _as_formatted(value, form, schema):
            return hint
    elif "enum" in schema:
        return ""
    if _text_fits(f"0{_word(value)}", schema) and not _text_fits(_word(value), schema):
        return "put it in quotes, with its leading zero"
    return "put it in quotes" if _text_fits(_word(value), schema) else ""


def _as_formatted(value: float, form: str, schema: Schema) -> str:
    """A number with the unit that it lacks; an example where quotes alone would not help."""
    example = next(iter(examples_of(schema)), "")
    if form == "duration" and is_a(value, "integer"):
        example = f"{value}s"
    elif form == "size" and isinstance(value, int) and is_a(value, "integer"):
        example = _sized(value)
    elif _text_fits(_word(value), schema):
        return ""
    return f"write {NOUNS[form]} such as {example}" if example else ""


def _as_word(value: Any, schema: Schema) -> str:
    """Where true or false is asked for, which words such as yes are not."""
    if value not in ("yes", "no", "on", "off"):
        return ""
    if "boolean" in _kinds(schema) or isinstance(schema.get("const"), bool):
        return f"write {expected(schema)}"
    return ""


def _as_list(value: Any, schema: Schema) -> str:
    """Where a list is asked for, and what could be its only entry came."""
    if "array" not in _kinds(schema) or isinstance(value, list):
        return ""
    if isinstance(value, dict):
        return "put it in a list: [{…}]"
    word = _word(value)
    single = re.fullmatch(r"[A-Za-z0-9][\w./-]*", word) and fits(value, schema.get("items", {}))
    return f"write [{word}]" if single else ""


def _sized(value: int) -> str:
    """A number that stands for a size: small ones are meant in MiB, the others in bytes."""
    for unit, factor in (("GiB", 1 << 30), ("MiB", 1 << 20)):
        if value >= factor and value % factor == 0:
            return f"{value // factor}{unit}"
    return f"{value}MiB" if value < 1 << 20 else str(PUBLISHED["size"]["examples"][0])


def _seconds(value: Any, schema: Schema) -> str:
    """Where a number of seconds is asked for, and a duration came."""
    if "number" not in _kinds(schema) or not isinstance(value, str):
        return ""
    try:
        return f"write {grammar.duration(value):g}"
    except GrammarError:
        return ""


def _as_key(value: Any, schema: Schema) -> str:
    """Where a map is asked for: the key that ``value`` is, or that takes such a value."""
    keys: Mapping[str, Schema] = schema.get("properties", {})
    if "object" not in _kinds(schema) or isinstance(value, dict | list) or value is None:
        return ""
    if isinstance(value, str) and value in keys:
        return f"write {{{value}: {sample(keys[value])}}}"
    for key in [*_decisive(schema), *keys]:
        if _telling(keys[key], value) and fits(value, keys[key]):
            return f"write {{{key}: {_word(value)}}}"
    return ""


def _decisive(schema: Schema) -> Iterator[str]:
    for branch in (schema, *schema.get("oneOf", ()), *schema.get("anyOf", ())):
        yield from branch.get("required", ())


def _telling(schema: Schema, value: Any) -> bool:
    """Whether fitting ``schema`` says anything: nearly every text fits one of free text."""
    strict = "enum" in schema or schema.get("format") in PUBLISHED
    return strict or not isinstance(value, str)


def _words(branch: Schema) -> list[str]:
    known = branch.get("enum", [branch["const"]] if "const" in branch else [])
    return [word for word in known if isinstance(word, str)]


def _written(branch: Schema) -> str:
    """A form, as it is asked for in a hint."""
    decisive = list(dict.fromkeys(_decisive(branch)))
    if "object" in _kinds(branch) and decisive:
        return f"{{{decisive[0]}: {sample(branch['properties'][decisive[0]])}}}"
    return expected(branch)


def _word(value: Any) -> str:
    return value if isinstance(value, str) else quoted(value)
