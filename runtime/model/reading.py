"""What every protocol's answer is put together with, however it comes to pieces."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from runtime.model.base import LONGEST, MOST_CALLS, Asked, ModelError

#: What a tool that said nothing is shown to have said; not every protocol takes nothing.
NOTHING: Final = "(nothing)"
_NO_NAME: Final = re.compile(r"[^A-Za-z0-9_-]")


@dataclass(slots=True)
class Text:
    """Text that arrives in pieces, and may not go on for ever."""

    parts: list[str] = field(default_factory=list)
    length: int = 0

    def add(self, piece: str) -> None:
        """Take one.

        Raises:
            ModelError: it is too much.
        """
        self.length += len(piece)
        if self.length > LONGEST:
            raise ModelError("broken", f"the model's answer is longer than {LONGEST} characters")
        self.parts.append(piece)

    def __str__(self) -> str:
        return whole("".join(self.parts)).replace("\0", "\\x00")


@dataclass(slots=True)
class Pieces:
    """A call that arrives in pieces."""

    id: str = ""
    name: str = ""
    written: Text = field(default_factory=Text)

    def add(self, piece: str) -> None:
        """Take a piece of its arguments.

        Raises:
            ModelError: it is too much.
        """
        self.written.add(piece)

    def asked(self) -> Asked:
        """The call that the pieces make."""
        arguments, problem = arguments_of("".join(self.written.parts))
        return Asked(self.id, sound(self.name), arguments, problem)


def arguments_of(written: str) -> tuple[Mapping[str, Any] | None, str]:
    """The object that a model wrote as arguments, or what is wrong with it; none written is empty."""
    if not written.strip():
        return {}, ""
    try:
        value = json.loads(written, parse_constant=_refused)
        fit = json.loads(whole(json.dumps(value, allow_nan=False, ensure_ascii=False)))
    except (ValueError, RecursionError) as error:
        return None, f"the arguments are no JSON: {error}"
    if not isinstance(fit, dict):
        return None, f"the arguments are no object, but {type(value).__name__}"
    if _has_nul(fit):
        return None, "the arguments are no text, but hold a NUL character"
    return fit, ""


def _refused(constant: str) -> Any:
    raise ValueError(f"{constant} is no number of JSON")


def _has_nul(value: Any) -> bool:
    match value:
        case str():
            return "\0" in value
        case dict():
            return any(_has_nul(each) for pair in value.items() for each in pair)
        case list():
            return any(map(_has_nul, value))
        case _:
            return False


def whole(text: str) -> str:
    """The same text, with characters that came in halves put together.

    Raises:
        ValueError: half of a character is missing.
    """
    try:
        return text.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError as error:
        raise ValueError(f"half of a character is missing ({error.reason})") from None


async def lines(pieces: AsyncIterator[bytes]) -> AsyncIterator[str]:
    """The lines of a stream, which has to be UTF-8.

    Raises:
        ValueError: it is not.
    """
    rest = b""
    async for piece in pieces:
        *found, rest = (rest + piece).split(b"\n")
        for line in found:
            yield line.decode().rstrip("\r")
    yield rest.decode()


def message_of(error: Any) -> str:
    """What an error of a model's says."""
    said = error.get("message") if isinstance(error, dict) else getattr(error, "message", None)
    return sound(str(said or error))


def named(name: str) -> str:
    """A tool's name in a form that every protocol takes back, also where there is no such tool."""
    return _NO_NAME.sub("_", name)[:64] or "unnamed"


def sound(text: str) -> str:
    """The same text, fit to be stored: lone surrogates are written out, and no NUL is left."""
    written = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return written.replace("\0", "\\x00")


def distinct(calls: Sequence[Asked], taken: frozenset[str]) -> tuple[Asked, ...]:
    """The same calls, each with an id of its own: no answer goes to another's call.

    An id that a protocol would not take back becomes another.

    Raises:
        ModelError: they are too many.
    """
    if len(calls) > MOST_CALLS:
        raise ModelError("broken", f"the model asks for more than {MOST_CALLS} calls at once")
    used = set(taken)
    found = []
    for call in calls:
        name = _NO_NAME.sub("-", call.id)[:48] or "call"
        chosen, number = name, 1
        while chosen in used:
            number += 1
            chosen = f"{name}-{number}"
        used.add(chosen)
        found.append(Asked(chosen, call.name, call.arguments, call.problem))
    return tuple(found)
