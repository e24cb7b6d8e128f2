"""``shakeout clean``: removes what killed runs have left, its own labelled things only."""

from __future__ import annotations

import argparse
import json
import sys

from harness.housekeeping import sweep


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument("--json", action="store_true", help="print what was removed as JSON")


def run(args: argparse.Namespace) -> int:
    """Sweep, and say what was removed."""
    removed = list(sweep())
    if args.json:
        sys.stdout.write(json.dumps({"schema": 1, "exit": 0, "items": removed}) + "\n")
    else:
        sys.stdout.write("".join(f"removed {line}\n" for line in removed) or "nothing was left\n")
    return 0
