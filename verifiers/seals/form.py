"""The form of a statement: what has to be in it before anything of it is used.

A signature says who made a statement and not what it is: whoever has a key can sign anything.
"""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Mapping
from typing import Any

STATEMENT = "https://in-toto.io/Statement/v1"
SCHEMA = 1
_MOST = 1 << 53
_SHA256 = re.compile(r"[0-9a-f]{64}")


class Malformed(Exception):
    """What is not in its form, in words."""


def parsed(data: bytes) -> Mapping[str, Any]:
    """The statement that is written in ``data``.

    Raises:
        Malformed: there is none.
    """
    try:
        content = json.loads(data)
    except ValueError as error:
        raise Malformed("no JSON") from error
    except RecursionError as error:
        raise Malformed("JSON that is nested too deep") from error
    said = _map(content, "the whole")
    if said.get("_type") != STATEMENT:
        raise Malformed("no statement of in-toto")
    _text(said, "predicateType")
    for about in _list(said, "subject", least=1):
        _text(about, "name")
        _sha256(_map(about.get("digest"), "digest"), "sha256")
    _predicate(_map(said.get("predicate"), "predicate"))
    return said


def _predicate(said: Mapping[str, Any]) -> None:
    if said.get("schema") != SCHEMA:
        raise Malformed(f"not of schema {SCHEMA}, which this version reads")
    place = _map(said.get("log"), "log")
    _number(place, "seq", least=-1)
    _sha256(place, "prev")
    _time(place, "at")
    for name in said.keys() & {"run", "folder"}:
        _text(said, name)
    for file in _list(said, "files"):
        _text(file, "name")
        _number(file, "size")
        _sha256(file, "sha256")
    for folder in _list(said, "folders"):
        _text(folder, "name")
        _number(folder, "seq")
        _sha256(folder, "sha256")


def _map(value: object, name: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise Malformed(f"{name} is no map")
    return value


def _list(said: Mapping[str, Any], name: str, least: int = 0) -> list[Mapping[str, Any]]:
    """A list of maps; one that may be empty need not be there."""
    value = said.get(name, [])
    if not isinstance(value, list) or len(value) < least:
        raise Malformed(f"{name} is no list")
    return [dict(_map(one, f"an entry of {name}")) for one in value]


def _text(said: Mapping[str, Any], name: str) -> None:
    if not isinstance(said.get(name), str):
        raise Malformed(f"{name} is no text")


def _number(said: Mapping[str, Any], name: str, least: int = 0) -> None:
    value = said.get(name)
    if type(value) is not int or not least <= value < _MOST:
        raise Malformed(f"{name} is no number")


def _sha256(said: Mapping[str, Any], name: str) -> None:
    value = said.get(name)
    if not isinstance(value, str) or not _SHA256.fullmatch(value):
        raise Malformed(f"{name} is no SHA-256")


def _time(said: Mapping[str, Any], name: str) -> None:
    _text(said, name)
    try:
        seconds(said[name])
    except (ValueError, OverflowError) as error:
        raise Malformed(f"{name} is no time") from error


def seconds(stamp: str) -> float:
    """The moment of a time stamp, seconds since the epoch."""
    return datetime.datetime.fromisoformat(stamp).timestamp()
