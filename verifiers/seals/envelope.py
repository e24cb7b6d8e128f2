"""One line of a log: an in-toto statement in a DSSE envelope, signed, in exactly one form."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import FormatError, VerificationError
from securesystemslib.signer import CryptoSigner, Key

from sandboxes import clock
from verifiers.seals.form import SCHEMA, STATEMENT, Malformed, parsed

PAYLOAD = "application/vnd.in-toto+json"
#: Bytes of a line: what is larger is not read, and so not written.
LONGEST = 1 << 25
Statement = Mapping[str, Any]
_SHAPE = re.compile(
    rb'\{"payload":"[\w+/]*={0,2}","payloadType":"application/vnd\.in-toto\+json",'
    rb'"signatures":\[\{"keyid":"(?P<keyid>[0-9a-f]{64})","sig":"[\w+/]*={0,2}"\}\]\}'
)


@dataclass(frozen=True, slots=True)
class Artifact:
    """What a statement is about: a name, and 64 hexadecimal digits of SHA-256."""

    name: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Link:
    """The place of a line in its log.

    Attributes:
        seq: its number, from 0.
        prev: SHA-256 of the line before, without its end; zeros for the first.
        at: seconds since the epoch.
    """

    seq: int
    prev: str
    at: float


class Unsound(Exception):
    """A line is not what was signed.

    Attributes:
        expected: what should be there.
        seen: what is.
        keyid: where it was signed by another key: that key's id.
    """

    def __init__(self, expected: str, seen: str, keyid: str = "") -> None:
        super().__init__(f"expected {expected}; there is {seen}")
        self.expected = expected
        self.seen = seen
        self.keyid = keyid


def statement(
    kind: str, subject: Sequence[Artifact], predicate: Mapping[str, object], link: Link
) -> Statement:
    """A statement, its place in the log within.

    Args:
        kind: the predicate's type, a URI.
        subject: what it is about; at least one.
        predicate: what is said of it.
        link: its place.
    """
    place = {"seq": link.seq, "prev": link.prev, "at": clock.stamp(link.at)}
    return {
        "_type": STATEMENT,
        "subject": [{"name": a.name, "digest": {"sha256": a.sha256}} for a in subject],
        "predicateType": kind,
        "predicate": {"schema": SCHEMA, **predicate, "log": place},
    }


def signed(content: Statement, signer: CryptoSigner) -> bytes:
    """The line, without its end."""
    envelope = Envelope(_encoded(content), PAYLOAD, {})
    envelope.sign(signer)
    return _encoded(envelope.to_dict())


def opened(line: bytes, key: Key) -> Statement:
    """The statement in a line.

    Raises:
        Unsound: it was not signed with ``key``, or is not in the form in which it was signed.
    """
    signer = signed_by(line)
    if not signer:
        raise Unsound("a signed line in its one form", f"something else, of {len(line)} bytes")
    if signer != key.keyid:
        raise Unsound(f"a line signed by {key.keyid}", f"one signed by {signer}", signer)
    try:
        envelope = Envelope.from_dict(json.loads(line))
        if _encoded(envelope.to_dict()) != line:
            raise Unsound("a signed line in its one form", "another form of it")
        envelope.verify([key], 1)
    except VerificationError as error:
        raise Unsound(f"the signature of {key.keyid}", "one that does not match") from error
    except (ValueError, KeyError, TypeError, AttributeError, FormatError) as error:
        raise Unsound("a signed line", f"none: {error!r}") from error
    try:
        return parsed(envelope.payload)
    except Malformed as error:
        raise Unsound(
            "a statement in its form", f"another, though it is signed: {error}"
        ) from error


def signed_by(line: bytes) -> str:
    """The id of the key that a line says it is signed with; empty where it is no signed line."""
    shape = _SHAPE.fullmatch(line) if len(line) <= LONGEST else None
    return shape["keyid"].decode() if shape else ""


def _encoded(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()
