"""A request as a line of ``requests.jsonl``.

Written by hand, at a third of what the encoder takes. Half of a line is about the request
alone, and the same each time that the very same request comes: that half can be kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from json.encoder import encode_basestring_ascii as quote
from typing import Any, Final, NamedTuple

from harness.evidence.model import Request

_NAMES: Final = tuple(field.name for field in fields(Request))


class Row(NamedTuple):
    """The fields of a :class:`~harness.evidence.model.Request`, made faster than one."""

    seq: int
    t: float
    service: str
    conn: int
    kind: str
    method: str
    path: str
    headers: Mapping[str, str]
    body_sha256: str
    turn: int | None
    attempt: int
    fault: str | None
    status: int
    bytes_sent: int
    ended: str
    tokens_in: int
    tokens_out: int
    model: str | None
    secrets: Sequence[str]
    tool_result: str | None
    message: str | None


class Fixed(NamedTuple):
    """What of a line depends on the request alone: two stretches of it."""

    came: str
    said: str


def fixed(row: Row | Request) -> Fixed:
    """Those of a request."""
    headers = ",".join([f"{quote(name)}:{quote(value)}" for name, value in row.headers.items()])
    return Fixed(
        f'"service":{quote(row.service)},"conn":{row.conn},"kind":',
        f'"method":{quote(row.method)},"path":{quote(row.path)},"headers":{{{headers}}},'
        f'"body_sha256":"{row.body_sha256}","turn":',
    )


def request_json(request: Request) -> Mapping[str, Any]:
    """A request as one line of ``requests.jsonl`` holds it, keys in the order of its fields."""
    return {name: getattr(request, name) for name in _NAMES}


def request_line(row: Row | Request, known: Fixed | None = None) -> str:
    """:func:`request_json` as a line; ``known`` is what :func:`fixed` gave for the request."""
    r, (came, said) = row, known or fixed(row)
    secrets = ",".join([quote(mark) for mark in r.secrets]) if r.secrets else ""
    return (
        f'{{"seq":{r.seq},"t":{r.t},{came}{quote(r.kind)},{said}'
        f'{"null" if r.turn is None else r.turn},"attempt":{r.attempt},'
        f'"fault":{"null" if r.fault is None else quote(r.fault)},'
        f'"status":{r.status},"bytes_sent":{r.bytes_sent},"ended":"{r.ended}",'
        f'"tokens_in":{r.tokens_in},"tokens_out":{r.tokens_out},'
        f'"model":{"null" if r.model is None else quote(r.model)},"secrets":[{secrets}],'
        f'"tool_result":{"null" if r.tool_result is None else quote(r.tool_result)},'
        f'"message":{"null" if r.message is None else quote(r.message)}}}\n'
    )


def request_from_json(line: Mapping[str, Any]) -> Request:
    """The request that :func:`request_json` wrote."""
    return Request(**{name: line[name] for name in _NAMES if name in line})
