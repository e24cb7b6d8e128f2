"""The container of a sandbox: it holds image, namespaces and limits, and does nothing.

Its program waits for the end of its input, which is a connection of the harness: when the
harness is gone, however that came about, the program ends and the engine removes the
container. It is labelled with whose it is all the same, for engines that were killed.
"""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sandboxes import clock
from sandboxes.backends.docker import sidecar
from sandboxes.backends.docker.engine import Engine, Image
from sandboxes.base import SandboxSpec
from sandboxes.errors import BackendUnavailable, SandboxError
from sandboxes.helper import owners

if TYPE_CHECKING:
    import docker

RUN, SANDBOX = "shakeout.run", "shakeout.sandbox"
OWNER, BOOT, DEADLINE = "shakeout.owner", "shakeout.boot", "shakeout.deadline"
HOLDER = "/bin/cat"
_LIFETIME = 24 * 3600
_REMOVAL_SECONDS = 20.0
_POLL = 0.01
_GONE, _BEING_REMOVED = 404, 409
#: Of the program that waits. Podman's own can be more than it may give.
_ULIMITS = {"nofile": 1024, "nproc": 4096}
#: A sidecar mounts and changes its root; what it starts gets a filter of its own instead.
_UNCONFINED = ("apparmor=unconfined", "seccomp=unconfined")


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose a container is.

    Attributes:
        run: the run's id.
        name: proves which process it is (:mod:`sandboxes.helper.owners`).
        boot: id of the machine's boot, since process numbers mean nothing beyond it.
    """

    run: str
    name: str
    boot: str

    @classmethod
    def of_run(cls, run: str) -> Owner:
        """This process, in a run."""
        return cls(run, owners.name(run, os.getpid()), boot_id())

    def labels(self, sandbox: str) -> dict[str, str]:
        """What its containers carry."""
        deadline = str(int(clock.wall()) + _LIFETIME)
        facts = {RUN: self.run, OWNER: self.name, BOOT: self.boot}
        return {**facts, SANDBOX: sandbox, DEADLINE: deadline}


@dataclass(frozen=True, slots=True)
class Recipe:
    """What all containers of a run have in common.

    Attributes:
        image: what they are made of.
        owner: whose they are.
        runtime: of the engine; empty: its default.
        apart: whether there is a sidecar in each.
    """

    image: Image
    owner: Owner
    runtime: str
    apart: bool


def boot_id() -> str:
    """Which boot of this machine it is."""
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()


class Container:
    """A running container; one connection to the engine keeps it alive.

    It carries what the program writes too, where that is a sidecar.
    """

    def __init__(self, engine: Engine, recipe: Recipe, spec: SandboxSpec) -> None:
        """Make and start it.

        Raises:
            SandboxError: the engine says no; nothing is left.
        """
        self.engine = engine
        self._apart = recipe.apart
        self._memory = spec.limits.memory
        self._alive = contextlib.ExitStack()
        with contextlib.ExitStack() as undo, engine.client() as client:
            config = _config(client, recipe, spec)
            name = f"{recipe.owner.name}.{spec.name}"
            try:
                self.id: str = client.create_container_from_config(config, name=name)["Id"]
            except OSError as error:
                raise _refusal(error, spec.name) from error
            undo.callback(self.remove)
            self._attach()
            if recipe.apart:
                self._start_sidecar(client, recipe.image)
            else:
                client.start(self.id)
                self.pid: int = client.inspect_container(self.id)["State"]["Pid"]
                if not self.pid:
                    raise SandboxError(f"{HOLDER} of the image {recipe.image.name} does not stay")
            undo.pop_all()

    def _attach(self) -> None:
        """Hold its input open, for as long as this process lives or :meth:`remove` is called."""
        client = self._alive.enter_context(self.engine.client())
        wanted = {"stdin": 1, "stream": 1, "stdout": int(self._apart), "stderr": int(self._apart)}
        stream = client.attach_socket(self.id, params=wanted)
        self._stream: socket.socket = stream._sock
        self._alive.callback(stream.close)
        self._alive.callback(self._stream.close)

    def _start_sidecar(self, client: docker.APIClient, image: Image) -> None:
        import docker  # noqa: PLC0415 - slow

        try:
            client.start(self.id)
        except docker.errors.APIError as error:
            if sidecar.PYTHON not in str(error.explanation):
                raise
            why = f"the image {image.name} has no {sidecar.PYTHON}, which a sidecar takes"
            raise BackendUnavailable(why, sidecar.REMEDY) from error
        self._stream.sendall(sidecar.code())

    @contextlib.contextmanager
    def handed_over(self) -> Iterator[int]:
        """Leave the connection to somebody else, who takes a copy of the descriptor meanwhile."""
        yield self._stream.fileno()
        self._alive.close()

    def leave_memory(self, size: int) -> None:
        """Leave so much to the subject, beside what it was made with."""
        size = max(size, self._memory) + sidecar.MEMORY
        with self.engine.client() as client:
            client.update_container(self.id, mem_limit=size, memswap_limit=size)

    def remove(self) -> Sequence[str]:
        """Remove it, whatever runs in it; gives what could not be removed."""
        with contextlib.ExitStack() as ending:
            ending.enter_context(self._alive)
            try:
                with self.engine.client() as client:
                    remove(client, self.id)
            except SandboxError as error:
                return [f"container {self.id}: {error}"]
        return []


def remove(client: docker.APIClient, container: str) -> None:
    """Remove a container, and wait until it is gone; the engine may be removing it already."""
    import docker  # noqa: PLC0415 - slow

    try:
        client.remove_container(container, force=True, v=True)
    except docker.errors.APIError as error:
        if error.response.status_code not in {_GONE, _BEING_REMOVED}:
            raise
    deadline = clock.monotonic() + _REMOVAL_SECONDS
    while _is_there(client, container):
        if clock.monotonic() > deadline:
            raise SandboxError(f"it is still there {_REMOVAL_SECONDS:g} s after its removal")
        clock.sleep(_POLL)


def _is_there(client: docker.APIClient, container: str) -> bool:
    return bool(client.containers(all=True, filters={"id": container}))


def _refusal(error: OSError, name: str) -> SandboxError:
    response = getattr(error, "response", None)
    if getattr(response, "status_code", None) == _BEING_REMOVED:
        return SandboxError(f"a sandbox named {name!r} is there already")
    return SandboxError(f"the engine made no container: {error}")


def _config(client: docker.APIClient, recipe: Recipe, spec: SandboxSpec) -> dict[str, Any]:
    """What the engine is asked for."""
    apart = recipe.apart
    memory = spec.limits.memory + (sidecar.MEMORY if apart else 0)
    host = client.create_host_config(
        network_mode="none",
        read_only=True,
        cap_drop=["ALL"],
        cap_add=[*sidecar.CAPABILITIES] if apart else None,
        security_opt=[*(_UNCONFINED if apart else ()), "no-new-privileges"],
        ipc_mode="private",
        cgroupns="private" if apart else None,
        mem_limit=memory,
        memswap_limit=memory,
        pids_limit=spec.limits.pids + (sidecar.PROCESSES if apart else 1),
        runtime=recipe.runtime or None,
        log_config={"Type": "none"},
        ulimits=[
            {"Name": name, "Soft": most, "Hard": most}
            for name, most in ({} if apart else _ULIMITS).items()
        ],
        auto_remove=True,
    )
    config: dict[str, Any] = client.create_container_config(
        recipe.image.id,
        command=None,
        entrypoint=sidecar.command() if apart else [HOLDER],
        hostname="sandbox",
        user="0:0" if apart else "65534:65534",
        working_dir="/",
        stdin_open=True,
        labels=recipe.owner.labels(spec.name),
        healthcheck={"test": ["NONE"]},
        host_config=host,
    )
    return config
