"""``shakeout list``: which cases there are, and which checks of the suite are not written."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from harness.case.errors import CaseErrors
from harness.case.find import search
from harness.case.load import load_each
from harness.case.model import Case
from harness.case.select import matches, no_match, parse
from harness.case.suite import Check
from harness.commands.answers import listed, refused
from harness.errors import UsageError
from harness.state import cases_folder

Item = dict[str, Any]

_WIDTH: Final = 80
_INDENT: Final = "    "


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument(
        "paths",
        nargs="*",
        type=Path,
        metavar="PATH",
        help="case files, folders of cases, suites (default: cases/suite.yaml, and all of cases/)",
    )
    parser.add_argument(
        "-k", metavar="EXPR", dest="select", help="only what matches: words, and, or, not, ( )"
    )
    parser.add_argument("--json", action="store_true", help="print the items as JSON")


def run(args: argparse.Namespace) -> int:
    """List; 0 something, 2 where a file is invalid, beside the others, 3 nothing."""
    folder = cases_folder()
    try:
        test = parse(args.select) if args.select is not None else lambda _: True
    except UsageError as error:
        return refused(error, as_json=args.json)
    found, errors = search(args.paths or [folder / "suite.yaml", folder])
    loaded, invalid = load_each(found.files)
    cases = [case for case in loaded if matches(case, test)]
    missing = [check for check in found.missing if test((check.id, check.title))]
    items = [*map(_case, cases), *map(_check, missing)]
    if errors or invalid:
        wrong = CaseErrors([*errors, *invalid])
        return refused(wrong, as_json=args.json, beside=(items, _lines(items)))
    why = no_match(args.select) if args.select is not None else ""
    return listed(items, _lines(items), as_json=args.json, why=why)


def _case(case: Case) -> Item:
    return {
        "id": case.id,
        "title": case.title,
        "tags": list(case.tags),
        "subjects": [ref.name for ref in case.subjects],
        "faults": [fault.fault for fault in case.faults],
        "file": str(case.source),
    }


def _check(check: Check) -> Item:
    return {
        "id": check.id,
        "title": check.title,
        "tags": [],
        "subjects": [],
        "faults": [],
        "file": None,
    }


def _lines(items: list[Item]) -> Iterator[str]:
    """An item's id, subjects and tags; beneath it, what it is about and where it lies."""
    for item in items:
        subjects = f"  {', '.join(item['subjects'])}" if item["subjects"] else ""
        tags = f"  [{', '.join(item['tags'])}]" if item["tags"] else ""
        yield from _wrapped(f"{item['id']}{subjects}{tags}")
        for text in (item["title"], _nearby(item["file"]) if item["file"] else "not written yet"):
            yield from _wrapped(_INDENT + text) if text else ()


def _nearby(file: str) -> str:
    """A path as short as it can be said here."""
    with suppress(ValueError):
        return str(Path(file).relative_to(Path.cwd()))
    return file


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(
        text,
        _WIDTH,
        subsequent_indent=_INDENT,
        break_long_words=False,
        break_on_hyphens=False,
    )
