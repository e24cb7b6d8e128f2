"""Which way leads into a container: joined from outside, or with a sidecar in it.

It is found out by trying, and told by what is known without: another machine and a user who is
not root leave no choice.
"""

from __future__ import annotations

import os

from sandboxes.backends.docker.engine import Engine
from sandboxes.errors import BackendUnavailable

RUNTIME = "SHAKEOUT_RUNTIME"
SIDECAR = "SHAKEOUT_SIDECAR"

#: By engine and runtime: why its containers could not be joined.
_tried: dict[tuple[str, str], str] = {}


def runtime(given: str) -> str:
    """The engine's runtime that is asked for; empty: its default."""
    return given or os.environ.get(RUNTIME, "")


def why_apart(engine: Engine, runtime: str, *, forced: bool) -> str:
    """Why containers are not joined from here; empty where they are, as far as is known."""
    if forced or os.environ.get(SIDECAR):
        return f"{SIDECAR} asks for it"
    if not engine.socket:
        return f"the engine at {engine.host} is not reached by a socket of this machine"
    if os.geteuid() != 0:
        return "only root can enter a container from outside"
    return _tried.get((engine.host, runtime), "")


def remember(engine: Engine, runtime: str, why: str) -> None:
    """Containers could not be joined."""
    _tried[engine.host, runtime] = why


def described(why_apart: str) -> str:
    """For a report."""
    return f"with a sidecar in each: {why_apart}" if why_apart else "joined from outside"


def check_runtime(engine: Engine, runtime: str) -> None:
    """Refuse a runtime that the engine would pass over without a word."""
    if runtime and engine.kind == "podman":
        remedy = f"unset {RUNTIME}, and start the service with `podman --runtime`"
        raise BackendUnavailable("Podman takes no runtime from who asks for a container", remedy)
