"""The record of requests: what every service of a trial was asked, and what became of it.

Kept where the subject cannot reach it, screened before it is stored. A request is written
when it ends, so lines stand in the order of endings; ``seq`` is the order of arrival. Lines
are gathered for at most :data:`LAG` seconds; that much a killed harness may lose. Big bodies
are screened, hashed and written by a thread of their own, so that nobody else waits for them.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from harness.evidence.model import Request
from harness.services.base import Answer, Incoming, Redact
from harness.services.lines import Fixed, Row, fixed, request_line
from harness.services.reply import Wire
from harness.services.screening import Screen

LAG: Final = 0.05
BIG: Final = 256 << 10
#: Characters of a message that are kept: no chat service takes a longer text.
MESSAGE: Final = 40_000

_BUFFER: Final = 256 << 10
_SHOWN: Final = 2000
_NO_ANSWER: Final = Answer(Wire(), "")


@dataclass(slots=True)
class Seen:
    """A request and what became of it so far, as it came: nothing is screened yet.

    One that is not ``taken`` was too many, and is neither served nor put down.
    """

    seq: int
    t: float
    service: str
    incoming: Incoming
    kind: str = "probe"
    model: str | None = None
    answer: Answer | None = None
    fault: str | None = None
    status: int = 0
    sent: int = 0
    ended: str = "cut"
    taken: bool = True


class _Told(NamedTuple):
    """What a request said, screened, and as much of its line as follows from that."""

    path: str
    headers: Mapping[str, str]
    body: bytes
    body_sha256: str
    secrets: tuple[str, ...]
    fixed: Fixed | None = None


@dataclass(frozen=True, slots=True)
class Shelf:
    """Where the record is stored.

    Attributes:
        lines: the file of one line for each request; ``None``: no file.
        bodies: the folder of bodies; ``None``: hashes only.
        keep: whether requests are held in memory for :meth:`Recorder.requests`.
    """

    lines: Path | None = None
    bodies: Path | None = None
    keep: bool = True

    @classmethod
    def of_trial(cls, folder: Path) -> Shelf:
        """``requests.jsonl`` and ``requests/`` in a trial's folder."""
        return cls(folder / "requests.jsonl", folder / "requests")


@dataclass(frozen=True, slots=True)
class Hands:
    """Who does what the loop's thread cannot do at once.

    Attributes:
        later: calls something in the loop's thread after so many seconds.
        aside: runs what takes long.
        stored: told, in any thread, that a big body has been stored.
    """

    later: Callable[[float, Callable[[], None]], object]
    aside: Executor
    stored: Callable[[], object]


