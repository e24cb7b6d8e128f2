"""Commands that the user declared for a project: its tests, its linter, its build."""

from __future__ import annotations

from typing import Final, get_args

from runtime.settings import Command
from runtime.tools.base import Arguments, Context, Run, Tool, ToolResult
from runtime.tools.define import LOCAL, arguments, refused, says_failures
from runtime.tools.families.shell import shell

FAMILY: Final = "build"
_SUMMARIES: Final[dict[Command, str]] = {
    "test": "Run the tests of the project.",
    "lint": "Run the linter of the project.",
    "typecheck": "Check the types of the project.",
    "build": "Build the project.",
    "format_check": "Check the formatting of the project.",
    "coverage": "Measure what the tests of the project reach.",
}


def _running(name: Command) -> Run:
    @says_failures
    async def run(given: Arguments, context: Context) -> ToolResult:
        command = context.settings.tools.commands.get(name)
        if command is None:
            return refused(
                f"{name}: no command is declared; set tools.commands.{name} in settings.yaml"
            )
        return await shell(name, command, given, context)

    return run


TOOLS: Final = tuple(
    Tool(name, FAMILY, _SUMMARIES[name], arguments(), _running(name), price=LOCAL)
    for name in get_args(Command)
)
