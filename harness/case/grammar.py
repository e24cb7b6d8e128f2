"""The small languages inside a case: durations, sizes, patterns, globs, dates, placeholders.

Each has one function that reads it and raises :class:`GrammarError`, whose message says what
is wrong and whose hint says what to write, and a ``format`` by which schemas name it (here
and in oracles, faults and services); :data:`FORMATS` is the table of those.
"""

from __future__ import annotations

import datetime
import functools
import re
import signal
import warnings
from collections.abc import Callable, Mapping
from typing import Any, Final

_DURATION: Final = re.compile(r"([0-9]{1,9})(ms|s|m|h)")
_SECONDS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_SIZE: Final = re.compile(r"([0-9]{1,9})(KiB|MiB|GiB)")
_BYTES: Final = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
_PLACEHOLDER: Final = re.compile(r"\{\{|\}\}|(?<!\$)\{([a-z_]+)\}")
_MAX_PATTERN: Final = 2000

PLACEHOLDERS: Final[Mapping[str, str]] = {
    "task": "the text of `task`",
    "model": "the address of the scripted model",
    "workspace": "the workspace's path inside",
    "home": "the home's path inside",
}

DURATION: Final[Mapping[str, Any]] = {"type": "string", "format": "duration"}
SIZE: Final[Mapping[str, Any]] = {"type": "string", "format": "size"}
REGEX: Final[Mapping[str, Any]] = {"type": "string", "format": "regex"}
GLOB: Final[Mapping[str, Any]] = {"type": "string", "format": "glob"}
DATE: Final[Mapping[str, Any]] = {"type": "string", "format": "date"}


#: Relative to the workspace, or to the home where it begins with ``~/``; never out of either.
PATH_INSIDE: Final = r"^(?!/)(?!~$)(?!(.*/)?\.\.(/|$)).+$"


class GrammarError(ValueError):
    """A text that is not in the language it should be in.

    Attributes:
        text: the text as it was written; the loader finds the place by it.
        hint: what to write.
    """

    def __init__(self, message: str, text: str, hint: str = "") -> None:
        super().__init__(message)
        self.text = text
        self.hint = hint


#: Texts that have nothing in common, in which nobody looks for anything.
_ODD_TEXTS: Final = ("", "\x01q7", "\x02\nZ9\n")


def duration(text: str) -> float:
    """Seconds: ``500ms``, ``20s``, ``2m``, ``1h``."""
    match = _DURATION.fullmatch(text)
    if match is None:
        raise GrammarError("is no duration", text, "write one such as 500ms, 20s, 2m or 1h")
    return int(match[1]) * _SECONDS[match[2]]


def size(text: str) -> int:
    """Bytes: ``64KiB``, ``512MiB``, ``2GiB``."""
    match = _SIZE.fullmatch(text)
    if match is None:
        raise GrammarError("is no size", text, "write one such as 64KiB, 512MiB or 2GiB")
    return int(match[1]) * _BYTES[match[2]]


def wanted(text: str) -> re.Pattern[str]:
    """A pattern that must be found: one that is found in whatever there is cannot be missed."""
    pattern = regex(text)
    if all(pattern.search(odd) for odd in _ODD_TEXTS):
        raise GrammarError("is found in every text", text, "write what must be there at least")
    return pattern


@functools.lru_cache(maxsize=1024)
def regex(text: str) -> re.Pattern[str]:
    """A Python regular expression for ``search``, with ``^`` and ``$`` at every line."""
    if len(text) > _MAX_PATTERN:
        raise GrammarError(f"is longer than {_MAX_PATTERN} characters", text[:80], "shorten it")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return re.compile(text, re.MULTILINE)
    except (re.error, Warning, OverflowError, RecursionError) as error:
        raise GrammarError(
            f"is no regular expression: {error}", text, "escape what is meant literally"
        ) from error


@functools.lru_cache(maxsize=1024)
def glob(text: str) -> Callable[[str], bool]:
    """A test of relative paths: ``*`` stays within a name, ``**`` crosses ``/``.

    ``*`` and ``**`` match dotfiles too; ``?`` is one character, ``[abc]`` and ``[!abc]`` one
    of a set; neither matches ``/``. ``**/`` also matches no folder at all, and ``dir/**``
    matches all that is beneath ``dir``, not ``dir`` itself.
    """
    if not text or text.startswith("/") or "\0" in text or len(text) > _MAX_PATTERN:
        raise GrammarError("is no glob", text[:80], "write a relative one, such as .cache/**")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # a set is a set, whatever it may become
            match = re.compile(_glob_pattern(text), re.DOTALL).fullmatch
    except re.error as error:
        raise GrammarError(f"is no glob: {error}", text, "check its brackets") from error
    return lambda path: match(path) is not None


_MEMBERS: Final = r"(?:\][^\]/]*|[^\]/]+)"  # a bracket that comes first is a member
_GLOB_TOKEN: Final = re.compile(
    r"(?P<deep>\*\*/)|(?P<all>\*\*)|(?P<some>\*)|(?P<one>\?)"
    rf"|\[(?P<set>[!^]{_MEMBERS}|(?![!^]){_MEMBERS})\]|(?P<text>.)",
    re.DOTALL,
)


