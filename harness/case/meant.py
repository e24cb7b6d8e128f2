"""What an unknown key most likely stands for, and where what it says belongs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from harness.case.errors import closest, quoted
from harness.case.words import is_a
from harness.case.yaml_build import Keys

#: Where in a case stands what is looked for at its top.
_ELSEWHERE: Final[Mapping[str, str]] = {
    "timeout": "write sandbox.limits.seconds",
    "limits": "write sandbox.limits, such as sandbox: {limits: {seconds: 30}}",
    "model": "write what the model says under script",
}
#: Keys that are not near the right one as words, and which that is.
_MEANS: Final[Mapping[str, str]] = {
    "at": "when",
    "on": "when",
    "after": "when",
    "contains": "matches",
}
#: Parameters of faults that are written for others: a number where text is asked for.
_AS_NUMBER: Final[Mapping[str, str]] = {"code": "status"}


def meant(key: str, names: Sequence[str]) -> str:
    """The key among ``names`` that an unknown one most likely stands for; empty where none does."""
    other = _MEANS.get(key, "")
    return other if other in names else closest(key, names) or ""


def elsewhere(here: Keys, key: str, value: Any, known: Collection[str], means: str) -> str:
    """What to write for an unknown key of the map at ``here``; empty where that is not known.

    Args:
        here: the map.
        key: the unknown key.
        value: what it has.
        known: the keys that the map can have.
        means: what :func:`meant` says.
    """
    if not here and "script" in known and key in _ELSEWHERE:
        return _ELSEWHERE[key]
    if means:
        return f"did you mean {means}?"
    return _parameter(key, value) if "fault" in known else ""


def other_parameter(here: Keys, value: Any) -> str:
    """Of a number for a parameter that takes text: the parameter that takes such a number."""
    name = _AS_NUMBER.get(str(here[-1])) if here[-2:-1] == ("with",) else None
    return f"did you mean {name}: {value}?" if name and is_a(value, "integer") else ""


def _parameter(key: str, value: Any) -> str:
    """A key that is none of a fault: a parameter of it goes a level deeper."""
    name = _AS_NUMBER.get(key, key) if is_a(value, "integer") else key
    shown = "…" if isinstance(value, dict | list) else quoted(value)
    return f"what the fault is made with goes under with: {{{name}: {shown}}}"
