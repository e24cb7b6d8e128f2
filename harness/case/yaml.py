"""YAML to plain data, with the place of every key and value.

Reads YAML 1.2's core types: ``no`` is text, ``012`` is twelve, ``1:30`` and timestamps are
text. Built from the parser's events, iteratively, so that neither depth nor aliases can cost
more than the limits below. Refused, each with its place: duplicate keys, merge keys, tags
beyond the core ones, aliases that contain themselves or multiply beyond the limit, more than
one document, numbers that are not finite, bytes that are no UTF-8, control characters.
"""

from __future__ import annotations

import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from harness.case.errors import CaseError, CaseErrors, quoted
from harness.case.model import Where
from harness.case.yaml_build import Builder, Keys, Mark
from harness.nearby import did_you_mean

MAX_BYTES: Final = 1 << 20

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_UNPRINTABLE: Final = re.compile(
    "[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)
_NAME: Final = "name a file that is there"
_NO_COLON: Final = "could not find expected ':'"
_IN_PLAIN: Final = "mapping values are not allowed"
_COLON: Final = re.compile(r":(?:\s|$)")
_ENTRY: Final = re.compile(r"[ -]*(?P<key>[A-Za-z_][\w.-]*)(?P<colon>:?)(?P<rest>[^:]*)$")


@dataclass(frozen=True, slots=True)
class Document:
    """A file as plain data.

    Attributes:
        file: its name, as it is shown in errors.
        data: maps, lists, text, numbers, booleans and ``None``.
        values: path of keys and indices to the place of the value.
        keys: likewise to the place of the key that leads to it.
        errors: what was refused and left out; the rest can still be looked at.
    """

    file: str
    data: Any
    values: Mapping[Keys, Mark]
    keys: Mapping[Keys, Mark]
    errors: tuple[CaseError, ...] = ()

    def where(self, path: Keys = (), *, key: bool = False) -> Where:
        """The place of a value, or of its key; of the nearest parent where it has none."""
        if key and path in self.keys:
            return Where(self.file, *self.keys[path])
        while path and path not in self.values:
            path = path[:-1]
        return Where(self.file, *self.values.get(path, (1, 1)))


def read(path: Path, *, limit: int = MAX_BYTES) -> Document:
    """Read a file.

    Raises:
        CaseErrors: it cannot be read, or is no YAML that we take.
    """
    file = str(path)
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            raise _refused(file, "is no regular file", "name a YAML file")
        if found.st_size > limit:
            raise _refused(file, f"has {found.st_size} bytes, more than {limit}", "make it smaller")
        with path.open("rb") as stream:
            raw = stream.read(limit + 1)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        what = f"cannot be read: {getattr(error, 'strerror', None) or error}"
        usual = "make it readable" if isinstance(error, PermissionError) else _NAME
        hint = did_you_mean(path, usual, (".yaml", ".yml"))
        raise _refused(file, what, hint) from error
    if len(raw) > limit:
        raise _refused(file, f"has more than {limit} bytes", "make it smaller")
    return decoded(raw, file)


def decoded(raw: bytes, file: str) -> Document:
    """Read the bytes of a YAML file.

    Raises:
        CaseErrors: as for :func:`parse`, and where they are no UTF-8.
    """
    return parse(_text(raw, file), file)


def parse(text: str, file: str) -> Document:
    """Read YAML text.

    Raises:
        CaseErrors: it is no YAML that we take; what can be left out is in ``errors`` instead.
    """
    text = text.removeprefix("\ufeff")
    if bad := _UNPRINTABLE.search(text):
        line = text.count("\n", 0, bad.start())
        column = bad.start() - (text.rfind("\n", 0, bad.start()) + 1)
        raise _refused(
            file,
            f"the character U+{ord(bad[0]):04X} is not allowed",
            'write it as an escape inside double quotes, such as "\\x07"',
            (line + 1, column + 1),
        )
    builder = Builder(file)
    for event in _events(text, file):
        builder.feed(event)
    return Document(file, builder.data, builder.values, builder.keys, tuple(builder.errors))


def _text(raw: bytes, file: str) -> str:
    if raw[:2] in {b"\xff\xfe", b"\xfe\xff"}:
        raise _refused(file, "is UTF-16", "save it as UTF-8")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        before = raw[: error.start]
        line = before.count(b"\n")
        column = len(before[before.rfind(b"\n") + 1 :].decode("utf-8"))
        raise _refused(
            file,
            f"the byte 0x{raw[error.start]:02x} is no UTF-8",
            "save the file as UTF-8",
            (line + 1, column + 1),
        ) from error


def _events(text: str, file: str) -> Iterator[Any]:
    loader = _LOADER(text)
    try:
        while loader.check_event():
            yield loader.get_event()
    except yaml.MarkedYAMLError as error:
        raise _syntax(error, text, file) from error
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        raise _refused(file, f"is no YAML: {error}", "check its quotes and escapes") from error
    finally:
        loader.dispose()


def _syntax(error: yaml.MarkedYAMLError, text: str, file: str) -> CaseErrors:
    mark = error.problem_mark or error.context_mark
    line, column = (mark.line, mark.column) if mark is not None else (0, 0)
    problem = (error.problem or "syntax error").replace("\\t", "a tab")
    lines = text.splitlines()
    here = lines[line] if line < len(lines) else ""
    if "\t" in here[: column + 1] and not here[: column + 1].strip():
        hint = "indent with spaces, not tabs"
    elif found := _without_colon(error, lines):
        return _refused(file, *found)
    elif _IN_PLAIN in problem:
        hint = "put text that contains ': ' in quotes"
    else:
        hint = "check indentation, quotes and brackets"
    context = f" ({error.context})" if error.context else ""
    return _refused(file, f"is no YAML: {problem}{context}", hint, (line + 1, column + 1))


def _without_colon(
    error: yaml.MarkedYAMLError, lines: Sequence[str]
) -> tuple[str, str, Mark] | None:
    """Where the parser stumbles behind a key without its colon: what to say of that key.

    The parser has read the key as the first line of a text that goes on below it.
    """
    problem, mark = error.problem or "", error.problem_mark
    if _NO_COLON in problem and error.context_mark is not None:
        start = error.context_mark.line
    elif _IN_PLAIN in problem and mark is not None:
        before = lines[mark.line][: mark.column]
        start = mark.line if _COLON.search(before) else _first_of_text(lines, mark.line)
        if start == mark.line:
            return None
    else:
        return None
    entry = _ENTRY.match(lines[start])
    if entry is None:
        return None
    key, colon, rest = entry["key"], entry["colon"], entry["rest"].strip()
    lacks = "space after the colon of" if colon else "colon after the key"
    place = (start + 1, entry.end("key" if not colon else "colon") + 1)
    return f"is no YAML: there is no {lacks} {quoted(key)}", f"write {key}: {rest}".rstrip(), place


def _first_of_text(lines: Sequence[str], line: int) -> int:
    """The line at which a plain text that reaches ``line`` starts; ``line`` if as a value."""
    start = line
    while start and _goes_on(lines[start - 1], lines[start]):
        start -= 1
    above = lines[start - 1] if start else ""
    value = bool(_COLON.search(above)) and not above.rstrip().endswith(":")
    return line if value and _indent(above) < _indent(lines[start]) else start


def _goes_on(above: str, line: str) -> bool:
    """Whether a text of the line above, with no key of its own, can reach this line."""
    return bool(above.strip()) and not line.lstrip().startswith("- ") and not _COLON.search(above)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" -"))


def _refused(file: str, message: str, hint: str, mark: Mark = (1, 1)) -> CaseErrors:
    return CaseErrors([CaseError(Where(file, *mark), message, hint)])
