"""A sandbox on an engine, beside the least that the same SDK could do on the same engine.

Ours creates the place, runs ``true`` in it, lists what changed and destroys. Beside it: a
container created and started, ``true`` run in it by ``exec``, its workspace copied out, and
removed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import docker

from ci.measure.figures import Figure, Unavailable, alternate
from ci.measure.sandbox import ours
from sandboxes import proc
from sandboxes.backends.docker import engine as engines
from sandboxes.registry import BACKENDS

ROUNDS = 12
WHAT = "sandbox on docker: create, true, destroy"


def figures() -> Iterator[Figure | Unavailable]:
    """The backend ``docker`` beside the bare sequence."""
    started = proc.run(["bash", "ci/engine", "start"], timeout=600, env=dict(os.environ))
    if not started.ok:
        yield Unavailable(WHAT, started.stderr.decode().strip())
        return
    name, _, host = started.stdout.decode().strip().partition("=")
    os.environ[name] = host
    backend = BACKENDS["docker"]
    probe = backend.probe()
    if not probe.available:
        yield Unavailable(WHAT, probe.reason)
        return
    with backend.site("bench") as site, engines.find().client() as client:
        mine, beside = alternate(ROUNDS, lambda: ours(site), lambda: _bare(client, probe.image))
    yield Figure(WHAT, mine, beside, "ms", "create, start, exec, copy out, remove", goal=1.15)


def _bare(client: docker.APIClient, image: str) -> None:
    host = client.create_host_config(network_mode="none")
    config = client.create_container_config(
        image, command=["cat"], stdin_open=True, host_config=host
    )
    container = client.create_container_from_config(config)["Id"]
    try:
        client.start(container)
        client.exec_start(client.exec_create(container, ["true"])["Id"])
        stream, _ = client.get_archive(container, "/srv")
        for _ in stream:
            pass
    finally:
        client.remove_container(container, force=True)
