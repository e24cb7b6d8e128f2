"""git, started so that what reads runs nothing of the repository's, and writes nothing.

A repository can name programs that git then starts: for hooks, file system monitors, filters,
differences, pagers, keys. What reads is told to use none of them. Filters can only be turned off
by name, so the names are asked for first.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import anyio

from runtime.processes import run
from runtime.tools.base import Arguments, Context, ToolResult
from runtime.tools.define import as_text
from runtime.tools.paths import inside, lexical

#: Settings of every call that reads.
_READS: Final = (
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.pager=cat",
    "core.askPass=",
    "log.showSignature=false",
    "diff.external=",
    "protocol.allow=never",
)
#: What else a repository can set that starts a program, and what turns it off.
_NAMED: Final = (
    (re.compile(r"filter\..*\.(clean|smudge|process)", re.DOTALL), ""),
    (re.compile(r"filter\..*\.required", re.DOTALL), "false"),
    (re.compile(r"diff\..*\.(command|textconv)", re.DOTALL), ""),
    (re.compile(r"protocol\..*\.allow", re.DOTALL), "never"),
)


@dataclass(frozen=True, slots=True)
class Git:
    """git in a folder.

    Attributes:
        context: of the call.
        folder: where it works.
        options: put before its command.
        environment: over the one of the call.
    """

    context: Context
    folder: Path
    options: tuple[str, ...] = ()
    environment: Mapping[str, str] | None = None

    async def started(self, arguments: Sequence[str], stdin: bytes | None = None) -> ToolResult:
        """Run it to its end.

        Raises:
            ProgramMissing: there is no git.
            OSError: the folder cannot be worked in.
        """
        settings = self.context.settings.tools
        ended = await run(
            ["git", "-c", "safe.directory=*", "--no-pager", *self.options, *arguments],
            folder=self.folder,
            environment=self.environment or _environment(self.context, reads=True),
            seconds=settings.seconds * 0.98,
            most=settings.output,
            stdin=stdin,
        )
        error = as_text(ended.error)
        if ended.timed_out:
            error += f"git: timed out after {settings.seconds:g} seconds\n"
        return ToolResult(as_text(ended.output), error, ended.exit_code, truncated=ended.truncated)


async def read(given: Arguments, context: Context, *arguments: str) -> ToolResult:
    """Run git so that it only reads."""
    git = Git(context, await folder_in(context, given))
    listed = await git.started(("config", "--list", "--name-only", "-z"))
    if not listed.ok or listed.truncated:
        return listed
    settings = (*_READS, *_turned_off(listed.output))
    options = [word for setting in settings for word in ("-c", setting)]
    bound = Git(context, git.folder, ("--literal-pathspecs", *options))
    return await bound.started(arguments)


async def write(
    given: Arguments, context: Context, *arguments: str, stdin: bytes | None = None
) -> ToolResult:
    """Run git with what the repository and the user set, but with nobody to ask."""
    environment = _environment(context, reads=False)
    folder = await folder_in(context, given)
    git = Git(context, folder, ("--literal-pathspecs",), environment)
    return await git.started(arguments, stdin)


async def folder_in(context: Context, given: Arguments) -> Path:
    """The folder that a call works in; looked at on a thread, for it may be on a mount that hangs.

    Raises:
        OSError: it leads out of the workspace, or cannot be looked at.
    """

    def find() -> Path:
        top = Path(os.path.realpath(context.workspace))
        folder = top / inside(top, given.get("folder", "."))
        os.scandir(folder).close()
        return folder

    return await anyio.to_thread.run_sync(find, abandon_on_cancel=True)


def path_for(context: Context, written: str) -> str:
    """A path for git, which follows no link itself and knows of files that are gone.

    Raises:
        Outside: it leads out of the workspace.
    """
    return str(Path(os.path.realpath(context.workspace)) / lexical(context.workspace, written))


def _turned_off(names: str) -> Iterator[str]:
    for name in set(names.split("\0")):
        for pattern, value in _NAMED:
            if pattern.fullmatch(name):
                yield f"{name}={value}"


def _environment(context: Context, reads: bool) -> dict[str, str]:
    """What git is given: nothing that leads it elsewhere, and a repository of the workspace's."""
    kept = {
        name: value
        for name, value in context.environment.items()
        if not name.startswith("GIT_") or (not reads and name.startswith(_OF_THE_USER))
    }
    ours = {
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_EDITOR": "false",
        "GIT_CEILING_DIRECTORIES": os.path.dirname(os.path.realpath(context.workspace)),  # noqa: PTH120
    }
    if reads:
        ours |= {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
        ours |= {"GIT_OPTIONAL_LOCKS": "0", "GIT_ATTR_NOSYSTEM": "1", "LC_ALL": "C.UTF-8"}
    return kept | ours


_OF_THE_USER: Final = ("GIT_AUTHOR_", "GIT_COMMITTER_", "GIT_SSH", "GIT_CONFIG_", "GIT_SSL_")
