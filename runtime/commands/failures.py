"""``agentd failures mine FILE``: the classes of a corpus of failed tool calls, and its unclassified."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO

from runtime.errors import AgentdError
from runtime.failures.evidence import evidence
from runtime.failures.mine import Mine, document, mined
from runtime.failures.records import BadLine, records
from runtime.recovery.classes import FailureClass
from runtime.screen.known import environment_secrets
from runtime.screen.screen import Screen


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what it takes."""
    what = parser.add_subparsers(dest="what", required=True, metavar="WHAT")
    mine = what.add_parser("mine", help="classify a corpus and show what is unclassified")
    mine.add_argument(
        "file", metavar="FILE", help="JSON lines with tool, exit_code, stdout, stderr; - for stdin"
    )
    mine.add_argument("--json", action="store_true", help="print one line for each record instead")
    mine.add_argument(
        "--top", type=_whole, default=20, metavar="N", help="clusters to show (default: 20)"
    )


def run(options: argparse.Namespace) -> int:
    """Classify; bad lines are told on stderr and passed."""
    found = Mine()
    screen = Screen(environment_secrets(os.environ)).text
    with _opened(options.file) as file:
        for line in mined(records(file), found):
            if isinstance(line, BadLine):
                sys.stderr.write(f"{options.file}:{line.line}: {line.reason}\n")
            elif options.json:
                sys.stdout.write(json.dumps(document(*line, screen)) + "\n")
    if not found.total:
        raise AgentdError(
            f"{options.file} holds no record", "write one failed call a line, with stderr or stdout"
        )
    if not options.json:
        sys.stdout.write("\n".join(_shown(found, options.top)) + "\n")
    return 0


def _whole(written: str) -> int:
    if not written.isdecimal():
        raise argparse.ArgumentTypeError(f"{written!r} is not a whole number")
    return int(written)


@contextmanager
def _opened(name: str) -> Iterator[BinaryIO]:
    if name == "-":
        yield sys.stdin.buffer
        return
    with ExitStack() as stack:
        try:
            file = stack.enter_context(Path(name).open("rb"))
        except OSError as error:
            raise AgentdError(f"{name} cannot be read: {error.strerror}", "name a file") from error
        yield file


def _shown(found: Mine, most: int) -> Iterator[str]:
    bad = f", {found.bad} lines that are none" if found.bad else ""
    yield f"{found.total} records{bad}"
    yield ""
    joined = evidence()
    for cls in sorted(FailureClass, key=lambda cls: (-found.counts[cls], cls)):
        line = f"{cls:<20}{found.counts[cls]:>9}{found.share(cls):>8.1%}  {joined[cls].told}"
        yield line.rstrip()
    if clusters := found.clusters(most):
        yield ""
        yield "unclassified, by what they look like:"
    for cluster in clusters:
        share = cluster.count / found.total
        yield f"{cluster.count:>9}{share:>8.1%}  {cluster.looks}  (first: {cluster.example})"
    if found.other:
        yield f"{found.other:>9}{found.other / found.total:>8.1%}  of other looks"
