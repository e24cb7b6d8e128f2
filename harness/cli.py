"""The ``shakeout`` command: finds the verb, runs it, and alone turns errors into exit codes.

A verb is a module of ``harness/commands`` with ``configure(parser)`` and ``run(args) -> int``;
it is imported only when it is asked for, so that ``--help`` answers at once.
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import importlib
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol, cast

from harness import __version__
from harness.code import code_digest
from harness.parsing import Parser

DONE = 0
USAGE = 2
ERROR = 4
INTERRUPTED = 130
_STDERR = 2
_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.EFBIG})

#: The verbs, in the order of ``--help``; a verb's module has its name.
VERBS: Mapping[str, str] = {
    "run": "run cases and judge them by evidence",
    "teeth": "show that each case can fail: remove what it tests, and see it break",
    "check": "say whether case files are valid, and where they are not",
    "list": "list cases",
    "new": "write a first case that runs",
    "explain": "document a fault, oracle, service, subject or field",
    "judge": "judge stored evidence again, from its files alone",
    "evidence": "check the seals of a run, or close the breaker",
    "model": "serve a script as a model, alone",
    "doctor": "say what works on this machine, and how to get what does not",
    "clean": "remove what killed runs have left",
}


class Verb(Protocol):
    """The shape of a module of ``harness/commands``."""

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the verb's arguments."""

    def run(self, args: argparse.Namespace) -> int:
        """Do it; gives the exit code."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; gives the exit code."""
    _fill_closed_streams()
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        parser = _parser(words)
        args = parser.parse_args(words)
        if not getattr(args, "verb", None):
            parser.print_help()
            return USAGE
        code = _verb(args)
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BrokenPipeError:
        code = DONE  # a reader that has seen enough; a verb that judges gives its code all the same
    except Exception as error:  # noqa: BLE001 - the last resort: a bug of ours is exit 4
        code = _failed(error)
    _give_up_broken_streams()
    return code


def _give_up_broken_streams() -> None:
    """Let what a stream does not take go nowhere: the interpreter would exit with a code of its own."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _parser(words: Sequence[str]) -> argparse.ArgumentParser:
    """The parser; only the verb that is asked for is configured in full."""
    parser = Parser(
        prog="shakeout",
        description="Rehearse an agent runtime under declared faults, in disposable sandboxes, "
        "and believe only evidence.",
    )
    parser.add_argument("--version", action="version", version=f"shakeout {__version__}")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", title="verbs")
    asked = next((word for word in words if not word.startswith("-")), None)
    for verb, summary in VERBS.items():
        sub = verbs.add_parser(
            verb, help=summary, description=f"{summary[0].upper()}{summary[1:]}."
        )
        if verb == asked:
            _module(verb).configure(sub)
    return parser


def _module(verb: str) -> Verb:
    code_digest()  # of the files as they are before they are loaded
    return cast("Verb", importlib.import_module(f"harness.commands.{verb}"))


def _verb(args: argparse.Namespace) -> int:
    from harness.housekeeping import sweep  # noqa: PLC0415 - not for --help

    sweep()
    return int(_module(args.verb).run(args))


def _fill_closed_streams() -> None:
    """Put the null device where we were started with a standard stream closed.

    Else the next file that is opened takes the stream's number, and what is meant for people is
    written into it.
    """
    while (fd := os.open(os.devnull, os.O_RDWR)) <= _STDERR:
        os.set_inheritable(fd, True)
    os.close(fd)
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 - for good


def _failed(error: Exception) -> int:
    from harness.errors import UsageError  # noqa: PLC0415 - not for --help

    with contextlib.suppress(OSError):  # that nobody can be told does not change the code
        _tell(error)
    return USAGE if isinstance(error, UsageError) else ERROR


def _tell(error: Exception) -> None:
    from harness.errors import EvidenceLost, UsageError  # noqa: PLC0415 - not for --help

    no_room = isinstance(error, OSError) and error.errno in _NO_ROOM
    if isinstance(error, UsageError):
        sys.stderr.write(f"shakeout: {error}\n")
    elif no_room or isinstance(error, EvidenceLost):
        sys.stderr.write(f"shakeout: the record of the run could not be written: {error}\n")
    else:
        import traceback  # noqa: PLC0415 - not for --help

        traceback.print_exception(error)
        sys.stderr.write("shakeout: this is a bug of shakeout; please report what is above\n")
    sys.stderr.flush()
