"""git, as far as it reads."""

from __future__ import annotations

from typing import Final

from runtime.tools.base import Arguments, Context, Run, Schema, Tool, ToolResult
from runtime.tools.define import LOCAL, PATH, arguments, flag, number, says_failures, word
from runtime.tools.git import path_for, read

FAMILY: Final = "git_read"
#: No program of the repository's shows a difference, and no submodule is looked into.
_DIFF: Final = (
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--submodule=short",
    "--ignore-submodules=dirty",
)
_LINE: Final = "--format=%H%x09%aI%x09%an%x09%s"


@says_failures
async def git_status(given: Arguments, context: Context) -> ToolResult:
    """What has changed and is not committed."""
    form = "--porcelain=v2" if given.get("porcelain") else "--long"
    words = (form, "--branch", "--ignore-submodules=dirty", "--untracked-files=normal")
    return await read(given, context, "status", *words)


@says_failures
async def git_log(given: Arguments, context: Context) -> ToolResult:
    """The commits that lead to one."""
    form = _LINE if given.get("porcelain") else "--format=medium"
    words = (form, f"--max-count={given.get('count', 20)}", "--no-color", "--no-show-signature")
    refs = ("--end-of-options", given.get("ref", "HEAD"), "--", *_paths(given, context))
    return await read(given, context, "log", *words, *refs)


@says_failures
async def git_diff(given: Arguments, context: Context) -> ToolResult:
    """How two states differ: commits, what is staged, what is in the folder."""
    staged = ("--cached",) if given.get("staged") else ()
    form = ("--raw", "--no-abbrev") if given.get("raw") else ()
    refs = [given[name] for name in ("old", "new") if name in given]
    words = (*_DIFF, *staged, *form, "--end-of-options", *refs, "--", *_paths(given, context))
    return await read(given, context, "diff", *words)


@says_failures
async def git_show(given: Arguments, context: Context) -> ToolResult:
    """A commit with its changes, or a file as a commit has it."""
    words = (*_DIFF, "--no-show-signature", "--end-of-options", given["ref"], "--")
    return await read(given, context, "show", *words)


@says_failures
async def git_blame(given: Arguments, context: Context) -> ToolResult:
    """Who wrote each line of a file, and when."""
    form = ("--porcelain",) if given.get("porcelain") else ()
    refs = [given["ref"]] if "ref" in given else []
    words = ("--no-textconv", *form, *refs, "--", *_paths(given, context))
    return await read(given, context, "blame", *words)


@says_failures
async def git_branch_list(given: Arguments, context: Context) -> ToolResult:
    """The branches, with the commit that each is at."""
    kinds = ["refs/heads", *(["refs/remotes"] if given.get("remote") else [])]
    form = "--format=%(HEAD) %(refname:short)%09%(objectname)%09%(subject)"
    return await read(given, context, "for-each-ref", form, *kinds)


def _paths(given: Arguments, context: Context) -> list[str]:
    return [path_for(context, given["path"])] if "path" in given else []


def _tool(
    name: str, summary: str, schema: Schema, run: Run, strict: tuple[Arguments, ...] = ()
) -> Tool:
    return Tool(name, FAMILY, summary, schema, run, True, True, LOCAL, strict)


_FOLDER: Final = {**PATH, "description": "of the repository; the workspace if absent"}
_REF: Final = word("a commit, branch or tag")
_PORCELAIN: Final = flag("in the form for programs")
_STRICT: Final = ({"porcelain": True},)

TOOLS: Final = (
    _tool(
        "git_status",
        "Say what has changed and is not committed.",
        arguments(folder=_FOLDER, porcelain=_PORCELAIN),
        git_status,
        _STRICT,
    ),
    _tool(
        "git_log",
        "List commits, the newest first.",
        arguments(
            folder=_FOLDER,
            ref=_REF,
            path={**PATH, "description": "only commits that changed it"},
            count=number("the most", minimum=1, maximum=1000),
            porcelain=_PORCELAIN,
        ),
        git_log,
        _STRICT,
    ),
    _tool(
        "git_diff",
        "Show how commits, the index and the files differ.",
        arguments(
            folder=_FOLDER,
            old=word("a commit; the index if absent"),
            new=word("a commit; the files if absent"),
            staged=flag("what is staged, rather than what is in the files"),
            path={**PATH, "description": "only what is there"},
            raw=flag("names and objects alone, in the form for programs"),
        ),
        git_diff,
        ({"raw": True},),
    ),
    _tool(
        "git_show",
        "Show a commit, or a file as it is in one.",
        arguments("ref", folder=_FOLDER, ref=word("such as HEAD~1, or HEAD:path/of/file")),
        git_show,
    ),
    _tool(
        "git_blame",
        "Say who wrote each line of a file.",
        arguments("path", folder=_FOLDER, path=PATH, ref=_REF, porcelain=_PORCELAIN),
        git_blame,
        _STRICT,
    ),
    _tool(
        "git_branch_list",
        "List branches.",
        arguments(folder=_FOLDER, remote=flag("those of remotes as well")),
        git_branch_list,
    ),
)