def _glob_pattern(text: str) -> str:
    out = ""
    for token in _GLOB_TOKEN.finditer(text):
        if token["deep"]:
            out += "(?:.*/)?"
        elif token["all"]:
            out += ".+" if out.endswith("/") or not out else ".*"
        elif token["some"]:
            out += "[^/]*"
        elif token["one"]:
            out += "[^/]"
        elif token["set"]:
            out += _glob_set(token["set"])
        else:
            out += re.escape(token["text"])
    return out


def _glob_set(inner: str) -> str:
    negated = inner[:1] in {"!", "^"}
    members = inner[1:] if negated else inner
    body = re.sub(r"([\\\[\]^&~|])", r"\\\1", members)
    return f"(?!/)[{'^' if negated else ''}{body}]"


def date(text: str) -> datetime.date:
    """A day in UTC: ``2031-12-31``."""
    hint = "write one such as 2031-12-31"
    if _DATE.fullmatch(text) is None:
        raise GrammarError("is no date", text, hint)
    try:
        return datetime.date.fromisoformat(text)
    except ValueError as error:
        raise GrammarError("is no date", text, hint) from error


def instant(text: str) -> float:
    """Seconds since the epoch: ``2031-02-03T04:05:06Z``, or with an offset such as ``+05:45``."""
    hint = "write one such as 2031-02-03T04:05:06Z"
    try:
        at = datetime.datetime.fromisoformat(text)
        seconds = at.timestamp()
    except (ValueError, OverflowError) as error:
        raise GrammarError("is no point in time", text, hint) from error
    if at.tzinfo is None:
        raise GrammarError("names no zone", text, hint)
    return seconds


def version_range(text: str) -> str:
    """A range of versions as in PEP 440 (``>=1.2,<2``); gives it back checked."""
    from packaging.specifiers import InvalidSpecifier, SpecifierSet  # noqa: PLC0415 - slow

    hint = "write one such as >=1.2,<2 or ==0.130.*"
    try:
        if not text.strip():
            raise GrammarError("is no range of versions", text, hint)
        SpecifierSet(text)
    except InvalidSpecifier as error:
        raise GrammarError("is no range of versions", text, hint) from error
    return text


def signal_number(text: str) -> int:
    """The number of a signal written as ``KILL``, ``SIGKILL`` or ``9``."""
    hint = "write one such as TERM, KILL, INT, HUP or STOP"
    try:
        if text.isascii() and text.isdigit():
            return int(signal.Signals(int(text[:4])))
        name = text.upper()
        return int(signal.Signals[name if name.startswith("SIG") else f"SIG{name}"])
    except (KeyError, ValueError) as error:
        raise GrammarError("is no signal", text, hint) from error


def check_placeholders(text: str) -> None:
    """Refuse a placeholder that does not exist."""
    for match in _PLACEHOLDER.finditer(text):
        if match[1] is not None and match[1] not in PLACEHOLDERS:
            known = ", ".join(f"{{{name}}}" for name in PLACEHOLDERS)
            raise GrammarError(
                f"has the unknown placeholder {{{match[1]}}}",
                text,
                f"write one of {known}, or {{{{{match[1]}}}}} for the text itself",
            )


def fill(text: str, values: Mapping[str, str]) -> str:
    """Replace placeholders by ``values``, and ``{{`` and ``}}`` by single braces.

    A ``}}`` counts as an escape only after a ``{{``, so that JSON, whose maps may end in two
    braces but never start so, passes unharmed.
    """
    opened = 0

    def one(match: re.Match[str]) -> str:
        nonlocal opened
        if match[1] is not None:
            return values.get(match[1], match[0])
        if match[0] == "{{":
            opened += 1
            return "{"
        if opened:
            opened -= 1
            return "}"
        return match[0]

    return _PLACEHOLDER.sub(one, text)


#: The formats that schemas may name, and what reads each.
FORMATS: Final[Mapping[str, Callable[[str], object]]] = {
    "duration": duration,
    "size": size,
    "regex": regex,
    "glob": glob,
    "date": date,
    "instant": instant,
    "version-range": version_range,
    "signal": signal_number,
}

#: What editors are told instead of a format, which JSON Schema might read otherwise.
PUBLISHED: Final[Mapping[str, Mapping[str, Any]]] = {
    "duration": {"pattern": "^[0-9]{1,9}(ms|s|m|h)$", "examples": ["500ms", "20s", "2m"]},
    "size": {"pattern": "^[0-9]{1,9}(KiB|MiB|GiB)$", "examples": ["64KiB", "2GiB"]},
    "date": {"pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$", "examples": ["2031-12-31"]},
    "instant": {"pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T", "examples": ["2031-02-03T04:05:06Z"]},
    "version-range": {"examples": [">=1.2,<2"]},
    "signal": {"examples": ["TERM", "KILL"]},
}
