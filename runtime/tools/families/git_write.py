"""git, where it writes: what is named, and nothing else."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

import anyio

from runtime.tools.base import Arguments, Context, Run, Schema, Tool, ToolResult
from runtime.tools.define import (
    LOCAL,
    PATH,
    REMOTE,
    arguments,
    as_bytes,
    choice,
    flag,
    names,
    refused,
    says_failures,
    text,
    word,
)
from runtime.tools.git import path_for, write

FAMILY: Final = "git_write"


@says_failures
async def git_checkout(given: Arguments, context: Context) -> ToolResult:
    """Another branch or commit in the folder."""
    create = ("-b",) if given.get("create") else ()
    return await write(given, context, "checkout", *create, given["ref"], "--")


@says_failures
async def git_branch(given: Arguments, context: Context) -> ToolResult:
    """A branch, made or, where all of it is elsewhere too, deleted."""
    if given.get("delete"):
        return await write(given, context, "branch", "--delete", "--", given["name"])
    return await write(given, context, "branch", "--", given["name"], given.get("start", "HEAD"))


@says_failures
async def git_add(given: Arguments, context: Context) -> ToolResult:
    """Files as they are now, for the next commit; each by its name."""
    paths = [path_for(context, path) for path in given["paths"]]
    folders = await anyio.to_thread.run_sync(_folders, paths, abandon_on_cancel=True)
    if folders:
        return refused(f"{', '.join(folders)}: Is a directory; name the files in it")
    return await write(given, context, "add", "--", *paths)


def _folders(paths: list[str]) -> list[str]:
    return [path for path in paths if os.path.lexists(path) and _is_folder(Path(path))]


def _is_folder(path: Path) -> bool:
    return stat.S_ISDIR(path.lstat().st_mode)


@says_failures
async def git_commit(given: Arguments, context: Context) -> ToolResult:
    """A commit of what is staged."""
    return await write(given, context, "commit", "-F", "-", stdin=as_bytes(given["message"]))


@says_failures
async def git_push(given: Arguments, context: Context) -> ToolResult:
    """A branch, sent to the repository of the same name elsewhere; never by force."""
    branch = given["branch"]
    refs = f"refs/heads/{branch}:refs/heads/{branch}"
    return await write(given, context, "push", "--porcelain", "--", given["remote"], refs)


@says_failures
async def git_stash(given: Arguments, context: Context) -> ToolResult:
    """What is not committed, put away or brought back."""
    action = given["action"]
    message = ("-m", given["message"]) if action == "push" and "message" in given else ()
    return await write(given, context, "stash", action, *message)


def _tool(
    name: str,
    summary: str,
    schema: Schema,
    run: Run,
    idempotent: bool = False,
    remote: bool = False,
) -> Tool:
    price = REMOTE if remote else LOCAL
    return Tool(name, FAMILY, summary, schema, run, idempotent=idempotent, price=price)


_FOLDER: Final = {**PATH, "description": "of the repository; the workspace if absent"}
#: A name, and no refspec: neither a plus for force nor a colon for another name.
_NAME: Final = text("its name", pattern=r"^[A-Za-z0-9_][^\s:+^~?*\[\\\x00-\x1f\x7f]*$(?![\s\S])")
_REMOTE: Final = text(
    "its name, such as origin", pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]*$(?![\s\S])"
)

TOOLS: Final = (
    _tool(
        "git_checkout",
        "Switch to a branch or commit.",
        arguments("ref", folder=_FOLDER, ref=word("where to"), create=flag("make the branch")),
        git_checkout,
    ),
    _tool(
        "git_branch",
        "Make a branch, or delete one that is merged.",
        arguments(
            "name",
            folder=_FOLDER,
            name=_NAME,
            start=word("where it begins; HEAD if absent"),
            delete=flag("delete it"),
        ),
        git_branch,
    ),
    _tool(
        "git_add",
        "Stage files, each by its name.",
        arguments("paths", folder=_FOLDER, paths=names("the files", PATH)),
        git_add,
        idempotent=True,
    ),
    _tool(
        "git_commit",
        "Commit what is staged.",
        arguments("message", folder=_FOLDER, message=text("what it does", minLength=1)),
        git_commit,
    ),
    _tool(
        "git_push",
        "Push a branch to a remote.",
        arguments("remote", "branch", folder=_FOLDER, remote=_REMOTE, branch=_NAME),
        git_push,
        idempotent=True,
        remote=True,
    ),
    _tool(
        "git_stash",
        "Put changes away, or bring them back.",
        arguments(
            "action",
            folder=_FOLDER,
            action=choice("what to do", "push", "pop", "apply", "drop", "list"),
            message=word("what they are"),
        ),
        git_stash,
    ),
)
