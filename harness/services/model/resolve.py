"""A script's call as the tool call that this request's own tools allow.

``run``, ``write`` and ``read`` become the tool of that kind: the one that the subject's
dialect names if it is offered, else one whose schema has the arguments for it. Writing and
reading fall back on the shell. Nothing fitting offered: the call is made by the literal name,
and what the agent makes of that is its own affair.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.case.model import Call
from harness.extension import Schema
from harness.services.model.heard import Heard, Tool
from harness.services.model.protocols.base import dumps
from harness.services.model.schema_fill import (
    complete,
    enumeration,
    kind_of,
    properties,
    required,
    variant,
)
from harness.subjects.base import Dialect

_COMMANDS = ("command", "cmd", "commands", "script", "shell_command", "command_line", "cmdline")
_PATHS = ("file_path", "filepath", "absolute_path", "path", "filename", "file_name", "target_file",
          "file", "uri", "target")  # fmt: skip
_ABSOLUTE = frozenset({"file_path", "filepath", "absolute_path"})  # by every agent seen with them
_TEXTS = ("content", "contents", "file_text", "text", "file_content", "new_content", "data", "body")
_SHELLISH = re.compile(r"bash|shell|exec|terminal|command|cmd|\brun", re.IGNORECASE)
_WRITERS = re.compile(r"write|create|save|put", re.IGNORECASE)
_READERS = re.compile(r"read|view|cat\b|open|get_file|load", re.IGNORECASE)
_NOT_WRITERS = re.compile(r"append|insert|replace|patch|notebook|todo", re.IGNORECASE)
_NOT_READERS = re.compile(
    r"list|dir|search|grep|glob|write|create|notebook|resource|image|media|url", re.IGNORECASE
)
_WRITE_VERBS, _READ_VERBS = ("create", "write"), ("view", "read")


@dataclass(frozen=True, slots=True)
class Places:
    """Where the agent works, for tools that take absolute paths only."""

    workspace: str = "/workspace"
    home: str = "/home/agent"

    def absolute(self, path: str) -> str:
        """The path that a script's relative one, or one in the home, means."""
        if path == "~" or path.startswith("~/"):
            return posixpath.join(self.home, path[2:])
        return posixpath.join(self.workspace, path)


INSIDE = Places()


@dataclass(frozen=True, slots=True)
class Resolved:
    """A call by the name of a tool; ``arguments`` is JSON text, or plain text if freeform."""

    name: str
    arguments: str
    namespace: str = ""
    freeform: bool = False


def resolve(call: Call, heard: Heard, dialect: Dialect, places: Places = INSIDE) -> Resolved:
    """Put one call of the script into the words of the tools that are offered."""
    if call.kind == "call":
        return _literal(call.name, call.args, heard)
    tool = _chosen(call.kind, heard, dialect)
    if tool is not None:
        return _made(tool, _FILL[call.kind](tool, call.args, places), dialect)
    if call.kind in ("write", "read"):
        shell = _chosen("run", heard, dialect)
        if shell is not None:
            return _made(shell, _fill_run(shell, {"command": in_shell(call)}, places), dialect)
    return _literal(call.kind, call.args, heard)


def in_shell(call: Call) -> str:
    """A ``write`` or ``read`` as a shell command; quoted, so that any text stays what it is."""
    path = str(call.args["path"])
    quoted = _shell_path(path)
    if call.kind == "read":
        return f"cat -- {quoted}"
    folder = posixpath.dirname(path)
    command = f"printf %s {shlex.quote(str(call.args['text']))} > {quoted}"
    return f"mkdir -p -- {_shell_path(folder)} && {command}" if folder not in ("", "/") else command


def _shell_path(path: str) -> str:
    if path == "~":
        return "~"
    return f"~/{shlex.quote(path[2:])}" if path.startswith("~/") else shlex.quote(path)


def _literal(name: str, args: Mapping[str, Any], heard: Heard) -> Resolved:
    tool = heard.tool(name)
    if tool is None:
        return Resolved(name, dumps(args))
    if tool.freeform and len(args) == 1:
        return Resolved(tool.name, str(next(iter(args.values()))), tool.namespace, freeform=True)
    return Resolved(tool.name, dumps(args), tool.namespace)


def _made(tool: Tool, args: Mapping[str, Any], dialect: Dialect) -> Resolved:
    given = {**dialect.extra.get(tool.name, {}), **args}
    return Resolved(tool.name, dumps(complete(tool.schema, given)), tool.namespace)


