"""What a plug's program is given of the daemon's environment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from runtime.tools.hotplug.specs import BadPlug


def given(said: str, names: Iterable[str], environment: Mapping[str, str]) -> dict[str, str]:
    """Where programs are, and what is named; nothing else.

    Args:
        said: whose program it is, for people.
        names: the variables that are named.
        environment: the daemon's.

    Raises:
        BadPlug: a variable is not there.
    """
    path = {"PATH": environment["PATH"]} if "PATH" in environment else {}
    named = {name: variable(said, name, environment) for name in names}
    return {**path, "LANG": "C.UTF-8", **named}


def variable(said: str, name: str, environment: Mapping[str, str]) -> str:
    """A variable of the daemon's.

    Raises:
        BadPlug: it is not there.
    """
    try:
        return environment[name]
    except KeyError:
        raise BadPlug(f"{said} wants the variable {name}", "set it, for agentd") from None
