"""The log of one run: one line for each seal, by all the processes that the run has."""

from __future__ import annotations

import fcntl
import hashlib
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from securesystemslib.signer import CryptoSigner

from sandboxes import clock
from verifiers.seals.chain import NOTHING, place_of, sha256, went_back
from verifiers.seals.envelope import LONGEST, Link, Statement, Unsound, opened, signed
from verifiers.seals.errors import Cause, NotSealed, kept
from verifiers.seals.files import write_all
from verifiers.seals.form import seconds

NAME = "seals.jsonl"
_REMEDY = "let nothing else write there"


class RunLog:
    """Appends signed lines to a file; safe from any thread, and from several processes.

    A line is with the kernel before :meth:`append` returns, and on disk after :meth:`sync`.
    """

    def __init__(self, folder: Path, signer: CryptoSigner, *, new: bool) -> None:
        """Make the log of a run's folder, or join in one that is there.

        Raises:
            NotSealed: it cannot be made, or it is not there.
        """
        self._path = folder / NAME
        self._signer = signer
        self._lock = threading.Lock()
        self._seq, self._prev, self._at, self._size = -1, NOTHING, 0.0, 0
        self._whole = hashlib.sha256()
        self._statements: list[tuple[Statement, str]] = []
        flags = os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | (os.O_CREAT | os.O_EXCL if new else 0)
        with kept(f"{self._path} cannot be opened"):
            self._file = os.open(self._path, flags, 0o644)

    def append(self, make: Callable[[Link], Statement]) -> bytes:
        """Append what ``make`` makes for its place; gives the line with its end.

        Raises:
            NotSealed: it cannot be written, somebody else wrote there, or the clock went back.
        """
        with self._alone():
            now = clock.wall()
            if went_back(self._at, now):
                what = f"it says {clock.stamp(now)}, {self._path} {clock.stamp(self._at)}"
                raise NotSealed(Cause.CLOCK, f"the clock went back: {what}", "set it right")
            content = make(Link(self._seq + 1, self._prev, now))
            line = signed(content, self._signer) + b"\n"
            if len(line) > LONGEST:
                what = f"its seal has {len(line)} bytes, more than the {LONGEST} that are ever read"
                raise NotSealed(Cause.EVIDENCE, what, "let there be fewer files")
            self._write(line)
            self._note(content, line)
            return line

    def statements(self) -> Sequence[tuple[Statement, str]]:
        """Everything in it with the SHA-256 of its line and end, after a look at the file itself.

        Raises:
            NotSealed: the file is not what was written to it.
        """
        with self._alone():
            if sha256(os.pread(self._file, self._size, 0)) != self._whole.hexdigest():
                what = f"{self._path} is not what was written to it"
                raise NotSealed(Cause.CHAIN, what, _REMEDY)
            return list(self._statements)

    @property
    def head(self) -> tuple[int, str]:
        """Number of the last line, and its SHA-256."""
        return self._seq, self._prev

    def sync(self) -> None:
        """Put it on disk.

        Raises:
            NotSealed: it may not be there.
        """
        with kept(f"{self._path} cannot be put on disk"):
            os.fsync(self._file)

    def close(self) -> None:
        """Write no more; a second call does nothing."""
        with self._lock:
            if self._file >= 0:
                os.close(self._file)
                self._file = -1

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Hold the log, with the lines of the run's other processes read."""
        with self._lock, kept(f"{self._path} cannot be written"):
            fcntl.flock(self._file, fcntl.LOCK_EX)
            try:
                self._catch_up()
                yield
            finally:
                fcntl.flock(self._file, fcntl.LOCK_UN)

    def _catch_up(self) -> None:
        there = os.fstat(self._file).st_size
        if there < self._size:
            what = f"{self._path} has {there} bytes, and {self._size} were written to it"
            raise NotSealed(Cause.LENGTH, what, _REMEDY)
        data = os.pread(self._file, there - self._size, self._size) if there > self._size else b""
        *lines, torn = data.split(b"\n")
        for line in lines:
            try:
                content = opened(line, self._signer.public_key)
            except Unsound as error:
                what = f"{self._path}: record {self._seq + 1}: {error}"
                raise NotSealed(Cause.CHAIN, what, _REMEDY) from error
            if place_of(content) != (self._seq + 1, self._prev):
                what = f"{self._path}: what follows record {self._seq} is not the next"
                raise NotSealed(Cause.CHAIN, what, _REMEDY)
            self._note(content, line + b"\n")
        if torn:
            what = f"{self._path}: record {self._seq + 1} is not whole"
            raise NotSealed(Cause.CHAIN, what, _REMEDY)

    def _note(self, content: Statement, line: bytes) -> None:
        self._seq, self._prev = self._seq + 1, sha256(line[:-1])
        self._at = seconds(content["predicate"]["log"]["at"])
        self._size += len(line)
        self._whole.update(line)
        self._statements.append((content, sha256(line)))

    def _write(self, line: bytes) -> None:
        try:
            write_all(self._file, line)
        except OSError:
            with suppress(OSError):  # half a line would spoil what is there
                os.ftruncate(self._file, self._size)
            raise
