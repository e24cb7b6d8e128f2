"""What is like JSON, screened whole: keys, values, and what a key says of its value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from runtime.screen.naming import is_secret, is_secret_name
from runtime.screen.spans import mark

JSON = None | bool | int | float | str | list["JSON"] | dict[str, "JSON"] | bytes

_DEEPEST = 64
_TOO_DEEP = mark("too-deep")
_CYCLE = mark("cycle")
_CREDENTIAL = mark("credential")


def screened(screen: Callable[[str], str], value: object, name: str = "") -> JSON:
    """The value with every secret in it replaced.

    Sequences and sets become lists, keys become strings, and what JSON does not know becomes
    the text of it. Bytes stay bytes. What is nested more than 64 deep, and a container inside
    of itself, become marks. ``name`` is what the value is called, if anything.
    """
    return _Walk(screen).named(name, value, 0)


class _Walk:
    def __init__(self, screen: Callable[[str], str]) -> None:
        self._screen = screen
        self._open: set[int] = set()

    def value(self, value: object, depth: int) -> JSON:
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return self._screen(str(value))
        if isinstance(value, int | float):
            return self._number(value)
        if isinstance(value, bytes | bytearray | memoryview):
            return self._bytes(bytes(value))
        if isinstance(value, Mapping | list | tuple | set | frozenset):
            return self._container(value, depth)
        return self._screen(_text(value))

    def _container(self, value: Mapping[object, object] | Iterable[object], depth: int) -> JSON:
        if depth >= _DEEPEST:
            return _TOO_DEEP
        if id(value) in self._open:
            return _CYCLE
        self._open.add(id(value))
        try:
            if isinstance(value, Mapping):
                return self._mapping(value, depth + 1)
            return list(self._items(value, depth + 1))
        finally:
            self._open.discard(id(value))

    def _mapping(self, value: Mapping[object, object], depth: int) -> JSON:
        out: dict[str, JSON] = {}
        for key, item in value.items():
            name = key if isinstance(key, str) else _text(key)
            written = shown = self._screen(name)
            number = 2
            while written in out:
                written = f"{shown}-{number}"
                number += 1
            out[written] = self.named(name, item, depth)
        return out

    def _items(self, values: Iterable[object], depth: int) -> Iterator[JSON]:
        """The items; one after a secret's name (a flag and its value, a header) is its value."""
        name = ""
        for item in values:
            yield self.named(name, item, depth)
            name = item if isinstance(item, str) and len(item) <= 64 and " " not in item else ""

    def named(self, name: str, item: object, depth: int) -> JSON:
        shown = self.value(item, depth)
        if not isinstance(item, str) or shown != item or not item or not is_secret_name(name):
            return shown
        return _CREDENTIAL if is_secret(name, item, quoted=True, tight=True) else shown

    def _number(self, value: float) -> JSON:
        written = _text(value)
        shown = self._screen(written)
        return value if shown == written else shown

    def _bytes(self, value: bytes) -> bytes:
        text = value.decode("utf-8", "surrogateescape")
        return self._screen(text).encode("utf-8", "surrogateescape")


def _text(value: object) -> str:
    try:
        return str(value)
    except Exception as error:  # noqa: BLE001 - whatever a foreign `__str__` raises
        return f"<{type(value).__name__} that cannot be shown: {type(error).__name__}>"
