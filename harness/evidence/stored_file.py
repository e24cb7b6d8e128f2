"""Reads a file of stored evidence, which may be anything by now."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness.errors import EvidenceLost
from verifiers.seals.reading import Absent, Unfit, contents

_MOST = 1 << 29
#: Digits of an integer: any such number has a nearest one with a point.
_DIGITS = 300
#: Lists and maps in each other, far below what would end the reader of them.
_DEPTH = 200


def read_stored(folder: Path, name: str, most: int = _MOST) -> bytes:
    """All of a regular file; no link is followed, and nothing that is no file waited for.

    Args:
        folder: of a trial or a run.
        name: path of the file below it.
        most: bytes that it may have.

    Raises:
        EvidenceLost: it is none, is larger than anything we write, or cannot be read.
    """
    path = folder / name
    try:
        return contents(folder, name, most)
    except Absent as error:
        raise EvidenceLost(f"{path} is not there") from error
    except Unfit as error:
        raise EvidenceLost(f"{path} is no regular file of ours: it is {error}") from error
    except OSError as error:
        raise EvidenceLost(f"{path} cannot be read: {error.strerror}") from error


def read_json(folder: Path, name: str) -> Any:
    """A document.

    Raises:
        EvidenceLost: it is missing or no JSON.
    """
    return parsed(read_stored(folder, name), str(folder / name))


def read_lines(folder: Path, name: str) -> Iterator[tuple[str, Any]]:
    """Each line of a file with its place in words; a last one that was torn too.

    Raises:
        EvidenceLost: the file is missing, or a line of it no JSON.
    """
    whole = read_stored(folder, name)
    for number, line in enumerate(whole.removesuffix(b"\n").split(b"\n") if whole else (), 1):
        place = f"{folder / name}, line {number}"
        yield place, parsed(line, place)


def parsed(data: bytes, place: str) -> Any:
    """What JSON says, if it says nothing that no reader is made for.

    Args:
        data: the JSON.
        place: where it is from, in words.

    Raises:
        EvidenceLost: it is none, is nested too deep, or has a number that is none.
    """
    try:
        value = json.loads(data, parse_float=_real, parse_int=_whole, parse_constant=_real)
    except RecursionError as error:
        raise EvidenceLost(f"{place} is no JSON for a reader: it is nested too deep") from error
    except ValueError as error:
        raise EvidenceLost(f"{place} is no JSON: {error}") from error
    if _deeper(value, _DEPTH):
        raise EvidenceLost(f"{place} is no JSON for a reader: it is nested too deep")
    return value


def _real(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:20]} is no number")
    return number


def _whole(text: str) -> int:
    if len(text) > _DIGITS:
        raise ValueError(f"a number of {len(text)} digits")
    return int(text)


def _deeper(value: Any, depth: int) -> bool:
    """Whether there is something in lists and maps beyond a depth."""
    level = [value] if isinstance(value, dict | list) else []
    while level and depth:
        inner = (one.values() if isinstance(one, dict) else one for one in level)
        level = [part for one in inner for part in one if isinstance(part, dict | list)]
        depth -= 1
    return bool(level)
