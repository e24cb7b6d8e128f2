"""The one call that a failure's class allows to be tried: the same, or the same put right."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from runtime.recovery.guard import spelled
from runtime.recovery.guard.table import TABLE, Change
from runtime.recovery.observe import Failed
from runtime.tools.base import Arguments, Context, Tool, ToolCall
from runtime.tools.calling import problems

#: The ``format`` by which a tool's schema marks an argument as a path in the workspace.
PATH: Final = "path"
_TRUE: Final = {"true": True, "false": False}


def changed(failed: Failed, context: Context) -> ToolCall | None:
    """The call that may be tried, or ``None`` where the table allows none that could help."""
    change = TABLE.get(failed.classified.cls)
    if change is None:
        return None
    arguments = _CHANGES[change](failed, context)
    if arguments is None or problems(failed.tool, arguments):
        return None
    return replace(failed.call, arguments=arguments)


def _same(failed: Failed, context: Context) -> Arguments | None:  # noqa: ARG001
    return failed.call.arguments


def _coerced(failed: Failed, context: Context) -> Arguments | None:  # noqa: ARG001
    """The same values in the types that the schema asks for, if they were not so before."""
    types = failed.tool.schema.get("properties", {})
    arguments = {
        name: _as(value, types.get(name, {})) for name, value in failed.call.arguments.items()
    }
    return None if arguments == failed.call.arguments else arguments


def _as(value: Any, schema: Mapping[str, Any]) -> Any:
    """A value in the type of a schema, where it is the same value; else as it is."""
    convert = _CONVERSIONS.get(str(schema.get("type")))
    if convert is None:
        return value
    try:
        return convert(value)
    except (ValueError, KeyError, TypeError):
        return value


def _number(value: Any) -> int | float:
    if isinstance(value, bool) or not isinstance(value, str):
        raise TypeError(value)
    found = json.loads(value)
    if isinstance(found, bool) or not isinstance(found, int | float):
        raise TypeError(value)
    return found


def _integer(value: Any) -> int:
    found = value if isinstance(value, float) else _number(value)
    if found != int(found):
        raise ValueError(value)
    return int(found)


def _boolean(value: Any) -> Any:
    return _TRUE[value.lower()] if isinstance(value, str) else value


def _string(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return json.dumps(value)


def _array(value: Any) -> Any:
    if not isinstance(value, str):
        return value if isinstance(value, list) else [value]
    try:
        found = json.loads(value)
    except ValueError:
        found = None
    return found if isinstance(found, list) else [value]


def _object(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) else value


def _stricter(failed: Failed, context: Context) -> Arguments | None:  # noqa: ARG001
    """With the next of the stricter forms that the tool itself declares."""
    forms = failed.tool.strict
    if failed.number >= len(forms):
        return None
    return {**failed.call.arguments, **forms[failed.number]}


def _path(failed: Failed, context: Context) -> Arguments | None:
    """With the path that was meant: a declared alias, or the same in the case that is there."""
    names = list(paths_of(failed.tool))
    found = {
        name: meant
        for name in names
        if isinstance(written := failed.call.arguments.get(name), str)
        and (meant := spelled.meant(written, context)) is not None
    }
    return {**failed.call.arguments, **found} if found else None


def paths_of(tool: Tool) -> Iterator[str]:
    """The arguments of a tool that are paths."""
    for name, schema in tool.schema.get("properties", {}).items():
        if schema.get("format") == PATH:
            yield name


_CONVERSIONS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
    "string": _string,
    "array": _array,
    "object": _object,
}
_CHANGES: Final[Mapping[Change, Callable[[Failed, Context], Arguments | None]]] = {
    Change.NONE: _same,
    Change.COERCED: _coerced,
    Change.STRICTER: _stricter,
    Change.PATH: _path,
}
