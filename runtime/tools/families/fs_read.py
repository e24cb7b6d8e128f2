"""Files of the workspace, read."""

from __future__ import annotations

import hashlib
import itertools
import os
import stat
from collections.abc import Iterable, Iterator
from typing import BinaryIO, Final, TypeVar

import anyio
from anyio.from_thread import check_cancelled

from runtime.tools.apart import apart
from runtime.tools.base import Arguments, Context, Run, Schema, Tool, ToolResult
from runtime.tools.define import (
    LOCAL,
    PATH,
    arguments,
    as_text,
    flag,
    number,
    on_thread,
    says_failures,
    text,
)
from runtime.tools.matching import MOST, Search, matches, walk
from runtime.tools.paths import opened, reading

FAMILY: Final = "fs_read"
_CHUNK: Final = 1 << 16
_KINDS: Final = {stat.S_IFDIR: "/", stat.S_IFLNK: "@", stat.S_IFIFO: "|", stat.S_IFSOCK: "="}


@on_thread
def read_file(given: Arguments, context: Context) -> ToolResult:
    """A part of a file, or all of it up to the cap."""
    start, lines = given.get("from_line", 1), given.get("lines")
    most = context.settings.tools.output
    with reading(context.workspace, given["path"]) as file:
        for _ in range(start - 1):
            if not _skipped(file):
                break
        data = file.read(most + 1) if lines is None else b"".join(_lines(file, lines, most + 1))
    return ToolResult(as_text(data[:most]), truncated=len(data) > most)


def _skipped(file: BinaryIO) -> bool:
    """Go past a line, however long; whether there was one."""
    while piece := file.readline(_CHUNK):
        check_cancelled()
        if piece.endswith(b"\n"):
            return True
    return False


def _lines(file: BinaryIO, count: int, most: int) -> Iterator[bytes]:
    for _ in range(count):
        line = file.readline(most)
        if not line or most <= 0:
            return
        most -= len(line)
        yield line


@on_thread
def list_dir(given: Arguments, context: Context) -> ToolResult:
    """The names in a folder, each with a mark of what it is."""
    flags = os.O_RDONLY | os.O_DIRECTORY
    with (
        opened(context.workspace, given.get("path", "."), flags) as descriptor,
        os.scandir(descriptor) as entries,
    ):
        names = sorted(entry.name + _mark(entry) for entry in entries)
    return _listed(names)


def _mark(entry: os.DirEntry[str]) -> str:
    return _KINDS.get(stat.S_IFMT(entry.stat(follow_symlinks=False).st_mode), "")


def _listed(names: list[str]) -> ToolResult:
    said = "".join(f"{name}\n" for name in names[:MOST])
    return ToolResult(said, truncated=len(names) > MOST)


@on_thread
def glob(given: Arguments, context: Context) -> ToolResult:
    """The paths that match a pattern."""
    wanted = given["pattern"]
    found = walk(context.workspace, given.get("path", "."))
    return _listed(sorted(name for name, _ in _heeding(found) if matches(wanted, name)))


T = TypeVar("T")


def _heeding(found: Iterable[T]) -> Iterator[T]:
    """The same, which ends where nobody waits for it any more."""
    for each in found:
        check_cancelled()
        yield each


@says_failures
async def grep(given: Arguments, context: Context) -> ToolResult:
    """The lines that hold a text or match a pattern, as ``path:line:text``."""
    search = Search(
        given["pattern"], given.get("regex", False), given.get("path", "."), given.get("glob")
    )
    if search.regex:
        return await apart(search, context)
    return await anyio.to_thread.run_sync(_grep, search, context, abandon_on_cancel=True)


def _grep(search: Search, context: Context) -> ToolResult:
    found = search.lines(context.workspace, check_cancelled)
    return _listed(list(itertools.islice(found, MOST + 1)))


@on_thread
def stat_path(given: Arguments, context: Context) -> ToolResult:
    """What is known of a path: kind, size, mode, times."""
    with opened(context.workspace, given["path"], os.O_PATH) as descriptor:
        status = os.fstat(descriptor)
    kind = _KINDS.get(stat.S_IFMT(status.st_mode), "file").replace("/", "folder")
    said = (
        f"kind: {kind}\nsize: {status.st_size}\nmode: {stat.S_IMODE(status.st_mode):04o}\n"
        f"owner: {status.st_uid}:{status.st_gid}\nmodified: {status.st_mtime_ns // 10**9}\n"
    )
    return ToolResult(said)


@on_thread
def hash_file(given: Arguments, context: Context) -> ToolResult:
    """The SHA-256 of a file."""
    total = hashlib.sha256()
    with reading(context.workspace, given["path"]) as file:
        while chunk := file.read(_CHUNK):
            check_cancelled()
            total.update(chunk)
    return ToolResult(f"sha256:{total.hexdigest()}\n")


def _tool(name: str, summary: str, schema: Schema, run: Run) -> Tool:
    return Tool(name, FAMILY, summary, schema, run, True, True, LOCAL)


TOOLS: Final = (
    _tool(
        "read_file",
        "Read a text file, or some of its lines.",
        arguments(
            "path",
            path=PATH,
            from_line=number("the first line, from 1", minimum=1),
            lines=number("how many lines", minimum=1),
        ),
        read_file,
    ),
    _tool("list_dir", "List a folder.", arguments(path=PATH), list_dir),
    _tool(
        "glob",
        "Find files by a pattern such as src/**/*.py.",
        arguments("pattern", pattern=text("relative to the workspace"), path=PATH),
        glob,
    ),
    _tool(
        "grep",
        "Find lines in files.",
        arguments(
            "pattern",
            pattern=text("a text, or a regular expression"),
            regex=flag("the pattern is a regular expression"),
            path=PATH,
            glob=text("only in files whose path matches"),
        ),
        grep,
    ),
    _tool("stat", "Say what a path is.", arguments("path", path=PATH), stat_path),
    _tool("hash", "Say the SHA-256 of a file.", arguments("path", path=PATH), hash_file),
)
