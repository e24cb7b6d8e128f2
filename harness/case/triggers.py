"""Triggers as values: of plain data that its schema has let through."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from typing import Any

from harness.case import grammar
from harness.case.grammar import GrammarError
from harness.case.model import Trigger
from harness.case.read_script import MODEL


def trigger(value: str | Mapping[str, Any]) -> Trigger:
    """The trigger that was written so.

    Raises:
        GrammarError: its path is no path inside.
    """
    if isinstance(value, str):
        return Trigger()
    if "request" in value:
        return Trigger("request", service=value.get("service", MODEL), count=value["request"])
    if "after" in value:
        return Trigger("after", seconds=grammar.duration(value["after"]))
    if "output" in value:
        return Trigger("output", pattern=value["output"])
    return Trigger("file", path=path_inside(value["file"]))


def path_inside(text: str) -> str:
    """A path of the home (``~/…``) or the workspace, in its shortest form.

    Raises:
        GrammarError: it is none.
    """
    plain = posixpath.normpath(text.removeprefix("~/"))
    if "\0" in text or plain.startswith(("/", "~")) or plain.split("/")[0] in {"..", ".", ""}:
        raise GrammarError("is no path inside", text, "write one such as out.txt or ~/.cache/x")
    return f"~/{plain}" if text.startswith("~/") else plain
