"""How much the services of a trial take of a subject, so that it cannot fill the harness.

All that a service, or the record, holds because of a subject came with a request. So requests
are bounded, by number and by size, in the one place where they arrive. What is beyond is reset
and only counted: then the record is not whole, and no oracle that needs all of it believes it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol, Self

from harness.services.base import Hosting, HttpService, Incoming, Keeping, Peopled

#: Values that one document of JSON may hold: in memory each takes many times its bytes.
MOST_VALUES: Final = 1_000_000
_VALUE: Final = 64
_REMEMBERING: Final = Keeping | Peopled | Hosting


@dataclass(frozen=True, slots=True)
class Most:
    """What a trial's services take at most.

    Attributes:
        requests: how many.
        heads: bytes of their paths and headers, which the record holds in memory.
        bodies: bytes of their bodies, which it writes to the disk.
        remembered: bytes of memory that bodies may take up of one service that remembers them.
    """

    requests: int = 50_000
    heads: int = 128 << 20
    bodies: int = 1 << 30
    remembered: int = 32 << 20


#: For who is alone with a service, and asks it as much as it likes.
UNBOUNDED: Final = Most(*[1 << 62] * 4)


class Taken:
    """What the services of one trial have taken. Called in the loop's thread.

    Attributes:
        refused: how many requests were too many.

    Args:
        most: what they take.
        remembering: names of those that remember.
    """

    def __init__(self, most: Most, remembering: Collection[str]) -> None:
        self._most = most
        self._remembering = remembering
        self._requests = self._heads = self._bodies = 0
        self._remembered: Counter[str] = Counter()
        self.refused = 0

    @classmethod
    def of(cls, most: Most, services: Sequence[HttpService]) -> Self:
        """Likewise, of these services."""
        return cls(most, {each.name for each in services if isinstance(each, _REMEMBERING)})

    def take(self, service: str, incoming: Incoming) -> bool:
        """Whether one more is taken; one that is not is counted."""
        most, body = self._most, len(incoming.body)
        head = len(incoming.path)
        for name, value in incoming.headers.items():
            head += len(name) + len(value)
        remembered = 0
        if service in self._remembering:
            remembered = self._remembered[service] + body + _VALUE * _values(incoming.body)
        if (
            self._requests >= most.requests
            or self._heads + head > most.heads
            or self._bodies + body > most.bodies
            or remembered > most.remembered
        ):
            self.refused += 1
            return False
        self._requests += 1
        self._heads += head
        self._bodies += body
        if remembered:
            self._remembered[service] = remembered
        return True


class Reading(Protocol):
    """Whoever reads bodies, and can be told to wait with that."""

    def go_on(self) -> None:
        """Read on."""


class Bodies:
    """The bodies that are in memory at once. Called in the loop's thread.

    Args:
        most: bytes of them.
        backlog: how many there are of bodies that are still to be stored.
    """

    def __init__(self, most: int, backlog: Callable[[], int]) -> None:
        self._most = most
        self._backlog = backlog
        self._held = 0
        self._crowd: set[Reading] = set()

    def hold(self, size: int) -> bool:
        """More or fewer bytes are held; ``False`` if those are too many."""
        self._held += size
        return self._held + self._backlog() <= self._most

    def crowded(self, reading: Reading) -> bool:
        """Whether bodies come faster than they are stored; then it is told to go on later."""
        if self._backlog() <= self._most // 2:
            return False
        self._crowd.add(reading)
        return True

    def stored(self) -> None:
        """One has been stored."""
        if self._crowd and self._backlog() <= self._most // 2:
            crowd, self._crowd = self._crowd, set()
            for reading in crowd:
                reading.go_on()

    def left(self, reading: object) -> None:
        """Somebody reads no more."""
        self._crowd -= {reading}


def read_json(text: bytes | str) -> Any:
    """The value that a document of JSON says.

    Raises:
        ValueError: it is none, or one of too many values.
        RecursionError: it is nested too deep.
    """
    if len(text) > MOST_VALUES and _values(text) > MOST_VALUES:
        raise ValueError(f"more than {MOST_VALUES} values")
    return json.loads(text)


def _values(text: bytes | str) -> int:
    """How many values there are at most in a document of JSON."""
    if isinstance(text, str):
        return text.count(",") + text.count("[") + text.count("{")
    return text.count(b",") + text.count(b"[") + text.count(b"{")
