"""Looking at an engine's containers by the SDK, where there is an engine."""

from __future__ import annotations

import functools

from sandboxes.backends.docker import container, engine
from sandboxes.errors import BackendUnavailable
from tests.conformance.room import descendants


@functools.cache
def found() -> engine.Engine | None:
    """The engine of this machine."""
    try:
        return engine.find()
    except BackendUnavailable:
        return None


def of_run(run: str) -> list[str]:
    """The containers that carry a run's label."""
    if (one := found()) is None:
        return []
    with one.client() as client:
        label = f"{container.RUN}={run}"
        return [each["Id"] for each in client.containers(all=True, filters={"label": label})]


def first_processes(run: str) -> list[int]:
    """The first process of each container of a run, as this machine calls it."""
    if not (ids := of_run(run)) or (one := found()) is None:
        return []
    with one.client() as client:
        return [client.inspect_container(each)["State"]["Pid"] for each in ids]


def processes(run: str) -> list[int]:
    """What this machine sees of the processes in the containers of a run."""
    return [pid for first in first_processes(run) for pid in (first, *descendants(first))]


def knows(runtime: str) -> bool:
    """Whether the engine has a runtime."""
    if (one := found()) is None:
        return False
    with one.client() as client:
        return runtime in (client.info().get("Runtimes") or {})
