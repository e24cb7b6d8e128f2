"""Files of the workspace, written: whole or not at all, and never through a link that leads out."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
from collections.abc import Iterator
from typing import Final

from anyio.from_thread import check_cancelled

from runtime.tools.base import Arguments, Context, Run, Schema, Tool, ToolResult
from runtime.tools.define import (
    LOCAL,
    PATH,
    arguments,
    as_bytes,
    flag,
    on_thread,
    refused,
    text,
)
from runtime.tools.paths import entry, lexical, opened, reading
from runtime.tools.writing import copied, replacing

FAMILY: Final = "fs_write"
#: Bytes of a file that can be edited.
MOST: Final = 1 << 26


@on_thread
def write_file(given: Arguments, context: Context) -> ToolResult:
    """A file with exactly this text, in place of what was there."""
    path, data = given["path"], as_bytes(given["text"])
    if given.get("folders"):
        _make_folders(context, path)
    with replacing(context.workspace, path) as file:
        file.write(data)
    return ToolResult(f"wrote {len(data)} bytes\n")


def _make_folders(context: Context, path: str) -> None:
    for folder in reversed(lexical(context.workspace, path).parents[:-1]):
        with (
            entry(context.workspace, str(folder)) as (parent, name),
            contextlib.suppress(FileExistsError),
        ):
            os.mkdir(name, dir_fd=parent)


@on_thread
def edit_file(given: Arguments, context: Context) -> ToolResult:
    """A text in a file, replaced by another; unless all are meant, it has to be there just once."""
    path, old, new = given["path"], as_bytes(given["old"]), as_bytes(given["new"])
    with reading(context.workspace, path) as file:
        data = file.read(MOST + 1)
    if len(data) > MOST:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), path)
    count = data.count(old)
    if count == 0:
        return refused(f"{path}: the old text is not in it")
    if count > 1 and not given.get("all"):
        return refused(f"{path}: the old text is in it {count} times; give more of it, or say all")
    with replacing(context.workspace, path) as file:
        file.write(data.replace(old, new))
    return ToolResult(f"replaced {count}\n")


@on_thread
def append_file(given: Arguments, context: Context) -> ToolResult:
    """A text at the end of a file, which is made if it is not there."""
    data = as_bytes(given["text"])
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK
    with opened(context.workspace, given["path"], flags) as descriptor:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "Is not a regular file", given["path"])
        with os.fdopen(os.dup(descriptor), "ab") as file:
            file.write(data)
    return ToolResult(f"appended {len(data)} bytes\n")


@contextlib.contextmanager
def _both(given: Arguments, context: Context) -> Iterator[tuple[int, str, int, str]]:
    """The folders and names of a source and a destination, of which nothing is in the way."""
    source, destination = given["source"], given["destination"]
    with (
        entry(context.workspace, source) as (from_folder, from_name),
        entry(context.workspace, destination) as (to_folder, to_name),
    ):
        os.stat(from_name, dir_fd=from_folder, follow_symlinks=False)
        if not given.get("replace") and _is_there(to_folder, to_name):
            raise OSError(errno.EEXIST, os.strerror(errno.EEXIST), destination)
        yield from_folder, from_name, to_folder, to_name


def _is_there(folder: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


@on_thread
def move(given: Arguments, context: Context) -> ToolResult:
    """A file, folder or link under another name."""
    with _both(given, context) as (from_folder, from_name, to_folder, to_name):
        os.rename(from_name, to_name, src_dir_fd=from_folder, dst_dir_fd=to_folder)
    return ToolResult(f"moved to {given['destination']}\n")


@on_thread
def copy(given: Arguments, context: Context) -> ToolResult:
    """A file, a link, or a folder with all that is in it, once more."""
    source = lexical(context.workspace, given["source"])
    if lexical(context.workspace, given["destination"]).is_relative_to(source):
        raise OSError(errno.EINVAL, "Cannot copy into itself", given["destination"])
    with _both(given, context) as (from_folder, from_name, to_folder, to_name):
        count = copied(from_folder, from_name, to_folder, to_name, check_cancelled)
    return ToolResult(f"copied {count}\n")


@on_thread
def delete(given: Arguments, context: Context) -> ToolResult:
    """A file or link, or a folder; a full one only where that is said."""
    with entry(context.workspace, given["path"]) as (folder, name):
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if not stat.S_ISDIR(status.st_mode):
            os.unlink(name, dir_fd=folder)
        elif given.get("recursive"):
            shutil.rmtree(name, dir_fd=folder)
        else:
            os.rmdir(name, dir_fd=folder)
    return ToolResult("deleted\n")


def _tool(name: str, summary: str, schema: Schema, run: Run, idempotent: bool = False) -> Tool:
    return Tool(name, FAMILY, summary, schema, run, idempotent=idempotent, price=LOCAL)


TOOLS: Final = (
    _tool(
        "write_file",
        "Write a file, in place of what was there.",
        arguments(
            "path",
            "text",
            path=PATH,
            text=text("all that will be in it"),
            folders=flag("make the folders that are missing"),
        ),
        write_file,
        idempotent=True,
    ),
    _tool(
        "edit_file",
        "Replace a text in a file.",
        arguments(
            "path",
            "old",
            "new",
            path=PATH,
            old=text("as it is in the file, there just once", minLength=1),
            new=text("what is put in its place"),
            all=flag("replace it wherever it is"),
        ),
        edit_file,
    ),
    _tool(
        "append_file",
        "Add a text at the end of a file.",
        arguments("path", "text", path=PATH, text=text("what is added")),
        append_file,
    ),
    _tool(
        "move",
        "Move or rename a file or folder.",
        arguments(
            "source",
            "destination",
            source=PATH,
            destination={**PATH, "description": "its new path"},
            replace=flag("replace a file that is there"),
        ),
        move,
    ),
    _tool(
        "copy",
        "Copy a file or folder.",
        arguments(
            "source",
            "destination",
            source=PATH,
            destination={**PATH, "description": "the copy's path"},
            replace=flag("replace a file that is there"),
        ),
        copy,
    ),
    _tool(
        "delete",
        "Delete a file, a link or a folder.",
        arguments("path", path=PATH, recursive=flag("a folder with all that is in it")),
        delete,
    ),
)
