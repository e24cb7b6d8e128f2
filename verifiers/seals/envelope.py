"""One line of a log: an in-toto statement in a DSSE envelope, signed, in exactly one form."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import FormatError, VerificationError
from securesystemslib.signer import CryptoSigner, Key

from sandboxes import clock

PAYLOAD = "application/vnd.in-toto+json"
STATEMENT = "https://in-toto.io/Statement/v1"
SCHEMA = 1
Statement = Mapping[str, Any]


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
    try:
        envelope = Envelope.from_dict(json.loads(line))
        again = _encoded(envelope.to_dict())
        signers = list(envelope.signatures)
    except (ValueError, KeyError, TypeError, AttributeError, FormatError) as error:
        raise Unsound("a signed line", f"none: {error!r}") from error
    if again != line or envelope.payload_type != PAYLOAD:
        raise Unsound("a signed line in its one form", "another form of it")
    if signers != [key.keyid]:
        names = ", ".join(signers) or "nobody"
        raise Unsound(f"a line signed by {key.keyid}", f"one signed by {names}", names)
    try:
        envelope.verify([key], 1)
    except VerificationError as error:
        raise Unsound(f"the signature of {key.keyid}", "one that does not match") from error
    content: Statement = json.loads(envelope.payload)
    return content


def _encoded(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()