class Recorder:
    """The record of one trial. :meth:`add` is called in the loop's thread only.

    Attributes:
        failure: the first thing that could not be recorded, or ``None``.
        backlog: bytes of big bodies that are still to be stored.

    Args:
        shelf: where it is stored.
        redact: replaces planted secrets; ``None``: none is planted.
        hands: who does what cannot be done at once.
    """

    def __init__(
        self,
        shelf: Shelf,
        redact: Redact | None,
        hands: Hands,
    ) -> None:
        self._shelf = shelf
        self._screen = Screen(redact)
        self._hands = hands
        self._requests: list[Request] = []
        self._lines = bytearray()
        self._due = False
        self._busy = 0
        self.backlog = 0
        self._changed = threading.Condition()
        self.failure: BaseException | None = None
        self._fd = -1
        if shelf.bodies is not None:
            shelf.bodies.mkdir(parents=True, exist_ok=True)
        if shelf.lines is not None:
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
            self._fd = os.open(shelf.lines, flags, 0o644)

    @property
    def screen(self) -> Screen:
        """What makes texts of this trial fit to be stored."""
        return self._screen

    def add(self, seen: Seen) -> None:
        """Put down a request that has ended."""
        if len(seen.incoming.body) >= BIG:
            with self._changed:
                self._busy += 1
                self.backlog += len(seen.incoming.body)
            self._hands.aside.submit(self._add_aside, seen)
            return
        self._store(seen)
        if self._fd >= 0 and not self._due:
            self._due = True
            self._hands.later(LAG, self._flush_due)

    def requests(self) -> Sequence[Request]:
        """All that have ended, in order of arrival."""
        with self._changed:
            self._settle()
            return sorted(self._requests, key=lambda request: request.seq)

    def close(self) -> None:
        """Write what is left; nothing may be added any more."""
        with self._changed:
            self._settle()
            self._flush()
            if self._fd >= 0:
                os.close(self._fd)
                self._fd = -1

    def _settle(self) -> None:
        self._changed.wait_for(lambda: not self._busy)

    # -- storing

    def _add_aside(self, seen: Seen) -> None:
        try:
            self._store(seen)
            with self._changed:
                self._flush()
        finally:
            with self._changed:
                self._busy -= 1
                self.backlog -= len(seen.incoming.body)
                self._changed.notify_all()
            self._hands.stored()

    def _store(self, seen: Seen) -> None:
        try:
            told = self._told(seen)
            row = self._row(seen, told)
            self._store_body(seen.seq, told.body)
            line = request_line(row, told.fixed).encode() if self._fd >= 0 else b""
        except Exception as error:  # noqa: BLE001 - a lost request is told by `failure`
            self.failure = self.failure or error
            return
        with self._changed:
            if self._shelf.keep:
                self._requests.append(Request(*row))
            self._lines += line
            if len(self._lines) > _BUFFER:
                self._flush()

    def _told(self, seen: Seen) -> _Told:
        """What the request said, screened; once for all times that the very same one comes."""
        notes = seen.incoming.notes
        if notes is None:
            return self._heard(seen)
        if not isinstance(notes.record, _Told):
            told = self._heard(seen)
            notes.record = told._replace(fixed=fixed(self._row(seen, told)))
            return told
        return notes.record

    def _heard(self, seen: Seen) -> _Told:
        incoming = seen.incoming
        path, marks = self._screen.text(incoming.path)
        headers, more = self._screen.headers(incoming.headers)
        body, most = self._screen.body(incoming.body, of_agent=seen.service == "model")
        digest = hashlib.sha256(body).hexdigest()
        return _Told(path, headers, body, digest, (*marks, *more, *most))

    def _row(self, seen: Seen, told: _Told) -> Row:
        answer = seen.answer or _NO_ANSWER
        return Row(
            seen.seq,
            round(seen.t, 6),
            seen.service,
            seen.incoming.conn,
            seen.kind,
            seen.incoming.method,
            told.path,
            told.headers,
            told.body_sha256,
            answer.turn,
            answer.attempt,
            seen.fault,
            seen.status,
            seen.sent,
            seen.ended,
            answer.tokens_in,
            answer.tokens_out,
            self._start(seen.model, _SHOWN),
            told.secrets,
            self._start(answer.tool_result, _SHOWN),
            self._start(answer.message, MESSAGE),
        )

    def _start(self, text: str | None, most: int) -> str | None:
        """The start of a text, cut after it was screened, lest half a secret be left."""
        return None if text is None else self._screen.text(text[:BIG])[0][:most]

    def _store_body(self, seq: int, body: bytes) -> None:
        if self._shelf.bodies is not None:
            with (self._shelf.bodies / f"{seq}.body").open("xb", buffering=0) as file:
                file.write(body)

    def _flush_due(self) -> None:
        with self._changed:
            self._due = False
            self._flush()

    def _flush(self) -> None:
        if self._fd < 0 or not self._lines:
            return
        lines, self._lines = self._lines, bytearray()
        try:
            with memoryview(lines) as rest:
                done = 0
                while done < len(rest):
                    done += os.write(self._fd, rest[done:])
        except OSError as error:
            self.failure = self.failure or error
