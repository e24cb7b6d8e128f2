"""What a call would write, whatever it is spelled like. What cannot be told is an effect too.

Only what a tool was given is looked at, never what is there: a guard that asked the workspace would
believe whoever wrote it. There are two exceptions, which can only find more: links are followed to
what they lead to, and folders are looked through for what is protected in them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

from runtime.recovery.guard import shell, sql
from runtime.recovery.guard.changes import paths_of
from runtime.recovery.guard.commands import GIT_OPTIONS
from runtime.recovery.guard.spelled import plain
from runtime.recovery.guard.table import Effect
from runtime.tools.base import Context, Tool, ToolCall

#: What is protected in any workspace.
PROTECTED: Final = (
    ".git",
    ".git/*",
    "*/.git/*",
    "*/.git",
    ".ssh/*",
    "*/.ssh/*",
    "*.pem",
    "*.key",
    "*.db",
    "*.sqlite",
    "*.sqlite3",
    ".env",
    "*/.env",
    ".agentd/*",
    "*/.agentd/*",
)
#: Entries of a folder that are looked at; a larger one counts as holding something protected.
MOST: Final = 5000
_FAMILIES: Final[Mapping[str, Effect]] = {
    "git_write": Effect.GIT,
    "host": Effect.SERVICES,
    "build": Effect.PROGRAM,
    "human": Effect.SERVICES,
    "job": Effect.PROGRAM,
}
_INSTALLS: Final = frozenset({"pip_install", "npm_install", "sys_pkg"})


def effects(call: ToolCall, tool: Tool, context: Context) -> frozenset[Effect]:
    """What a call would write or change; empty where it only reads."""
    if tool.read_only:
        return frozenset(_of_reader(call, tool))
    special = _SPECIAL.get(tool.family)
    if special is None:
        return frozenset({Effect.OPAQUE})
    return frozenset(special(call, tool, context))


def _of_reader(call: ToolCall, tool: Tool) -> Iterator[Effect]:
    """A tool that reads still writes where an argument is an option, or a statement, that does."""
    for text in _texts(call.arguments):
        if tool.family == "git_read" and _option(text):
            yield Effect.FILES
        if tool.family == "db":
            yield from sql.effects(text)


def _option(text: str) -> bool:
    return plain(text).strip().startswith(GIT_OPTIONS)


def _of_paths(call: ToolCall, tool: Tool, context: Context) -> Iterator[Effect]:
    names = list(paths_of(tool))
    if not names:
        yield Effect.OPAQUE
    for name in names:
        if name in call.arguments:
            yield from of_path(str(call.arguments[name]), context)


def of_path(written: str, context: Context) -> Iterator[Effect]:
    """What it is to write a path: a file, and a protected one as well where it is."""
    yield Effect.FILES
    if "\0" in written:
        return  # no path, and no tool takes it for one
    if protected(written, context) or holds_protected(written, context):
        yield Effect.PROTECTED


def holds_protected(written: str, context: Context) -> bool:
    """Whether a folder has something protected in it, or cannot be looked through to the end."""
    top = context.workspace / written
    try:
        if top.is_symlink() or not top.is_dir():
            return False
    except (OSError, ValueError):  # what cannot be found cannot be moved or deleted either
        return False
    globs, looked = _globs(context), 0
    try:
        for folder, folders, files in os.walk(top, onerror=_unreadable):
            looked += len(folders) + len(files)
            if looked > MOST:
                return True
            below = Path(folder).relative_to(context.workspace)
            if any(_matches(plain(str(below / name)), globs) for name in (*folders, *files)):
                return True
    except (OSError, ValueError):
        return True
    return False


def _unreadable(error: OSError) -> None:
    raise error


def protected(written: str, context: Context) -> bool:
    """Whether a path is protected, as it is written or as what its links lead to."""
    top = context.workspace
    globs = _globs(context)
    return any(_matches(name, globs) for name in _names(written, top))


def _globs(context: Context) -> list[str]:
    return [plain(glob) for glob in (*PROTECTED, *context.settings.recovery.protected)]


def _matches(name: str, globs: list[str]) -> bool:
    return any(
        fnmatchcase(name, glob) or fnmatchcase(f"{name}/", glob.removesuffix("*")) for glob in globs
    )


def _names(written: str, top: Path) -> Iterator[str]:
    """A path relative to the workspace, in each way that it can be called."""
    lexical = Path(written) if Path(written).is_absolute() else top / written
    for path in (_flat(lexical), Path(_real(lexical)), _flat(Path(plain(str(lexical))))):
        for base in (top, Path(_real(top)), Path(plain(str(top)))):
            if path.is_relative_to(base):
                yield plain(str(path.relative_to(base)))
                break
        else:
            yield plain(str(path)).lstrip("/")


def _flat(path: Path) -> Path:
    parts: list[str] = []
    for part in path.parts:
        if part == ".." and len(parts) > 1:
            parts.pop()
        elif part not in ("..", "."):
            parts.append(part)
    return Path(*parts)


def _real(path: Path) -> str:
    try:
        return str(path.resolve())
    except (OSError, RuntimeError):
        return str(path)


def _of_shell(call: ToolCall, tool: Tool, context: Context) -> Iterator[Effect]:
    if tool.name == "signal":
        yield Effect.PROCESSES
        return
    for command in _texts(call.arguments):
        for effect, paths in shell.effects(command):
            yield effect
            for path in paths:
                yield from of_path(path, context)


def _of_database(call: ToolCall, tool: Tool, context: Context) -> Iterator[Effect]:  # noqa: ARG001
    yield Effect.DATABASE


def _of_net(call: ToolCall, tool: Tool, context: Context) -> Iterator[Effect]:
    yield Effect.SERVICES
    yield from _of_paths(call, tool, context) if list(paths_of(tool)) else ()


def _of_packages(call: ToolCall, tool: Tool, context: Context) -> Iterator[Effect]:  # noqa: ARG001
    yield Effect.PACKAGES if tool.name in _INSTALLS else Effect.PROGRAM


def _of_family(call: ToolCall, tool: Tool, context: Context) -> Iterator[Effect]:  # noqa: ARG001
    yield _FAMILIES[tool.family]


def _texts(value: Any) -> Iterator[str]:
    """Every text in arguments, however deep."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _texts(key)
            yield from _texts(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner)


_SPECIAL: Final[Mapping[str, Callable[[ToolCall, Tool, Context], Iterator[Effect]]]] = {
    "fs_write": _of_paths,
    "shell": _of_shell,
    "db": _of_database,
    "net": _of_net,
    "pkg": _of_packages,
    **dict.fromkeys(_FAMILIES, _of_family),
}
