"""Events of the YAML parser to plain data, iteratively and within limits.

An alias shares what its anchor made instead of copying it, and counts in full against the
limits, so that a few lines cannot stand for a billion nodes.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import Any, Final

import yaml

from harness.case.errors import CaseError, CaseErrors, quoted
from harness.case.model import Where

Keys = tuple[str | int, ...]
Mark = tuple[int, int]

MAX_DEPTH: Final = 40
MAX_NODES: Final = 50_000
_MAX_DIGITS: Final = 300
_DROPPED: Final = "\0"  # marks keys that were refused; none of a file can end so

_CORE: Final = "tag:yaml.org,2002:"
_NULL: Final = frozenset({"", "~", "null", "Null", "NULL"})
_TRUE: Final = frozenset({"true", "True", "TRUE"})
_FALSE: Final = frozenset({"false", "False", "FALSE"})
_INT: Final = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT: Final = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
#: Every text that is read as a number where it stands without quotes.
NUMBER: Final = re.compile(f"^(?:{_INT.pattern}|{_FLOAT.pattern})$")
_NOT_FINITE: Final = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_NO_KEY: Final = re.compile("[\0\ud800-\udfff]")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


@dataclass(slots=True)
class _Frame:
    """A map or list that is being filled; ``size`` and ``height`` count what is beneath."""

    path: Keys
    data: Any
    anchor: str | None
    key: str = ""
    key_next: bool = True
    size: int = 1
    height: int = 1


@dataclass(frozen=True, slots=True)
class _Anchored:
    """What an anchor stands for."""

    data: Any
    size: int
    height: int


@dataclass(slots=True)
class Builder:
    """Fed with events in order; what it has made is in ``data``, ``values`` and ``keys``.

    Attributes:
        errors: what was refused and left out; what cannot be left out is raised.
    """

    file: str
    data: Any = None
    values: dict[Keys, Mark] = field(default_factory=dict)
    keys: dict[Keys, Mark] = field(default_factory=dict)
    errors: list[CaseError] = field(default_factory=list)
    _documents: int = 0
    _nodes: int = 0
    _stack: list[_Frame] = field(default_factory=list)
    _anchors: dict[str, _Anchored | None] = field(default_factory=dict)

    def feed(self, event: Any) -> None:
        """Take the next event.

        Raises:
            CaseErrors: it goes beyond a limit, or makes no sense.
        """
        if isinstance(event, yaml.ScalarEvent):
            self._scalar(event)
        elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            self._start(event)
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            self._end()
        elif isinstance(event, yaml.AliasEvent):
            self._alias(event)
        elif isinstance(event, yaml.DocumentStartEvent):
            self._documents += 1
            if self._documents > 1:
                raise self._stop(event, "is a second document", "write one document in a file")

    def _scalar(self, event: Any) -> None:
        if self._stack and self._stack[-1].key_next:
            self._key(event)
            return
        value = self._value(event)
        self._place(event)
        if event.anchor is not None:
            self._anchors[event.anchor] = _Anchored(value, 1, 0)
        self._attach(value, 1, 0, event)

    def _key(self, event: Any) -> None:
        frame = self._stack[-1]
        key: str = event.value
        path = (*frame.path, key)
        if event.anchor is not None:
            raise self._stop(event, "a key has an anchor", "write keys as plain text")
        if key in frame.data:
            line, column = self.keys[path]
            self._wrong(
                event,
                f"the key {quoted(key)} is here a second time, first at line {line}, column {column}",
                "keep one of them",
            )
            key += _DROPPED
        elif key == "<<" and event.implicit[0]:
            self._wrong(event, "merge keys are not taken", "write the keys out")
            key += _DROPPED
        if _NO_KEY.search(event.value):
            self._wrong(event, "a key has a NUL or half a surrogate pair", "write other characters")
            key += _DROPPED
        frame.key, frame.key_next = key, False
        self.keys[(*frame.path, key)] = _mark(event)

    def _start(self, event: Any) -> None:
        kind = "map" if isinstance(event, yaml.MappingStartEvent) else "seq"
        if event.tag not in {None, "!", _CORE + kind}:
            self._wrong(event, f"the tag {_shown(event.tag)} is not taken", "leave it out")
        if self._stack and self._stack[-1].key_next:
            raise self._stop(event, "a key is a map or list", "write keys as plain text")
        if len(self._stack) >= MAX_DEPTH:
            raise self._stop(event, f"is nested more than {MAX_DEPTH} deep", "nest less")
        path = self._place(event)
        data: Any = {} if kind == "map" else []
        self._stack.append(_Frame(path, data, event.anchor, key_next=kind == "map"))
        if event.anchor is not None:
            self._anchors[event.anchor] = None

    def _end(self) -> None:
        frame = self._stack.pop()
        if isinstance(frame.data, dict):
            for key in [key for key in frame.data if key.endswith(_DROPPED)]:
                del frame.data[key]
        if frame.anchor is not None:
            self._anchors[frame.anchor] = _Anchored(frame.data, frame.size, frame.height)
        self._attach(frame.data, frame.size, frame.height, None)

    def _alias(self, event: Any) -> None:
        if self._stack and self._stack[-1].key_next:
            raise self._stop(event, "a key is an alias", "write keys as plain text")
        if event.anchor not in self._anchors:
            raise self._stop(event, f"there is no anchor {quoted(event.anchor)} above", "define it")
        anchored = self._anchors[event.anchor]
        if anchored is None:
            raise self._stop(event, "an alias stands for what it is in", "write it out")
        if len(self._stack) + anchored.height > MAX_DEPTH:
            raise self._stop(event, f"is nested more than {MAX_DEPTH} deep", "nest less")
        self._place(event)
        self._attach(anchored.data, anchored.size, anchored.height, event)

    def _place(self, event: Any) -> Keys:
        path: Keys = ()
        if self._stack:
            frame = self._stack[-1]
            path = (*frame.path, frame.key if isinstance(frame.data, dict) else len(frame.data))
        self.values[path] = _mark(event)
        return path

    def _attach(self, value: Any, size: int, height: int, event: Any) -> None:
        if event is not None:
            self._nodes += size
            if self._nodes > MAX_NODES:
                raise self._stop(
                    event, f"stands for more than {MAX_NODES} values", "write less, or no aliases"
                )
        if not self._stack:
            self.data = value
            return
        frame = self._stack[-1]
        frame.size += size
        frame.height = max(frame.height, height + 1)
        if isinstance(frame.data, dict):
            frame.data[frame.key] = value
            frame.key_next = True
        else:
            frame.data.append(value)

    def _value(self, event: Any) -> Any:
        text: str = event.value
        if _SURROGATE.search(text):
            self._wrong(event, "has half of a surrogate pair", "write the whole character")
            return ""
        if event.tag is None:
            return self._plain(event, text) if event.implicit[0] else text
        if event.tag in {"!", _CORE + "str"}:
            return text
        kind = event.tag.removeprefix(_CORE)
        if kind not in _TAGGED:
            self._wrong(event, f"the tag {_shown(event.tag)} is not taken", "leave it out")
            return text
        value = self._plain(event, text)
        if not isinstance(value, _TAGGED[kind]):
            self._wrong(event, f"{quoted(text)} is no {kind}", "leave the tag out")
        return value

    def _plain(self, event: Any, text: str) -> Any:
        """YAML 1.2's core schema: null, booleans, numbers; everything else is text."""
        if text in _NULL:
            return None
        if text in _TRUE or text in _FALSE:
            return text in _TRUE
        if text[0] not in "+-.0123456789":
            return text
        if _INT.fullmatch(text) and len(text) <= _MAX_DIGITS:
            return int(text) if text.lstrip("+-").isdigit() else int(text, 0)
        number = float(text) if _FLOAT.fullmatch(text) else 0.0
        too_long = len(text) > _MAX_DIGITS and (number or _INT.fullmatch(text))
        if too_long or _NOT_FINITE.fullmatch(text) or not math.isfinite(number):
            self._wrong(
                event, f"{quoted(text)} is no number that fits", "write a smaller one, or quote it"
            )
            return 0.0
        return number if _FLOAT.fullmatch(text) else text

    def _wrong(self, event: Any, message: str, hint: str) -> None:
        self.errors.append(CaseError(Where(self.file, *_mark(event)), message, hint))

    def _stop(self, event: Any, message: str, hint: str) -> CaseErrors:
        return CaseErrors([*self.errors, CaseError(Where(self.file, *_mark(event)), message, hint)])


_TAGGED: Final[dict[str, tuple[type, ...]]] = {
    "null": (type(None),),
    "bool": (bool,),
    "int": (int,),
    "float": (float, int),
}


def _shown(tag: str) -> str:
    return quoted("!!" + tag.removeprefix(_CORE) if tag.startswith(_CORE) else tag)


def _mark(event: Any) -> Mark:
    return event.start_mark.line + 1, event.start_mark.column + 1
