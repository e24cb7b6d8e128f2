"""JSON Pointers, in which ``*`` stands for each entry."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

_INDEX: Final = re.compile("0|[1-9][0-9]{0,8}")


class NotThere(Exception):
    """Nothing is in the place that a pointer leads to."""


def found(document: Any, pointer: str) -> Iterator[Any]:
    """What is in a place of a document; several values where the pointer has a ``*``.

    Raises:
        NotThere: a part of it leads nowhere, and it says which.
    """
    if pointer and not pointer.startswith("/"):
        raise NotThere(f"{pointer}: a pointer begins with /")
    parts = [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]
    values = [document]
    for count, part in enumerate(parts, 1):
        place = "/" + "/".join(parts[:count])
        values = [inner for value in values for inner in _step(value, part, place)]
    yield from values


def _step(value: Any, part: str, place: str) -> Iterator[Any]:
    if isinstance(value, Mapping) and part in value:
        yield value[part]
    elif isinstance(value, Mapping) and part == "*":
        yield from value.values()
    elif isinstance(value, list) and part == "*":
        yield from value
    elif isinstance(value, list) and _INDEX.fullmatch(part) and int(part) < len(value):
        yield value[int(part)]
    else:
        raise NotThere(f"nothing is at {place}")


def weight(value: Any, known: dict[int, int] | None = None) -> int:
    """How many values a document has when everything that is in it twice is written twice.

    Raises:
        RecursionError: a part of it is within itself.
    """
    known = {} if known is None else known
    if not isinstance(value, Mapping | list):
        return 1
    if id(value) not in known:
        inner = value.values() if isinstance(value, Mapping) else value
        known[id(value)] = 1 + sum(weight(each, known) for each in inner)
    return known[id(value)]
