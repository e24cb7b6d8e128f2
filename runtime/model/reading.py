"""What every protocol's answer is put together with, however it comes to pieces."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from runtime.model.base import LONGEST, Asked, ModelError


@dataclass(slots=True)
class Pieces:
    """A call that arrives in pieces."""

    id: str = ""
    name: str = ""
    written: list[str] = field(default_factory=list)

    def asked(self) -> Asked:
        """The call that the pieces make."""
        arguments, problem = arguments_of("".join(self.written))
        return Asked(self.id, sound(self.name), arguments, problem)


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
        return sound("".join(self.parts))


def arguments_of(written: str) -> tuple[Mapping[str, Any] | None, str]:
    """The object that a model wrote as arguments, or what is wrong with it; none written is empty."""
    if not written.strip():
        return {}, ""
    try:
        value = json.loads(written)
    except (ValueError, RecursionError) as error:
        return None, f"the arguments are no JSON: {error}"
    if not isinstance(value, dict):
        return None, f"the arguments are no object, but {type(value).__name__}"
    found: Mapping[str, Any] = json.loads(sound(json.dumps(value)))
    return found, ""


def sound(text: str) -> str:
    """The same text, fit to be stored: lone surrogates are written out, and no NUL is left."""
    whole = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return whole.replace("\0", "\\x00")


def distinct(calls: Iterable[Asked], taken: frozenset[str]) -> tuple[Asked, ...]:
    """The same calls, each with an id of its own: no answer goes to another's call."""
    used = set(taken)
    found = []
    for call in calls:
        name, number = call.id or "call", 1
        chosen = name if call.id and call.id not in used else ""
        while not chosen:
            number += 1
            candidate = f"{name}-{number}"
            chosen = candidate if candidate not in used else ""
        used.add(chosen)
        found.append(Asked(chosen, call.name, call.arguments, call.problem))
    return tuple(found)
