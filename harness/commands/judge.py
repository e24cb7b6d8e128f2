"""``shakeout judge``: judges stored evidence again, from its files alone.

No sandbox is made, no service is started and nothing is executed; a copy of a run's folder is
judged on any machine. The seal is checked first. Where it does not hold, or a verdict is not the one
on record, the exit code is 4.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from harness.again.rejudge import rejudge
from harness.again.run_folder import read_run
from harness.again.seal import check_seal
from harness.commands.answers import refused
from harness.commands.options import add_weighing
from harness.errors import UsageError
from harness.judge.exitcode import FailOn
from harness.report.rejudged import print_rejudged, rejudged_document


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    add = parser.add_argument
    add("folder", type=Path, metavar="DIR", help="the folder of a run, or of one trial")
    key = "the public key that must have sealed it (default: the one of the state folder)"
    add("--key", type=Path, metavar="FILE", help=key)
    add("--json", action="store_true", help="print the verdicts as JSON")
    add_weighing(add)


def run(args: argparse.Namespace) -> int:
    """Read, judge, compare, say."""
    try:
        run = read_run(args.folder)
        seal = check_seal(run, args.key)
    except UsageError as error:
        return refused(error, as_json=args.json)
    trials = rejudge(run, known=run.known and not args.no_known)
    fail_on = {*run.fail_on, *map(FailOn, args.fail_on)}
    document = rejudged_document(run, seal, trials, fail_on)
    if args.json:
        sys.stdout.write(json.dumps(document, indent=1) + "\n")
    else:
        print_rejudged(document, sys.stdout)
    return int(document["exit"])
