"""Reads a corpus, one failed tool call a line as JSON, of any length and in constant memory.

A line has ``tool``, ``exit_code``, ``stdout`` and ``stderr`` (or ``output`` and ``error``), each of
which may be missing, and an ``id``, by default its number. A line that is none is told and passed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, Final

from runtime.recovery.classes import Failure

LONGEST: Final = 64 * 1024 * 1024  # bytes of a line


@dataclass(frozen=True, slots=True)
class Record:
    """A failure of the corpus.

    Attributes:
        line: its number, from 1.
        id: what the corpus calls it.
        failure: the call.
    """

    line: int
    id: str
    failure: Failure


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that is no record, and why."""

    line: int
    reason: str


class _NotARecord(Exception):
    """Why a line is none."""


def records(file: BinaryIO) -> Iterator[Record | BadLine]:
    """Every line that is not blank, in order."""
    number = 0
    while raw := file.readline(LONGEST):
        number += 1
        if len(raw) == LONGEST and not raw.endswith(b"\n"):
            _pass_on(file)
            yield BadLine(number, f"it is longer than {LONGEST} bytes")
        elif raw.strip():
            yield _record(number, raw)


def _pass_on(file: BinaryIO) -> None:
    while (rest := file.readline(LONGEST)) and not rest.endswith(b"\n"):
        pass


def _record(number: int, raw: bytes) -> Record | BadLine:
    try:
        return _parsed(number, json.loads(raw))
    except _NotARecord as wrong:
        return BadLine(number, str(wrong))
    except (ValueError, RecursionError) as error:
        return BadLine(number, f"it is not JSON: {error}")


def _parsed(number: int, value: object) -> Record:
    if not isinstance(value, dict):
        raise _NotARecord("it is not an object")
    error, output = _text(value, "stderr", "error"), _text(value, "stdout", "output")
    if error is None and output is None:
        raise _NotARecord("it has neither stderr nor stdout")
    code = value.get("exit_code")
    if code is not None and (isinstance(code, bool) or not isinstance(code, int)):
        raise _NotARecord("its exit_code is not a whole number")
    failure = Failure(str(value.get("tool") or ""), code, output or "", error or "")
    return Record(number, str(value.get("id", number)), failure)


def _text(value: dict[str, object], *names: str) -> str | None:
    name = next((name for name in names if value.get(name) is not None), None)
    if name is None:
        return None
    text = value[name]
    if not isinstance(text, str):
        raise _NotARecord(f"its {name} is not text")
    return text
