"""Files of the workspace, read."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Final

from runtime.tools.base import Arguments, Context, Run, Schema, Tool, ToolResult
from runtime.tools.define import LOCAL, PATH, arguments, as_text, flag, number, on_thread, text
from runtime.tools.paths import inside, opened

FAMILY: Final = "fs_read"
_CHUNK: Final = 1 << 16
#: Entries that a listing names, and files that a search looks into.
MOST: Final = 10_000
_KINDS: Final = {stat.S_IFDIR: "/", stat.S_IFLNK: "@", stat.S_IFIFO: "|", stat.S_IFSOCK: "="}


@on_thread
def read_file(given: Arguments, context: Context) -> ToolResult:
    """A part of a file, or all of it up to the cap."""
    start, lines = given.get("from_line", 1), given.get("lines")
    most = context.settings.tools.output
    with opened(context.workspace, given["path"], os.O_RDONLY | os.O_NONBLOCK) as descriptor:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return ToolResult(error=f"{given['path']}: Is not a regular file\n", exit_code=1)
        with os.fdopen(os.dup(descriptor), "rb") as file:
            for _ in range(start - 1):
                if not file.readline(_CHUNK):
                    break
            data = file.read(most + 1) if lines is None else b"".join(_lines(file, lines, most + 1))
    return ToolResult(as_text(data[:most]), truncated=len(data) > most)


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
    wanted = _pattern(given["pattern"])
    names = (name for name, _ in _walk(context, given.get("path", ".")) if wanted.fullmatch(name))
    return _listed(sorted(names))


def _pattern(pattern: str) -> re.Pattern[str]:
    """A pattern: ``**`` crosses folders, ``*`` and ``?`` do not."""
    parts = []
    for piece in re.split(r"(\*\*/|\*\*|\*|\?)", pattern):
        special = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
        parts.append(special.get(piece, re.escape(piece)))
    return re.compile("".join(parts))


def _walk(context: Context, path: str) -> Iterator[tuple[str, os.stat_result]]:
    """Everything below a folder that is no folder, by its path in the workspace; no links followed."""
    top = Path(os.path.realpath(context.workspace))
    begin = inside(context.workspace, path)
    (top / begin).lstat()
    for parent, folders, names in os.walk(top / begin, onerror=None):
        folders.sort()
        for name in sorted(names):
            found = Path(parent, name)
            try:
                yield str(PurePosixPath(found.relative_to(top))), found.lstat()
            except OSError:
                continue


@on_thread
def grep(given: Arguments, context: Context) -> ToolResult:
    """The lines that hold a text or match a pattern, as ``path:line:text``."""
    try:
        wanted = re.compile(given["pattern"] if given.get("regex") else re.escape(given["pattern"]))
    except re.error as error:
        return ToolResult(error=f"grep: invalid regular expression: {error}\n", exit_code=2)
    glob = _pattern(given["glob"]) if "glob" in given else None
    found: list[str] = []
    for name, status in _walk(context, given.get("path", ".")):
        if stat.S_ISREG(status.st_mode) and (glob is None or glob.fullmatch(name)):
            found.extend(_matches(context, name, wanted))
        if len(found) > MOST:
            break
    return _listed(found)


def _matches(context: Context, name: str, wanted: re.Pattern[str]) -> Iterator[str]:
    try:
        with (
            opened(context.workspace, name, os.O_RDONLY | os.O_NONBLOCK) as descriptor,
            os.fdopen(os.dup(descriptor), "rb") as file,
        ):
            for place, line in enumerate(file, 1):
                said = as_text(line[:_CHUNK].rstrip(b"\r\n"))
                if wanted.search(said):
                    yield f"{name}:{place}:{said}"
    except OSError:
        return


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
    with (
        opened(context.workspace, given["path"], os.O_RDONLY | os.O_NONBLOCK) as descriptor,
        os.fdopen(os.dup(descriptor), "rb") as file,
    ):
        while chunk := file.read(_CHUNK):
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
