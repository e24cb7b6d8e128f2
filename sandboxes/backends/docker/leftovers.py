"""Containers that runs left behind: found by their labels, removed when their owner is dead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sandboxes import clock
from sandboxes.backends.docker import container
from sandboxes.backends.docker.container import BOOT, DEADLINE, OWNER, RUN, SANDBOX, Owner
from sandboxes.backends.docker.engine import Engine
from sandboxes.helper import owners

_SECONDS = 5.0  # every verb sweeps first
_ENDED = frozenset({"created", "exited", "dead"})


def sweep(engine: Engine) -> Sequence[str]:
    """Remove what dead owners left; gives it in words."""
    with engine.client(_SECONDS) as client:
        removed = []
        for found in client.containers(all=True, filters={"label": OWNER}):
            labels = found["Labels"] or {}
            if is_abandoned(labels, found["State"], container.boot_id(), clock.wall()):
                container.remove(client, found["Id"])
                removed.append(
                    f"container {found['Id'][:12]} of run {labels.get(RUN)}, {labels.get(SANDBOX)}"
                )
        return removed


def discard(engine: Engine, owner: Owner) -> None:
    """Remove what is left of a run of this process."""
    with engine.client() as client:
        for found in client.containers(all=True, filters={"label": f"{OWNER}={owner.name}"}):
            container.remove(client, found["Id"])


def is_abandoned(labels: Mapping[str, str], state: str, boot: str, now: float) -> bool:
    """Whether nobody will remove a container but us.

    An owner that cannot be looked up (of another boot, another machine on the same engine,
    another pid namespace) may be alive: its containers are abandoned when their time is over,
    or, of another boot, when they do not run.
    """
    deadline = labels.get(DEADLINE, "")
    late = deadline.isdecimal() and now > int(deadline)
    if labels.get(BOOT) != boot:
        return late or state in _ENDED
    return late or owners.dead_run(labels.get(OWNER, "")) is not None
