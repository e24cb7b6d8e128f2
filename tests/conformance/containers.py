"""Looking at an engine's containers by the SDK, where there is an engine."""

from __future__ import annotations

import functools

from sandboxes.backends.docker import container, engine
from sandboxes.errors import BackendUnavailable


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
