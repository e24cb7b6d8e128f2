"""What a subject has printed so far, as far as output triggers look at it."""

from __future__ import annotations

from collections.abc import Mapping

from harness.journal import Journal
from harness.search import TooSlow, search

_TAIL = 64 << 10


class Heard:
    """The end of each stream. Called in the event loop's thread, but for :meth:`so_far`."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._tails = {"stdout": b"", "stderr": b""}
        self._counts = {"stdout": 0, "stderr": 0}
        self._hopeless: set[str] = set()

    def so_far(self) -> dict[str, int]:
        """How many bytes there were of each stream."""
        return dict(self._counts)

    def take(self, stream: str, data: bytes) -> None:
        """A piece of output came; the one before it is kept as far as a match may begin there."""
        self._counts[stream] += len(data)
        self._tails[stream] = (self._tails[stream] + data)[-_TAIL - len(data) :]

    def found(self, stream: str, pattern: str, behind: Mapping[str, int]) -> bool:
        """Whether output matches; a pattern that takes too long never does again.

        Args:
            stream: in which to look.
            pattern: what for.
            behind: the bytes of each stream that do not count.
        """
        if pattern in self._hopeless:
            return False
        text = self._tails[stream]
        start = behind.get(stream, 0) - (self._counts[stream] - len(text))
        if start > 0:  # what stands before may neither match nor make a line begin here
            text = (b"" if text[start - 1 : start] == b"\n" else b"\0") + text[start:]
        try:
            return search(pattern, text.decode("utf-8", "replace")) is not None
        except TooSlow as slow:
            self._hopeless.add(pattern)
            self._journal.write("given-up", pattern=pattern, message=str(slow))
            return False
