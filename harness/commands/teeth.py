"""``shakeout teeth``: shows that each case can fail.

Each case runs as it is, its clean control beside it, and once for each of its sabotages, which
must break exactly the expectations that it names.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from harness.case.find import Found
from harness.case.model import Case
from harness.commands.options import seed_of
from harness.commands.run import Chosen, Shown, choosing, do, missing, on_cases, tell
from harness.plan import Selection, plan
from harness.report.teeth import print_teeth
from harness.run import probe
from harness.sabotage.across import across
from harness.sabotage.teeth import NAME, Teeth


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    choosing(parser)
    parser.add_argument(
        "--full",
        action="store_true",
        help="try each sabotage on every case with the same subject, and show who notices",
    )
    parser.set_defaults(no_inject=False, no_known=False, fail_on=[])


def run(args: argparse.Namespace) -> int:
    """Load, plan, run with and without each sabotage, judge, report."""
    return on_cases(args, _run)


def _run(args: argparse.Namespace, found: Found, cases: Sequence[Case]) -> int:
    seed = seed_of(args.seed)
    selection = Selection(args.subject, args.sandbox, seed=seed, control=True, sabotage=True)
    probes = probe(args.sandbox)
    trials = plan(cases, probes, selection)
    more, cells = across(cases, probes, selection) if args.full else ((), None)
    teeth = Teeth(cases, cells)
    chosen = Chosen(seed, cases, teeth)
    document, folder = do(args, [*trials, *more], missing(found, args), chosen)
    shown = Shown(NAME, lambda out: print_teeth(teeth.document(document), out))
    return tell(args, document, folder, cases, shown)
