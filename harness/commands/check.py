"""``shakeout check``: say whether case files are valid, and everything that is wrong.

Beyond what makes a case loadable, its programs must be there as far as that can be told without
a sandbox, and so must the files that its sabotages change; a case of the suite or of a pack must
have a sabotage, and one of the suite or of ``agents/`` that injects no fault must say what its
clean control does instead.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from harness.case.errors import CaseError, CaseErrors
from harness.case.find import Found, find, in_a_run, is_case, is_suite
from harness.case.load import load_cases
from harness.case.model import Case
from harness.commands.answers import DONE, listed, printable, refused
from harness.commands.programs import wrong_programs
from harness.sabotage.sabotaged import idle
from harness.state import cases_folder

_AGENTS: Final = "agents"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument(
        "paths",
        nargs="*",
        type=Path,
        metavar="PATH",
        help="case files, folders of cases, suites (default: all of cases/)",
    )
    parser.add_argument(
        "--cases-only",
        action="store_true",
        help="leave out what is named and is no case, as a hook of git needs it; none left is done",
    )
    parser.add_argument("--json", action="store_true", help="print items or errors as JSON")


def run(args: argparse.Namespace) -> int:
    """Load everything and say what is wrong; 0 valid, 2 invalid, 3 nothing to check."""
    paths = args.paths or [cases_folder()]
    if args.cases_only:
        for path in paths:
            if not path.is_dir() and not path.is_file():
                what = "it is no regular file" if path.exists() else "there is no such file"
                sys.stderr.write(printable(f"{path}:1:1: left out, since {what}") + "\n")
        paths = [path for path in paths if path.is_dir() or _is_ours(path)]
        if not paths:
            return DONE
    try:
        cases = checked(paths)
    except CaseErrors as error:
        return refused(error, as_json=args.json)
    items = [{"id": case.id, "file": str(case.source)} for case in cases]
    lines = [f"{case.source}: {_standing(case)}" for case in cases]
    return listed(items, lines, as_json=args.json)


def _is_ours(path: Path) -> bool:
    return not in_a_run(path) and (is_case(path) or is_suite(path))


def checked(paths: Sequence[Path]) -> tuple[Case, ...]:
    """The cases that ``paths`` stand for, every rule kept.

    Raises:
        CaseErrors: everything that is wrong.
    """
    found = find(paths)
    cases = load_cases(found.files)
    if errors := list(_incomplete(cases, found)):
        raise CaseErrors(errors)
    return cases


def _standing(case: Case) -> str:
    return "valid" if case.expect else "valid; expects nothing, so it can only be unavailable"


def _incomplete(cases: Iterable[Case], found: Found) -> Iterator[CaseError]:
    for case in cases:
        yield from wrong_programs(case)
        yield from _idle(case)
        in_suite = case.source.resolve() in found.of_suites
        if (in_suite or _of_pack(case)) and not case.sabotage:
            of = "the suite" if in_suite else "a pack"
            message = f"a case of {of} has no sabotage, so nothing shows that it can fail"
            yield CaseError(case.where, message, "write sabotage: [{name: …, breaks: [ID], …}]")
        if (in_suite or _of_agents(case)) and not case.faults and not _controlled(case):
            message = "a case without faults has no script of its own for its clean control"
            hint = "write control: {script: […]} with the harmful step taken out"
            yield CaseError(case.where, message, hint)


def _idle(case: Case) -> Iterator[CaseError]:
    """An error at each sabotage that is known to change nothing."""
    for sabotage in case.sabotage:
        if known := idle(sabotage, case):
            yield CaseError(sabotage.where or case.where, *known)


def _of_pack(case: Case) -> bool:
    """Whether it is of the agents', or of another pack that comes with the harness."""
    return _of_agents(case) or case.source.resolve().is_relative_to(cases_folder())


def _of_agents(case: Case) -> bool:
    return _AGENTS in case.source.resolve().parent.parts[-2:]


def _controlled(case: Case) -> bool:
    return case.control is not None and case.control.script is not None
