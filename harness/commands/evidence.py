"""``shakeout evidence``: ``verify`` checks a run's seals, ``reset`` closes an open breaker.

``verify`` exits with 0 where everything is as it was sealed, 1 where anything is not, 2 where
there is no run or no key to check it with, 4 where something cannot be read. ``reset`` exits with
0, with 2 without a reason, and with 4 where it cannot be put on record.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from harness.commands.answers import document, printable, refused
from harness.errors import UsageError
from harness.nearby import did_you_mean
from harness.plural import plural
from harness.state import state_folder

if TYPE_CHECKING:
    from verifiers.seals.state import State
    from verifiers.seals.verify import Checked

_DONE: Final = 0
_WRONG: Final = 1
_UNREADABLE: Final = 4


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    verify = actions.add_parser("verify", help="say what of a run is not as it was sealed")
    verify.add_argument("folder", type=Path, metavar="DIR", help="a run's folder (its --out)")
    key = "the public key that must have sealed it (default: the one of the state folder)"
    verify.add_argument("--key", type=Path, metavar="FILE", help=key)
    reset = actions.add_parser("reset", help="close the breaker, and put that on record")
    reset.add_argument("--reason", required=True, metavar="TEXT", help="why it may be closed")
    for action in (verify, reset):
        action.add_argument("--json", action="store_true", help="print one JSON document")


def run(args: argparse.Namespace) -> int:
    """Do what is asked for."""
    try:
        return _verify(args) if args.action == "verify" else _reset(args)
    except UsageError as error:
        return refused(error, as_json=args.json)


def _verify(args: argparse.Namespace) -> int:
    from verifiers.seals.verify import verify  # noqa: PLC0415 - not for --help

    folder: Path = args.folder
    if not folder.is_dir():
        hint = did_you_mean(folder, "name the folder of a run", ())
        raise UsageError(f"there is no folder {folder}; {hint}")
    try:
        key, state = _key(args.key)
        checked = verify(folder, key, state)
    except OSError as error:
        return _unreadable(f"it cannot be checked: {error}", args)
    if not any(os.path.lexists(folder / name) for name in ("run.json", "seals.jsonl")):
        raise UsageError(f"{folder} is no run's folder; name what --out named")
    _tell(checked, folder, as_json=args.json)
    return _WRONG if checked.problems else _DONE


def _key(given: Path | None) -> tuple[Any, State | None]:
    """The key to check with, and where it seals; only the key where one was given."""
    from verifiers.seals.keys import BadKey, public_key  # noqa: PLC0415 - not for --help
    from verifiers.seals.state import State  # noqa: PLC0415 - likewise

    try:
        if given is not None:
            return public_key(given), None
        state = State(state_folder().absolute())
        key = state.public_key()
    except FileNotFoundError as error:
        raise UsageError(f"there is no key {given}; name the key.pub of whoever sealed") from error
    except BadKey as error:
        raise UsageError(f"{error}; name the key.pub of whoever sealed") from error
    if key is None:
        raise UsageError(
            f"nothing was ever sealed in {state.folder}, so no key is known to check with; "
            "name the public key of whoever sealed: --key FILE (the run carries one as key.pub, "
            "and whoever made up the run would have put it there)"
        )
    return key, state


def _tell(checked: Checked, folder: Path, *, as_json: bool) -> None:
    if as_json:
        items = [problem.document for problem in checked.problems]
        code = _WRONG if items else _DONE
        what = {"run": checked.run, "records": checked.records, "files": checked.files}
        document({"schema": 1, "exit": code, **what, "items": items})
        return
    if checked.other and len(checked.problems) == 1:
        how = "use --key FILE, the key.pub of whoever sealed, and compare that with what you were told"
        sys.stdout.write(f"{folder}: signed by another key, {checked.other}; {how}\n")
        return
    for problem in checked.problems:
        sys.stdout.write(printable(str(problem)) + "\n")
    if checked.problems:
        sys.stdout.write(f"{folder}: {plural(len(checked.problems), 'thing')} wrong\n")
        return
    found = f"{plural(checked.records, 'record')}, {plural(checked.files, 'file')}"
    sys.stdout.write(f"{folder}: run {checked.run} is as it was sealed ({found})\n")


def _reset(args: argparse.Namespace) -> int:
    from verifiers.seals.errors import NotSealed  # noqa: PLC0415 - not for --help
    from verifiers.seals.state import State  # noqa: PLC0415 - likewise

    if not args.reason.strip():
        raise UsageError("--reason is empty; say why the breaker may be closed")
    state = State(state_folder().absolute())
    try:
        broken = state.reset(args.reason)
    except NotSealed as error:
        return _unreadable(f"not reset: {error}", args)
    if args.json:
        document({"schema": 1, "exit": _DONE, "items": [{"broken": one} for one in broken]})
        return _DONE
    for one in broken:
        sys.stdout.write(f"was broken, and is set aside: {printable(one)}\n")
    sys.stdout.write(f"the breaker of {state.folder} is closed, and that is on record\n")
    return _DONE


def _unreadable(message: str, args: argparse.Namespace) -> int:
    if args.json:
        entry = {"file": None, "line": None, "column": None, "message": message, "hint": ""}
        document({"schema": 1, "exit": _UNREADABLE, "errors": [entry]})
    else:
        sys.stderr.write(f"shakeout: {printable(message)}\n")
    return _UNREADABLE
