"""Packages: of Python, of Node and of the system."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from runtime.processes import run
from runtime.tools.base import Arguments, Context, Run, Schema, Tool, ToolResult
from runtime.tools.define import (
    LOCAL,
    PATH,
    REMOTE,
    arguments,
    as_text,
    flag,
    missing,
    names,
    says_failures,
    text,
)
from runtime.tools.git import folder_in

FAMILY: Final = "pkg"
#: pip is asked from the root: what lies where a module is run would be imported before it.
_ROOT: Final = Path("/")
_PIP: Final = ("python3", "-m", "pip", "--no-input", "--disable-pip-version-check")
#: The managers of systems, the first that is there is asked, and how each installs.
_MANAGERS: Final[Mapping[str, tuple[str, ...]]] = {
    "apt-get": ("install", "--yes", "--no-install-recommends"),
    "dnf": ("install", "--assumeyes"),
    "apk": ("add", "--no-interactive"),
    "zypper": ("--non-interactive", "install"),
}


@says_failures
async def pip_list(given: Arguments, context: Context) -> ToolResult:  # noqa: ARG001
    """What python3 has installed, as JSON."""
    return await _started([*_PIP, "list", "--format=json"], context, _ROOT)


@says_failures
async def env_freeze(given: Arguments, context: Context) -> ToolResult:  # noqa: ARG001
    """What python3 has installed, as requirements."""
    return await _started([*_PIP, "freeze", "--all"], context, _ROOT)


@says_failures
async def pip_install(given: Arguments, context: Context) -> ToolResult:
    """Packages, installed for python3."""
    return await _started([*_PIP, "install", "--", *given["packages"]], context, _ROOT)


@says_failures
async def npm_list(given: Arguments, context: Context) -> ToolResult:
    """What a folder has installed, as JSON."""
    folder = await folder_in(context, given)
    words = ("ls", "--json", "--depth=0", "--logs-max=0", "--no-update-notifier")
    return await _started(["npm", *words], context, folder)


@says_failures
async def npm_install(given: Arguments, context: Context) -> ToolResult:
    """Packages, installed in a folder; their scripts run only where that is said."""
    folder = await folder_in(context, given)
    scripts = () if given.get("scripts") else ("--ignore-scripts",)
    words = ("install", "--no-audit", "--no-fund", "--no-update-notifier", *scripts, "--")
    return await _started(["npm", *words, *given["packages"]], context, folder)


@says_failures
async def sys_pkg(given: Arguments, context: Context) -> ToolResult:
    """Packages of the system, installed by the manager that it has."""
    path = context.environment.get("PATH", os.defpath)
    for manager, words in _MANAGERS.items():
        if shutil.which(manager, path=path):
            argv = [manager, *words, "--", *given["packages"]]
            quiet = {"DEBIAN_FRONTEND": "noninteractive"}
            return await _started(argv, context, _ROOT, quiet)
    return missing(next(iter(_MANAGERS)))


async def _started(
    argv: Sequence[str], context: Context, folder: Path, more: Mapping[str, str] | None = None
) -> ToolResult:
    settings = context.settings.tools
    ended = await run(
        argv,
        folder=folder,
        environment={**context.environment, **(more or {})},
        seconds=settings.seconds * 0.98,
        most=settings.output,
    )
    error = as_text(ended.error)
    if ended.timed_out:
        error += f"{argv[0]}: timed out after {settings.seconds:g} seconds\n"
    return ToolResult(as_text(ended.output), error, ended.exit_code, truncated=ended.truncated)


def _reads(name: str, summary: str, schema: Schema, run: Run) -> Tool:
    return Tool(name, FAMILY, summary, schema, run, True, True, LOCAL)


def _installs(name: str, summary: str, schema: Schema, run: Run) -> Tool:
    return Tool(name, FAMILY, summary, schema, run, idempotent=True, price=REMOTE)


#: Names, with versions: no options, no paths, no URLs.
_PYTHON: Final = text(
    "a name, with a version if it matters: name==1.2",
    pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*(\[[A-Za-z0-9,._-]+\])?([=<>!~]=?=?[A-Za-z0-9.*+!]+)?$(?![\s\S])",
)
_NODE: Final = text(
    "a name, with a version if it matters: name@1.2",
    pattern=r"^(@[a-z0-9][a-z0-9._-]*/)?[a-z0-9][a-z0-9._-]*(@[\^~]?[A-Za-z0-9][A-Za-z0-9.+-]*)?$(?![\s\S])",
)
_SYSTEM: Final = text("a name", pattern=r"^[A-Za-z0-9][A-Za-z0-9._+:=~-]*$(?![\s\S])")
_FOLDER: Final = {**PATH, "description": "of the project; the workspace if absent"}

TOOLS: Final = (
    _reads("pip_list", "List the packages that python3 has.", arguments(), pip_list),
    _installs(
        "pip_install",
        "Install packages for python3.",
        arguments("packages", packages=names("what to install", _PYTHON)),
        pip_install,
    ),
    _reads("npm_list", "List the npm packages of a folder.", arguments(folder=_FOLDER), npm_list),
    _installs(
        "npm_install",
        "Install npm packages in a folder.",
        arguments(
            "packages",
            packages=names("what to install", _NODE),
            folder=_FOLDER,
            scripts=flag("run the scripts that they bring"),
        ),
        npm_install,
    ),
    _installs(
        "sys_pkg",
        "Install packages of the system.",
        arguments("packages", packages=names("what to install", _SYSTEM)),
        sys_pkg,
    ),
    _reads("env_freeze", "Print the packages of python3 as requirements.", arguments(), env_freeze),
)
