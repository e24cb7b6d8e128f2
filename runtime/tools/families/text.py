"""Texts, looked at: differences, and questions to JSON, YAML, CSV and regular expressions."""

from __future__ import annotations

import csv
import difflib
import errno
import io
import itertools
import json
import os
from collections.abc import Iterator
from typing import Any, Final

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from runtime.tools.apart import tested
from runtime.tools.base import Arguments, Context, Run, Schema, Tool, ToolResult
from runtime.tools.define import (
    LOCAL,
    PATH,
    arguments,
    as_text,
    names,
    number,
    on_thread,
    refused,
    says_failures,
    text,
)
from runtime.tools.patches import preview
from runtime.tools.paths import reading
from runtime.tools.pointer import NotThere, found, weight

FAMILY: Final = "text"
#: Bytes of a file that is looked at as a whole.
MOST: Final = 1 << 24
#: Lines of a file that is compared.
LINES: Final = 20_000
#: Characters of YAML, and values in it; reading it is slow.
_YAML: Final = 1 << 20
_VALUES: Final = 200_000
_ROWS: Final = 10_000
#: As ``sysexits.h`` has it, for data that are not what they should be.
BAD_DATA: Final = 65


def _whole(context: Context, path: str) -> str:
    """A file's text, which is not too long for this."""
    with reading(context.workspace, path) as file:
        data = file.read(MOST + 1)
    if len(data) > MOST:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), path)
    return as_text(data)


@on_thread
def diff(given: Arguments, context: Context) -> ToolResult:
    """How two files differ, as a unified diff; nothing where they do not."""
    old, new = given["old"], given["new"]
    before, after = (_whole(context, path).splitlines(keepends=True) for path in (old, new))
    if max(len(before), len(after)) > LINES:
        return refused(f"{old}, {new}: more than {LINES} lines")
    lines = difflib.unified_diff(before, after, old, new, n=given.get("context", 3))
    return ToolResult("".join(map(_ended, lines)))


def _ended(line: str) -> str:
    return line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


@on_thread
def json_query(given: Arguments, context: Context) -> ToolResult:
    """What a JSON file has in a place."""
    try:
        document = json.loads(_whole(context, given["path"]))
    except (ValueError, RecursionError) as error:
        return refused(f"{given['path']}: not JSON: {error}", BAD_DATA)
    return _answer(given, document)


@on_thread
def yaml_query(given: Arguments, context: Context) -> ToolResult:
    """What a YAML file has in a place; of several documents, a list of them."""
    source = _whole(context, given["path"])
    if len(source) > _YAML:
        return refused(f"{given['path']}: File too large: more than {_YAML} characters")
    try:
        documents = list(YAML(typ="safe", pure=True).load_all(source))
        heavy = weight(documents) > _VALUES
    except (YAMLError, ValueError, RecursionError) as error:
        return refused(f"{given['path']}: not YAML: {error}", BAD_DATA)
    if heavy:
        return refused(f"{given['path']}: its aliases stand for more than {_VALUES} values")
    return _answer(given, documents[0] if len(documents) == 1 else documents)


def _answer(given: Arguments, document: Any) -> ToolResult:
    try:
        values = list(found(document, given.get("pointer", "")))
    except NotThere as error:
        return refused(f"{given['path']}: {error}")
    try:
        lines = [json.dumps(value, ensure_ascii=False, default=str) for value in values]
    except TypeError as error:
        return refused(f"{given['path']}: {error}", BAD_DATA)
    return ToolResult("".join(f"{line}\n" for line in lines))


@on_thread
def csv_query(given: Arguments, context: Context) -> ToolResult:
    """The rows of a CSV file that hold what is asked for, as CSV."""
    path = given["path"]
    try:
        rows = csv.reader(
            io.StringIO(_whole(context, path), newline=""),
            delimiter=given.get("delimiter", ","),
            strict=True,
        )
        header = next(rows, [])
        wanted = given.get("columns", header)
        where = given.get("where", {})
        if unknown := [name for name in (*wanted, *where) if name not in header]:
            known = ", ".join(header)
            return refused(f"{path}: no column {', '.join(unknown)}; there are {known}", BAD_DATA)
        kept = _matching(rows, {header.index(name): value for name, value in where.items()})
        found = list(itertools.islice(kept, given.get("rows", _ROWS)))
    except csv.Error as error:
        return refused(f"{path}: not CSV: {error}", BAD_DATA)
    places = [header.index(name) for name in wanted]
    said = io.StringIO()
    writer = csv.writer(said, lineterminator="\n")
    writer.writerow(wanted)
    writer.writerows([row[place] if place < len(row) else "" for place in places] for row in found)
    return ToolResult(said.getvalue())


def _matching(rows: Iterator[list[str]], where: dict[int, str]) -> Iterator[list[str]]:
    for row in rows:
        if all(place < len(row) and row[place] == value for place, value in where.items()):
            yield row


@says_failures
async def regex_test(given: Arguments, context: Context) -> ToolResult:
    """What a regular expression matches in a text."""
    return await tested(given["pattern"], given["text"], context)


@says_failures
async def patch_preview(given: Arguments, context: Context) -> ToolResult:
    """What a patch would change, if it applies."""
    return await preview(given["patch"], context)


def _tool(name: str, summary: str, schema: Schema, run: Run) -> Tool:
    return Tool(name, FAMILY, summary, schema, run, True, True, LOCAL)


_POINTER: Final = text("a JSON Pointer such as /items/0/name, in which * is each; all if absent")

TOOLS: Final = (
    _tool(
        "diff",
        "Compare two files.",
        arguments(
            "old",
            "new",
            old=PATH,
            new=PATH,
            context=number("equal lines that are shown around", minimum=0, maximum=100),
        ),
        diff,
    ),
    _tool(
        "patch_preview",
        "Say whether a patch applies to the workspace and what it would change.",
        arguments("patch", patch=text("a unified diff", minLength=1)),
        patch_preview,
    ),
    _tool(
        "json_query",
        "Look something up in a JSON file.",
        arguments("path", path=PATH, pointer=_POINTER),
        json_query,
    ),
    _tool(
        "yaml_query",
        "Look something up in a YAML file.",
        arguments("path", path=PATH, pointer=_POINTER),
        yaml_query,
    ),
    _tool(
        "csv_query",
        "Find rows of a CSV file.",
        arguments(
            "path",
            path=PATH,
            columns=names("those that are shown", text("a column of the first line")),
            where={
                "type": "object",
                "additionalProperties": {"type": "string"},
                "description": "what a row has to have, by column",
            },
            rows=number("the most that are shown", minimum=1, maximum=_ROWS),
            delimiter=text("between the values", minLength=1, maxLength=1),
        ),
        csv_query,
    ),
    _tool(
        "regex_test",
        "Try a regular expression of Python's on a text.",
        arguments("pattern", "text", pattern=text("multi-line"), text=text("what is searched")),
        regex_test,
    ),
)
