"""Evidence without secrets, wherever in it they stood.

Oracles quote what they see, and what they say goes into reports; so evidence is screened
whole before it is judged, not only when it is stored.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar, cast

from harness.evidence.model import FileChange, Network, Output, SecretHit
from harness.screen.secrets import Screen

T = TypeVar("T")


def screened(value: T, screen: Screen) -> T:
    """A copy of plain values and dataclasses in which every text and all bytes are screened."""
    return cast("T", _clean(value, screen)) if screen.active else value


def without_edge(output: Output, screen: Screen) -> Output:
    """Output whose end, where it was cut at the cap, holds no part of a secret.

    A secret across the cut is no longer one that the screen could know.
    """
    if not (output.capped and screen.active):
        return output
    return dataclasses.replace(output, data=output.data[: -screen.margin])


def hits_in_names(
    changes: Sequence[FileChange], network: Network, screen: Screen
) -> Iterator[SecretHit]:
    """Secrets in the names of files, in what links point to, and in names looked up.

    A look-up tells the world as much as a request does; it counts as one to ``names``. The
    names may have been screened before, by the server that took them down.
    """
    for change in changes:
        target = (change.after and change.after.target) or ""
        path, marks = screen.text(change.path)
        for mark in (*marks, *screen.text(target)[1]):
            yield SecretHit(mark.name, mark.encoding, f"file:{change.root}:{path}")
    for name in network.names:
        for mark in (*screen.text(name)[1], *screen.written(name)):
            yield SecretHit(mark.name, mark.encoding, "request:names:0")


def _clean(value: object, screen: Screen) -> object:
    match value:
        case enum.Enum() | None | int() | float():
            return value
        case str():
            return screen.text(value)[0]
        case bytes():
            return screen.screen(value)[0]
        case Mapping():
            return {_clean(key, screen): _clean(inner, screen) for key, inner in value.items()}
        case tuple() | list() | frozenset():
            return type(value)(_clean(inner, screen) for inner in value)
        case _ if dataclasses.is_dataclass(value) and not isinstance(value, type):
            fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
            cleaned = {name: _clean(inner, screen) for name, inner in fields.items()}
            return dataclasses.replace(value, **cleaned)
        case _:
            raise TypeError(f"evidence holds plain values only, not {type(value).__name__}")
