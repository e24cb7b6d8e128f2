"""The log of a state folder, and its head: what the last writer has put on disk.

The head says how long the log is and gives its digest, signed. It is written after the log, so
whatever the head covers was once there: less is never a crash. What lies beyond it is what a
writer that was killed had not yet vouched for: whole lines are taken if they are signed and in
their place, the beginning of one is cut off, and everything else is no accident.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from securesystemslib.signer import CryptoSigner, Key

from sandboxes import clock
from verifiers.seals.chain import NOTHING, read, sha256, went_back
from verifiers.seals.envelope import Artifact, Link, Statement, Unsound, opened, signed, statement
from verifiers.seals.errors import Cause, NotSealed, kept
from verifiers.seals.files import replace, write_all
from verifiers.seals.form import seconds

LOG = "log.jsonl"
HEAD = "head.json"
EVENT = "urn:shakeout:attestation:event:v1"
RESET = "reset"
RECOVERED = "recovered"
_HEAD = "urn:shakeout:attestation:head:v1"
_BEGINNING = b'{"payload":"'


@dataclass(frozen=True, slots=True)
class Head:
    """How far a log goes.

    Attributes:
        seq: number of its last line, -1 where it has none.
        last: SHA-256 of that line.
        size: of the log, bytes.
        sha256: of the log.
        at: when the line was written, seconds since the epoch.
    """

    seq: int
    last: str
    size: int
    sha256: str
    at: float


EMPTY = Head(-1, NOTHING, 0, hashlib.sha256().hexdigest(), 0.0)


@dataclass(frozen=True, slots=True)
class Tail:
    """What a killed writer left beyond the head: lines that count, bytes that do not."""

    taken: int
    cut: bytes


class Ledger:
    """One state folder's log; whoever calls holds the folder's lock."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.log = folder / LOG
        self.head = folder / HEAD

    @property
    def made(self) -> bool:
        """Whether there is anything of it."""
        return self.head.exists() or (self.log.exists() and self.log.stat().st_size > 0)

    @property
    def empty(self) -> bool:
        """Whether nothing was ever written to it."""
        return not self.log.exists()

    def make(self, signer: CryptoSigner) -> None:
        """Begin an empty log.

        Raises:
            OSError: its head cannot be written.
        """
        self._write_head(EMPTY, signer)

    def sound(self, key: Key, now: float) -> tuple[Head, Tail]:
        """Where the log ends, checked against its head and the clock.

        Raises:
            NotSealed: it is not what its head says, or the clock went back.
        """
        head = self.read_head(key)
        with kept(f"{self.log} cannot be read"):
            data = self.log.read_bytes() if self.log.exists() else b""
        if len(data) < head.size:
            what = f"{self.log} has {len(data)} bytes; its head says {head.size}"
            raise NotSealed(Cause.LENGTH, what)
        if sha256(data[: head.size]) != head.sha256:
            raise NotSealed(Cause.CHAIN, _first_problem(data[: head.size], key, self.log))
        head, tail = self._beyond(head, data, key)
        if went_back(head.at, now):
            what = f"it says {clock.stamp(now)}, the log {clock.stamp(head.at)}"
            raise NotSealed(Cause.CLOCK, f"the clock went back: {what}", "set it right")
        return head, tail

    def read_head(self, key: Key) -> Head:
        """What the head says.

        Raises:
            NotSealed: it is gone, or not as it was signed.
        """
        if not self.head.exists():
            raise NotSealed(Cause.HEAD, f"{self.head} is gone, and a log is there")
        with kept(f"{self.head} cannot be read"):
            line = self.head.read_bytes()
        try:
            content = _of_kind(_HEAD, opened(line, key))
        except Unsound as error:
            raise NotSealed(Cause.HEAD, f"{self.head}: {error}") from error
        place = content["predicate"]["log"]
        digest = content["subject"][0]["digest"]["sha256"]
        size = content["predicate"]["size"]
        return Head(place["seq"], place["prev"], size, digest, seconds(place["at"]))

    def append(
        self, head: Head, event: str, fields: Mapping[str, Any], signer: CryptoSigner, now: float
    ) -> Head:
        """Append an event after ``head``, and put log and head on disk.

        Raises:
            OSError: it cannot be written; what was there is still there.
        """
        link = Link(head.seq + 1, head.last, now)
        about = [Artifact(LOG, head.sha256)]
        line = signed(statement(EVENT, about, {"event": event, **fields}, link), signer) + b"\n"
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        file = os.open(self.log, flags, 0o600)
        try:
            whole = hashlib.sha256(os.pread(file, head.size, 0) + line)
            self._extend(file, head.size, line)
        finally:
            os.close(file)
        size = head.size + len(line)
        after = Head(link.seq, sha256(line[:-1]), size, whole.hexdigest(), now)
        self._write_head(after, signer)
        return after

    def _extend(self, file: int, size: int, line: bytes) -> None:
        """Write a line where the log ends; what lay beyond is cut off."""
        os.ftruncate(file, size)
        try:
            write_all(file, line)
            os.fsync(file)
        except OSError:
            with suppress(OSError):
                os.ftruncate(file, size)
            raise

    def _write_head(self, head: Head, signer: CryptoSigner) -> None:
        about = [Artifact(LOG, head.sha256)]
        link = Link(head.seq, head.last, head.at)
        replace(self.head, signed(statement(_HEAD, about, {"size": head.size}, link), signer))

    def _beyond(self, head: Head, data: bytes, key: Key) -> tuple[Head, Tail]:
        """Take what a killed writer had written whole."""
        *lines, cut = data[head.size :].split(b"\n")
        for line in lines:
            place = self._place(line, head, key)
            size = head.size + len(line) + 1
            after = sha256(data[:size])
            head = Head(place["seq"], sha256(line), size, after, seconds(place["at"]))
        begun = cut.rstrip(b"\0")
        if begun[: len(_BEGINNING)] != _BEGINNING[: len(begun)]:
            what = f"{self.log} is {len(cut)} bytes longer than its head says"
            raise NotSealed(Cause.LENGTH, what)
        return head, Tail(len(lines), cut)

    def _place(self, line: bytes, head: Head, key: Key) -> Mapping[str, Any]:
        """The place of a line beyond the head, which must be the next."""
        try:
            place: Mapping[str, Any] = _of_kind(EVENT, opened(line, key))["predicate"]["log"]
        except Unsound as error:
            what = f"{self.log} is longer than its head says: record {head.seq + 1}: {error}"
            raise NotSealed(Cause.LENGTH, what) from error
        if (place["seq"], place["prev"]) != (head.seq + 1, head.last):
            what = (
                f"{self.log} is longer than its head says: by a line that is record {place['seq']}"
            )
            raise NotSealed(Cause.LENGTH, what)
        return place


def _of_kind(kind: str, content: Statement) -> Statement:
    if content["predicateType"] != kind:
        raise Unsound(f"a {kind}", f"a {content['predicateType']}")
    return content


def _first_problem(data: bytes, key: Key, log: Path) -> str:
    problems = read(data, key, str(log), (RESET,)).problems
    return str(problems[0]) if problems else f"{log} is not the one its head was made for"
