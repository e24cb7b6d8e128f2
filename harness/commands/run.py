"""``shakeout run``: runs cases and judges them by evidence."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TextIO

from harness.again.replay import recorded, refuse_beside_replay, replays
from harness.case.errors import CaseErrors
from harness.case.find import Found, find, is_case
from harness.case.load import load_cases
from harness.case.model import Case
from harness.case.select import no_match, select
from harness.case.suite import Check
from harness.commands.answers import printable
from harness.commands.options import add_weighing, seed_of
from harness.conclude import LOG, RUN, conclude
from harness.errors import UsageError
from harness.evidence.conclusion import Asked
from harness.evidence.documents import Document, usage_document
from harness.journal import Journal
from harness.judge.exitcode import USAGE, FailOn
from harness.outdir import open_folder, refuse_shown, refuse_shown_state, run_id
from harness.plan import Selection, Trial, plan
from harness.progress import heading, say, watched
from harness.record import Course, Marks, trial_records
from harness.report.summary import markdown
from harness.report.table import OfSuite, print_run
from harness.run import Interrupt, Settings, probe, run_trials
from harness.sabotage.teeth import Teeth
from harness.sealing import attach
from harness.state import cases_folder
from sandboxes import clock
from sandboxes.registry import BACKENDS

_SUITE = "suite.yaml"
_NAMED = 3


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    choosing(parser)
    add = parser.add_argument
    add("--repeat", type=_count, default=1, metavar="N", help="do each trial N times")
    add(
        "--replay",
        type=Path,
        metavar="DIR",
        help="run the trials in this folder of a run again, each fault at the same place",
    )
    add(
        "--no-inject",
        action="store_true",
        help="arm no fault, to see that no case passes without: each must be unavailable",
    )
    add(
        "--control",
        action="store_true",
        help="run each case also with nothing wrong in it (its clean control), which must pass",
    )
    add_weighing(add)
    add("--summary", type=Path, metavar="FILE", help="append a summary in Markdown to this file")


def choosing(parser: argparse.ArgumentParser) -> None:
    """Add what says which cases run where, and where the evidence goes."""
    add = parser.add_argument
    paths = "case files, folders of cases, suites (default: the suite that comes with shakeout)"
    add("paths", nargs="*", type=Path, metavar="PATH", help=paths)
    match = "only cases whose id, tags or title match: words, and, or, not, ( )"
    add("-k", dest="expression", metavar="EXPR", help=match)
    add("--subject", metavar="NAME", help="run every case with this subject instead of its own")
    backends = ["auto", *BACKENDS]
    add(
        "--sandbox",
        default="auto",
        type=_backend,
        choices=backends,
        help="where to run (default: auto, the first that can do what a case needs)",
    )
    add(
        "-n",
        dest="parallel",
        type=_count,
        default=os.cpu_count() or 1,
        metavar="N",
        help="trials at a time (default: one for each processor)",
    )
    add(
        "--seed",
        type=int,
        metavar="N",
        help="what everything is made from that is chosen by chance; each run says its own",
    )
    folder = "the run's folder, new or empty (default: out/TIME-ID, with a link out/latest)"
    add("--out", metavar="DIR", help=folder)
    add("--json", action="store_true", help="print the JSON document, and nothing else, on stdout")
    add(
        "--written",
        action="store_true",
        help="leave out checks of the suite whose case is not written yet",
    )


def _backend(text: str) -> str:
    if text == "podman":
        socket = "unix:///run/podman/podman.sock"
        raise argparse.ArgumentTypeError(f"write docker, with DOCKER_HOST={socket}")
    return text


def _count(text: str) -> int:
    number = int(text) if text.isdigit() else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"expected a number from 1, came {text!r}")
    return number


def run(args: argparse.Namespace) -> int:
    """Load, plan, run, judge, report."""
    return on_cases(args, _run) if args.replay is None else _guarded(args, lambda: _replay(args))


def on_cases(
    args: argparse.Namespace,
    judge: Callable[[argparse.Namespace, Found, Sequence[Case]], int],
) -> int:
    """Load what is chosen and have it judged; gives the exit code, 2 where something is wrong."""

    def load_and_judge() -> int:
        if not args.paths:
            say(f"shakeout: no path was named: {untold(Path.cwd(), args.verb)}")
        found = find(args.paths or [cases_folder() / _SUITE])
        cases = load_cases(found.files)
        return judge(args, found, select(cases, args.expression))

    return _guarded(args, load_and_judge)


def untold(here: Path, verb: str) -> str:
    """What is run where no path was named, and what of a foreign folder is not.

    Args:
        here: the current folder.
        verb: of the command.
    """
    what = f"this is the suite that comes with shakeout, {cases_folder() / _SUITE}"
    near = here / cases_folder().name
    if near.is_dir() and not near.samefile(cases_folder()):
        return f"{what}; for the cases here: shakeout {verb} {near.name}"
    cases = sorted(path.name for path in here.glob("*.yaml") if is_case(path))
    named = " ".join(cases) if len(cases) <= _NAMED else "."
    return f"{what}; for the cases here: shakeout {verb} {named}" if cases else what


def _guarded(args: argparse.Namespace, judge: Callable[[], int]) -> int:
    try:
        return judge()
    except CaseErrors as errors:
        return _refused([error.document() for error in errors.errors], str(errors), args)
    except UsageError as error:
        place = {"file": "command line", "line": 1, "column": 1, "hint": ""}
        return _refused([{**place, "message": str(error)}], f"shakeout: {error}", args)


def _run(args: argparse.Namespace, found: Found, cases: Sequence[Case]) -> int:
    seed = seed_of(args.seed)
    chosen = Selection(args.subject, args.sandbox, args.repeat, seed, control=args.control)
    trials = plan(cases, probe(args.sandbox), chosen)
    document, folder = _summed_up(args, trials, missing(found, args), Chosen(seed, cases))
    return _told(args, document, folder, cases, _suite(found, cases))


def _replay(args: argparse.Namespace) -> int:
    """The same with the trials of earlier evidence."""
    refuse_beside_replay(args)
    found = recorded(args.replay, args.expression)
    cases = list({one.case.id: one.case for one in found}.values())
    trials = replays(found, probe(args.sandbox), Selection(args.subject, args.sandbox, args.repeat))
    seed = found[0].planned.seed if found else 0
    document, folder = _summed_up(args, trials, (), Chosen(seed, cases))
    return _told(args, document, folder, cases, None)


def _summed_up(
    args: argparse.Namespace, trials: Sequence[Trial], unwritten: Sequence[Check], chosen: Chosen
) -> tuple[Document, Path]:
    """:func:`do`, with a summary where one is asked for."""
    with _appended(args.summary) as summary:
        document, folder = do(args, trials, unwritten, chosen)
        if summary is not None:
            summary.write(markdown(document, str(folder)))
    return document, folder


def _told(
    args: argparse.Namespace,
    document: Document,
    folder: Path,
    cases: Sequence[Case],
    suite: OfSuite | None,
) -> int:
    shown = Shown(RUN, lambda out: print_run(document, out, suite))
    return tell(args, document, folder, cases, shown)


@dataclass(frozen=True, slots=True)
class Shown:
    """What is shown of a run.

    Attributes:
        file: in the run's folder: what ``--json`` prints.
        show: writes the same for people.
    """

    file: str
    show: Callable[[TextIO], None]


def tell(
    args: argparse.Namespace, document: Document, folder: Path, cases: Sequence[Case], shown: Shown
) -> int:
    """Say what came of it; gives the exit code."""
    with suppress(BrokenPipeError):  # whoever reads no further gets the exit code all the same
        if args.json:
            sys.stdout.write((folder / shown.file).read_text("utf-8"))
        else:
            if args.expression is not None and not cases:
                sys.stdout.write(printable(no_match(args.expression)) + "\n")
            shown.show(sys.stdout)
            sys.stdout.write(f"evidence: {folder}\n")
        sys.stdout.flush()
    return int(document["exit"])


def _appended(path: Path | None) -> AbstractContextManager[IO[str] | None]:
    """The file that a summary is appended to, opened before anything runs."""
    if path is None:
        return nullcontext()
    try:
        return path.open("a", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"--summary {path} cannot be written: {error.strerror}") from error


@dataclass(frozen=True, slots=True)
class Chosen:
    """What a run is of: its seed, its cases, and whether they are to show teeth."""

    seed: int
    cases: Sequence[Case]
    teeth: Teeth | None = None


def do(
    args: argparse.Namespace, trials: Sequence[Trial], unwritten: Sequence[Check], chosen: Chosen
) -> tuple[Document, Path]:
    """Run what is planned; gives ``run.json`` and the folder that it is in.

    Args:
        args: of the command line.
        trials: as planned.
        unwritten: checks without a case that are to be reported.
        chosen: what the run is of.
    """
    shown = [source for case in chosen.cases for source in case.workspace.mounts]
    refuse_shown(args.out, shown)
    refuse_shown_state(shown)
    seed, teeth = chosen.seed, chosen.teeth
    name, started = run_id(), clock.stamp()
    folder = open_folder(args.out, name)
    log, sealer = Journal(folder / LOG), attach(name, folder)
    marks = Marks(known=not args.no_known, fail_on=[FailOn(word) for word in args.fail_on])
    asked = marks.on_record()
    log.write("started", run=name, argv=sys.argv[1:], seed=seed, trials=len(trials), **asked)
    interrupt = Interrupt()
    say(heading(len(trials), len(chosen.cases), seed))
    progress = watched(len(trials), interrupt.event.is_set)
    inject = not args.no_inject
    settings = Settings(name, folder, args.parallel, inject, sealer, marks.label)
    try:
        tried = run_trials(trials, settings, log, progress, interrupt)
    finally:
        progress.close()
    records = trial_records(trials, tried, unwritten, seed, marks)
    toothless = teeth.toothless(records) if teeth else ()
    stopped = interrupt.event.is_set()
    shows = Asked.TEETH if teeth else Asked.RUN
    course = Course(name, seed, started, len(chosen.cases), stopped, toothless, shows)
    more = teeth.files if teeth else None
    return conclude(sealer, log, course, records, marks, more), folder


def missing(found: Found, args: argparse.Namespace) -> Sequence[Check]:
    """Checks without a case that are to be reported: none where cases were picked out."""
    return () if args.written or args.expression else found.missing


def _suite(found: Found, cases: Sequence[Case]) -> OfSuite | None:
    """The suite, where it is part of the run."""
    total = sum(len(suite.checks) for suite in found.suites)
    written = frozenset(case.id for case in cases if case.source.resolve() in found.of_suites)
    return OfSuite(written, total) if total else None


def _refused(errors: Sequence[Mapping[str, Any]], text: str, args: argparse.Namespace) -> int:
    """Say what is wrong with the files or the command line; nothing was started."""
    if args.json:
        sys.stdout.write(json.dumps(usage_document(errors), indent=1) + "\n")
    else:
        sys.stderr.write(f"{text}\n")
    return USAGE
