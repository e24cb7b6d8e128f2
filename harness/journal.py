"""The journal of a trial: what happened, line by line, written down as it happens.

Each event is one line of JSON, handed to the kernel before :meth:`Journal.write` returns, so
a harness that is killed leaves every event up to then; a line that was being written is
recognised by its missing end and left out. Planted secrets never get in.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.errors import EvidenceLost
from harness.evidence.published import refuse_unlike
from harness.evidence.stored_file import parsed, read_stored
from sandboxes import clock

NAME = "journal.jsonl"

Redact = Callable[[bytes], tuple[bytes, Sequence[object]]]
Heard = Callable[[str], None]
Event = Mapping[str, Any]
#: When it happened, on the clock that never steps; the event; and its fields.
Past = tuple[float, str, Event]


class Journal:
    """Appends events ``{t, at, event, ...}`` to a file; safe to call from any thread.

    ``t`` counts seconds from the journal's opening on a clock that never steps, ``at`` is
    the time of day in UTC.
    """

    def __init__(
        self, path: Path, redact: Redact | None = None, heard: Heard | None = None
    ) -> None:
        """Open a new journal.

        Args:
            path: of the file.
            redact: takes planted secrets out of a line.
            heard: is told the name of each event that was written.

        Raises:
            EvidenceLost: the file exists already or cannot be made.
        """
        self._path = path
        self._redact = redact
        self._heard = heard
        self._lock = threading.Lock()
        self._begun = clock.monotonic()
        self._past: list[Past] = []
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC
        try:
            self._file: int | None = os.open(path, flags, 0o644)
        except OSError as error:
            raise EvidenceLost(f"the journal cannot be made: {error}") from error

    def write(self, event: str, **fields: object) -> None:
        """Append an event.

        Raises:
            EvidenceLost: it could not be written, or the journal is closed.
        """
        with self._lock:
            if self._file is None:
                raise EvidenceLost(f"{event!r} came after the journal was closed")
            now = clock.monotonic()
            self._past.append((now, event, fields))
            line = {
                "t": round(now - self._begun, 6),
                "at": clock.stamp(),
                "event": event,
                **fields,
            }
            self._append(self._file, json.dumps(line, default=str).encode())
        if self._heard is not None:
            self._heard(event)

    def past(self) -> Sequence[Past]:
        """All events so far, as they were told; planted secrets may be in them."""
        with self._lock:
            return tuple(self._past)

    def close(self) -> None:
        """Write the last event and put everything on disk; a second call does nothing.

        Raises:
            EvidenceLost: what was written may not be on disk.
        """
        with self._lock:
            if self._file is None:
                return
            file, self._file = self._file, None
            try:
                os.fsync(file)
            except OSError as error:
                raise EvidenceLost(f"the journal cannot be closed: {error}") from error
            finally:
                os.close(file)

    def _append(self, file: int, line: bytes) -> None:
        if self._redact is not None:
            line = _redacted(line, self._redact)
        rest = memoryview(line + b"\n")
        try:
            while rest:
                rest = rest[os.write(file, rest) :]
        except OSError as error:
            raise EvidenceLost(f"the journal cannot be written: {error}") from error


def _redacted(line: bytes, redact: Redact) -> bytes:
    """The line without secrets; one that was cut up over the line takes its fields with it."""
    redacted, marks = redact(line)
    if not marks:
        return line
    try:
        json.loads(redacted)
    except ValueError:
        event = json.loads(line)
        kept = {key: event[key] for key in ("t", "at", "event")}
        return json.dumps({**kept, "withheld": [str(mark) for mark in marks]}).encode()
    return redacted


def read_journal(path: Path) -> tuple[Event, ...]:
    """The events of a journal, also of one whose writer was killed.

    Raises:
        EvidenceLost: it cannot be read, or a line other than a torn last one is no event.
    """
    data = read_stored(path.parent, path.name)
    whole, _, _torn = data.rpartition(b"\n")
    lines = enumerate(whole.split(b"\n") if whole else [], 1)
    told = {f"{path.name}, line {number}": line for number, line in lines}
    events = {place: parsed(line, place) for place, line in told.items()}
    for place, event in events.items():
        refuse_unlike("journal.jsonl line", event, told=place)
    return tuple(events.values())
