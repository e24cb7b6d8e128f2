"""``shakeout model SCRIPT``: serves a script as a model, alone."""

from __future__ import annotations

import argparse
import json
import signal
import sys
from pathlib import Path

from harness.case import yaml
from harness.case.errors import CaseErrors
from harness.case.expand import expand
from harness.case.load import load_case, load_script
from harness.commands.answers import refused
from harness.errors import UsageError
from harness.services.model.alone import Play, cannot_happen, serving, summary
from harness.services.model.resolve import Places

_STOPS = frozenset({signal.SIGINT, signal.SIGTERM})
_PORTS = 1 << 16


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument(
        "script", type=Path, metavar="SCRIPT", help="a list of turns, or a case that has a script"
    )
    parser.add_argument("--host", default="127.0.0.1", help="the address to bind (default: here)")
    parser.add_argument("--port", type=_port, default=0, help="the port (default: a free one)")
    parser.add_argument(
        "--workspace",
        type=Path,
        default=Path(),
        metavar="DIR",
        help="where the agent works, for tools that take absolute paths only (default: here)",
    )
    parser.add_argument(
        "--journal", type=Path, metavar="FILE", help="append each request to it, one line each"
    )


def run(args: argparse.Namespace) -> int:
    """Serve until interrupted or terminated; 0 then, however the script went."""
    try:
        play = _play(args.script, Places(str(args.workspace.resolve()), str(Path.home())))
    except (CaseErrors, UsageError) as error:
        return refused(error, as_json=False)
    for fault in play.faults:
        why = cannot_happen(fault)
        if why is not None:
            sys.stderr.write(f"shakeout: fault {fault.id} is left out: {why}\n")
    # Blocked before the first thread starts, so that all inherit it and only sigwait sees them.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _STOPS)
    try:
        with serving(play, args.host, args.port, args.journal) as alone:
            sys.stdout.write(json.dumps({"url": alone.url}) + "\n")
            sys.stdout.flush()
            signal.sigwait(_STOPS)
            lines = summary(play, alone)
    except OSError as error:
        return refused(_unusable(args, error), as_json=False)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    sys.stderr.write("".join(f"{line}\n" for line in lines))
    return 0


def _port(text: str) -> int:
    if not text.isdigit() or int(text) >= _PORTS:
        raise argparse.ArgumentTypeError(f"expected a port from 0 to 65535, came {text!r}")
    return int(text)


def _play(path: Path, places: Places) -> Play:
    """The script of a file, with its faults and prices where it is a case."""
    if not isinstance(yaml.read(path).data, dict):
        return Play(load_script(path), places=places)
    case, number = expand(load_case(path))[0]
    if number is not None:
        sys.stderr.write("shakeout: of each, the first combination is served\n")
    return Play(case.script, case.faults, case.prices, places)


def _unusable(args: argparse.Namespace, error: OSError) -> UsageError:
    if args.journal is not None and error.filename is not None:
        return UsageError(f"{args.journal} cannot be written: {error.strerror}")
    where = f"{args.host}:{args.port}"
    return UsageError(f"{where} cannot be bound: {error.strerror or error}; choose another --port")
