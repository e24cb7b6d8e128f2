"""How verbs that don't judge answer: items or errors, for people or as JSON.

Exit codes: 0 done, 2 bad usage or an invalid file, 3 an empty selection. For people, items
go to stdout and errors to stderr; with ``--json`` one document goes to stdout.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any, Final

from harness.case.errors import CaseErrors
from harness.errors import UsageError

DONE: Final = 0
INVALID: Final = 2
EMPTY: Final = 3


def listed(
    items: Sequence[dict[str, Any]], lines: Iterable[str], *, as_json: bool, why: str = ""
) -> int:
    """Answer with items; nothing selected is exit 3, and ``why`` says more of it."""
    code = DONE if items else EMPTY
    if as_json:
        document({"schema": 1, "exit": code, "items": list(items)})
        return code
    for line in lines:
        sys.stdout.write(printable(line) + "\n")
    if not items:
        hint = "name a case, a suite, or a folder of cases (the folder of a run is not searched)"
        sys.stderr.write(f"shakeout: nothing is selected; {printable(why) or hint}\n")
    return code


def refused(
    error: CaseErrors | UsageError,
    *,
    as_json: bool,
    beside: tuple[Sequence[dict[str, Any]], Iterable[str]] | None = None,
) -> int:
    """Answer with everything that is wrong, and the items and lines that are right; exit 2."""
    if as_json:
        items = {} if beside is None else {"items": list(beside[0])}
        document({"schema": 1, "exit": INVALID, "errors": _entries(error), **items})
        return INVALID
    for line in beside[1] if beside else ():
        sys.stdout.write(printable(line) + "\n")
    sys.stdout.flush()  # else what is wrong comes first where both go to one place
    if isinstance(error, CaseErrors):
        sys.stderr.write("".join(f"{printable(str(one))}\n" for one in error.errors))
    else:
        sys.stderr.write(f"shakeout: {printable(str(error))}\n")
    return INVALID


def printable(line: str) -> str:
    """A line without what a terminal would take for a command."""
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in line)


def document(content: dict[str, Any]) -> None:
    """Print one JSON document."""
    sys.stdout.write(json.dumps(content, indent=2, ensure_ascii=False) + "\n")


def _entries(error: CaseErrors | UsageError) -> list[dict[str, Any]]:
    if isinstance(error, CaseErrors):
        return [one.document() for one in error.errors]
    message, _, hint = str(error).partition("; ")
    return [{"file": None, "line": None, "column": None, "message": message, "hint": hint}]
