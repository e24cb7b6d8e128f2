"""How long the classifier takes, and how little that grows with what a tool wrote.

The failures are those that the tests label; the large stream is a sparse file, mapped.
"""

from __future__ import annotations

import mmap
import statistics
import tempfile
from collections.abc import Callable, Iterator
from typing import Final

from ci.measure.figures import Figure, Unavailable, alternate
from runtime.recovery.classes import Failure, Stream
from runtime.recovery.classify import classify
from tests.unit.runtime.classify.labelled import labelled

ROUNDS: Final = 5
SMALL: Final = 64 * 1024
LARGE: Final = 1 << 30
MESSAGE: Final = b"ssh: connect to host build port 22: Connection refused\n"


def figures() -> Iterator[Figure | Unavailable]:
    """A typical failure beside one millisecond, a gibibyte beside 64 KiB."""
    calls = [_call(record.failure) for record in labelled()]
    ours = statistics.median(alternate(ROUNDS, *calls))
    yield Figure("classify, typical failure", ours, 1, "ms", "the bound", goal=1)
    try:
        with mapped(LARGE) as large, mapped(SMALL) as small:
            ours, beside = alternate(20 * ROUNDS, _error(large), _error(small))
    except OSError as error:
        yield Unavailable("classify, 1 GiB", f"no sparse file of that size: {error}")
        return
    yield Figure("classify, 1 GiB mapped", ours, beside, "ms", "64 KiB mapped", goal=1.5)


def mapped(size: int) -> mmap.mmap:
    """A mapped file of nothing, with a message at its end."""
    with tempfile.TemporaryFile() as file:
        file.truncate(size)
        file.seek(size - len(MESSAGE))
        file.write(MESSAGE)
        file.flush()
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _error(stream: Stream) -> Callable[[], None]:
    return _call(Failure("bash", 255, "", stream))


def _call(failure: Failure) -> Callable[[], None]:
    def call() -> None:
        classify(failure)

    return call
