"""What a request to a chat service says, in whichever of its forms a client put it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qsl

from harness.services.base import Incoming
from harness.services.bounds import read_json

_DISPOSITION: Final = re.compile(rb'(?i)^content-disposition:[^\r\n]*?;\s*name="([^"\r\n]*)"', re.M)
_FILENAME: Final = re.compile(rb'(?i);\s*filename="([^"\r\n]*)"')
_TYPE: Final = re.compile(rb"(?i)^content-type:\s*([^\r\n]+)", re.M)
_MOST_FIELDS: Final = 1000
_BOUNDARY: Final = re.compile(r'(?i)boundary="?([^";,\s]+)')


@dataclass(frozen=True, slots=True)
class File:
    """A file that was sent along."""

    name: str
    kind: str
    data: bytes


def fields(incoming: Incoming) -> Mapping[str, Any]:
    """The parameters of a request: of its query and of its body, the body's last.

    A body that is not in the form that its type names says nothing.
    """
    query = incoming.path.partition("?")[2]
    kind = incoming.headers.get("content-type", "").partition(";")[0].strip().lower()
    return {**dict(parse_qsl(query, keep_blank_values=True)), **_of_body(incoming, kind)}


def _of_body(incoming: Incoming, kind: str) -> Mapping[str, Any]:
    if kind == "application/json":
        said = nested(incoming.body)
        return said if isinstance(said, dict) else {}
    if kind == "application/x-www-form-urlencoded":
        return _of_form(incoming.body.decode("utf-8", "replace"))
    boundary = _BOUNDARY.search(incoming.headers.get("content-type", ""))
    if kind == "multipart/form-data" and boundary:
        return _parts(incoming.body, boundary[1].encode("utf-8", "surrogateescape"))
    return {}


def _of_form(text: str) -> Mapping[str, Any]:
    try:
        return dict(parse_qsl(text, keep_blank_values=True, max_num_fields=_MOST_FIELDS))
    except ValueError:
        return {}


def _parts(body: bytes, boundary: bytes) -> dict[str, str | File]:
    found: dict[str, str | File] = {}
    for piece in (b"\r\n" + body).split(b"\r\n--" + boundary, _MOST_FIELDS)[1:]:
        head, separator, data = piece.partition(b"\r\n\r\n")
        name = _DISPOSITION.search(head)
        if not separator or name is None:
            continue
        filename, kind = _FILENAME.search(head), _TYPE.search(head)
        key = name[1].decode("utf-8", "replace")
        if filename is None:
            found[key] = data.decode("utf-8", "replace")
        else:
            type_ = kind[1].decode("latin-1").strip() if kind else "application/octet-stream"
            found[key] = File(filename[1].decode("utf-8", "replace"), type_, data)
    return found


def nested(value: object) -> Any:
    """A value that clients send as it is or as JSON in a text; ``None`` where it is neither."""
    if not isinstance(value, str | bytes):
        return value
    try:
        return read_json(value)
    except (ValueError, RecursionError):
        return None


def text_of(value: object) -> str:
    """A parameter that is to be a text; numbers are taken as they are written."""
    return value if isinstance(value, str) else "" if value is None else str(value)


def number_of(value: object, otherwise: int) -> int:
    """A parameter that is to be a whole number."""
    try:
        return int(text_of(value))
    except ValueError:
        return otherwise