def _chosen(kind: str, heard: Heard, dialect: Dialect) -> Tool | None:
    fits = _FITS[kind]
    for name in dialect.tools.get(kind, ()):
        tool = heard.tool(name)
        if tool is not None and not tool.freeform:
            return tool
    scored = [(fits(tool), -at, tool) for at, tool in enumerate(heard.tools) if not tool.freeform]
    score, _, best = max(scored, key=lambda each: each[:2], default=(0, 0, None))
    return best if score > 0 else None


def _fits_run(tool: Tool) -> int:
    key = _key(tool, _COMMANDS)
    if key is None or enumeration(properties(tool.schema)[key]):
        return 0
    return 1 + 4 * bool(_SHELLISH.search(tool.name)) + 2 * (key in required(tool.schema))


def _fits_write(tool: Tool) -> int:
    if _key(tool, _PATHS) is None or _key(tool, _TEXTS) is None:
        return 0
    if not _does(tool, _WRITE_VERBS, unless=_NOT_WRITERS):
        return 0
    return 1 + 4 * bool(_WRITERS.search(tool.name)) + _spare(tool, (*_PATHS, *_TEXTS))


def _fits_read(tool: Tool) -> int:
    if _key(tool, _PATHS) is None or not _does(tool, _READ_VERBS, unless=_NOT_READERS):
        return 0
    named = bool(_READERS.search(tool.name))
    return 1 + _spare(tool, _PATHS) if named or _verb(tool, _READ_VERBS) else 0


def _spare(tool: Tool, ours: Sequence[str]) -> int:
    """A point for a tool that requires nothing beyond what the script gives."""
    return int(all(name.lower() in ours for name in required(tool.schema)))


def _key(tool: Tool, names: Sequence[str]) -> str | None:
    """The first of ``names`` that the tool knows as an argument, as it spells it."""
    spelled = {name.lower(): name for name in properties(tool.schema)}
    return next((spelled[name] for name in names if name in spelled), None)


def _verb(tool: Tool, verbs: Sequence[str]) -> dict[str, str]:
    """The argument by which an editor is told what to do, set to one of ``verbs``."""
    for name, schema in properties(tool.schema).items():
        for verb in verbs:
            if verb in enumeration(schema):
                return {name: verb}
    return {}


def _does(tool: Tool, verbs: Sequence[str], unless: re.Pattern[str]) -> bool:
    """Whether it does this: by the verbs that it can be told, else by its name."""
    if "command" in properties(tool.schema):
        return bool(_verb(tool, verbs))
    return not unless.search(tool.name)


def _fill_run(tool: Tool, args: Mapping[str, Any], places: Places) -> dict[str, Any]:  # noqa: ARG001
    key = _key(tool, _COMMANDS) or "command"
    return {key: _command(key, properties(tool.schema).get(key, {}), str(args["command"]))}


def _command(key: str, schema: Schema, command: str) -> object:
    """The command in the type that the argument has: text, a list of commands, an argv."""
    chosen = variant(schema)
    if kind_of(schema) != "array":
        return command
    items = chosen.get("items")
    if isinstance(items, Mapping) and kind_of(items) == "object":
        inner = next((name for name in _COMMANDS if name in properties(items)), "command")
        return [complete(items, {inner: command})]
    return [command] if key.endswith("s") else ["bash", "-lc", command]


def _fill_write(tool: Tool, args: Mapping[str, Any], places: Places) -> dict[str, Any]:
    text = _key(tool, _TEXTS) or "content"
    return {**_verb(tool, _WRITE_VERBS), **_path(tool, args, places), text: str(args["text"])}


def _fill_read(tool: Tool, args: Mapping[str, Any], places: Places) -> dict[str, Any]:
    return {**_verb(tool, _READ_VERBS), **_path(tool, args, places)}


def _path(tool: Tool, args: Mapping[str, Any], places: Places) -> dict[str, Any]:
    key = _key(tool, _PATHS) or "path"
    schema = properties(tool.schema).get(key, {})
    path = str(args["path"])
    if key.lower() in _ABSOLUTE or "absolute" in str(schema.get("description", "")).lower():
        path = places.absolute(path)
    return {key: [path] if kind_of(schema) == "array" else path}


_FITS: Mapping[str, Callable[[Tool], int]] = {
    "run": _fits_run,
    "write": _fits_write,
    "read": _fits_read,
}
_FILL: Mapping[str, Callable[[Tool, Mapping[str, Any], Places], dict[str, Any]]] = {
    "run": _fill_run,
    "write": _fill_write,
    "read": _fill_read,
}
