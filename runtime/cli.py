"""The `agentd` command: a table of verbs, of which only the asked one is loaded."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Mapping, Sequence
from typing import Final, Protocol, cast

from runtime import __version__
from runtime.errors import AgentdError

#: The exit code for what the user has to put right first.
USAGE: Final = 2

#: Each verb, with what it does. Its module, ``runtime.commands.VERB``, is loaded when it is asked for.
VERBS: Final[Mapping[str, str]] = {
    "serve": "be the daemon, until it is ended",
    "run": "do one task, and end as honestly as it did",
    "tools": "list the tools, and plug more of them in or out",
    "failures": "classify a corpus of failed tool calls, and show what is unclassified",
}


class Verb(Protocol):
    """The module of a verb."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Say what it takes."""

    def run(self, options: argparse.Namespace) -> int:
        """Do it, and say how it ended."""


def main(words: Sequence[str] | None = None) -> int:
    """Run one verb, and give its exit code."""
    given = list(sys.argv[1:] if words is None else words)
    parser = argparse.ArgumentParser(
        prog="agentd", description="An agent runtime that recovers from its tools' failures."
    )
    parser.add_argument("--version", action="version", version=f"agentd {__version__}")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", title="verbs")
    for name, summary in VERBS.items():
        sub = verbs.add_parser(name, help=summary, description=summary)
        if name in given:
            _module(name).add_arguments(sub)
    options = parser.parse_args(given)
    if options.verb is None:
        parser.print_help(sys.stderr)
        return USAGE
    try:
        return _module(options.verb).run(options)
    except AgentdError as error:
        sys.stderr.write(f"agentd: {error}\n")
        return USAGE


def _module(verb: str) -> Verb:
    return cast("Verb", importlib.import_module(f"runtime.commands.{verb}"))
