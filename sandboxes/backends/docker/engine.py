"""Finding an engine and an image, without waiting for one that does not answer.

The SDK is imported where it is used: it costs a tenth of a second, which only runs that use
an engine should pay.
"""

from __future__ import annotations

import contextlib
import functools
import os
import socket
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sandboxes.errors import BackendUnavailable, SandboxError

if TYPE_CHECKING:
    import docker

API = "1.41"
HOST, IMAGE = "DOCKER_HOST", "SHAKEOUT_IMAGE"
START = f'export "$(ci/engine start)" in a checkout; or start an engine and set {HOST}'
BUILD = f"ci/engine image in a checkout; or set {IMAGE} to an image that is there"
FORWARD = f"forward its socket here (ssh -L), and set {HOST}=unix://SOCKET"
_SOCKETS = ("/var/run/docker.sock", "/run/podman/podman.sock")
_UNIX, _TLS = "unix://", "DOCKER_TLS_VERIFY"
_PROBE_SECONDS = 1.0
_WORK_SECONDS = 30.0
_TITLE = "org.opencontainers.image.title"
#: What the project's images are titled, the better one first.
_TITLES = ("shakeout", "shakeout-base")


@dataclass(frozen=True, slots=True)
class Engine:
    """An engine that answered.

    Attributes:
        host: its address.
        kind: ``docker`` or ``podman``.
        version: of the engine.
    """

    host: str
    kind: str
    version: str

    @property
    def socket(self) -> str:
        """Path of its socket; empty where it has none on this machine."""
        return self.host.removeprefix(_UNIX) if self.host.startswith(_UNIX) else ""

    @contextlib.contextmanager
    def client(self, seconds: float = _WORK_SECONDS) -> Iterator[docker.APIClient]:
        """A connection of its own; what goes wrong on it is an error of the place."""
        with connection(self.host, seconds) as client:
            yield client


@dataclass(frozen=True, slots=True)
class Image:
    """A local image: as it was named, and its id."""

    name: str
    id: str

    @property
    def text(self) -> str:
        """For a report."""
        return f"{self.name} {self.id}"


@contextlib.contextmanager
def connection(host: str, seconds: float) -> Iterator[docker.APIClient]:
    """A connection to whatever is at ``host``.

    Raises:
        SandboxError: for every error of the SDK and of what lies below it.
    """
    import docker  # noqa: PLC0415 - slow
    import requests  # noqa: PLC0415

    try:
        client = docker.APIClient(base_url=host, version=API, timeout=seconds)
        try:
            yield client
        finally:
            client.close()
    except (docker.errors.DockerException, requests.RequestException, OSError) as error:
        raise SandboxError(f"the engine at {host} says: {error}") from error


def find() -> Engine:
    """The engine that :data:`HOST` names, else the first of the usual ones that answers.

    Raises:
        BackendUnavailable: none does, within a second each, or it is too old, or elsewhere.
    """
    named = os.environ.get(HOST, "")
    if named and not named.startswith((_UNIX, "tcp://")):
        why = f"the engine at {named} is reached neither by a socket of this machine nor by TCP"
        raise BackendUnavailable(why, FORWARD)
    if named and os.environ.get(_TLS):
        raise BackendUnavailable(f"{_TLS} is set: no stream is attached over TLS", FORWARD)
    hosts = [named] if named else [f"{_UNIX}{path}" for path in _SOCKETS if Path(path).exists()]
    reasons = []
    for host in hosts:
        try:
            _knock(host)
            with connection(host, _PROBE_SECONDS) as client:
                return _engine(host, _greeting(client))
        except BackendUnavailable:
            raise
        except SandboxError as error:
            reasons.append(str(error))
    why = (
        "; ".join(reasons)
        or f"no engine: {HOST} is not set, and there is no {' and no '.join(_SOCKETS)}"
    )
    raise BackendUnavailable(why, START)


def _knock(host: str) -> None:
    """See that somebody listens, before the SDK is imported for nothing."""
    if not host.startswith(_UNIX):
        return
    with socket.socket(socket.AF_UNIX) as sock:
        sock.settimeout(_PROBE_SECONDS)
        try:
            sock.connect(host.removeprefix(_UNIX))
        except OSError as error:
            raise SandboxError(f"nobody listens at {host}: {error}") from error


def _greeting(client: docker.APIClient) -> Mapping[str, str]:
    """What an engine says of itself at once; Podman takes a second to tell its version."""
    answer = client.get(f"{client.base_url}/_ping", timeout=client.timeout)
    answer.raise_for_status()
    headers: Mapping[str, str] = answer.headers
    return headers


def _engine(host: str, greeting: Mapping[str, str]) -> Engine:
    spoken = greeting.get("Api-Version", "nothing")
    if not _is_enough(spoken):
        why = f"the engine at {host} speaks version {spoken} of the API, {API} is needed"
        raise BackendUnavailable(why, "install Docker Engine 20.10 or later")
    product, _, version = greeting.get("Server", "").partition("/")
    kind = "podman" if product.lower() == "libpod" else "docker"
    return Engine(host, kind, version.partition(" ")[0])


def _is_enough(spoken: str) -> bool:
    parts = spoken.split(".")
    wanted = tuple(int(part) for part in API.split("."))
    return all(part.isdecimal() for part in parts) and tuple(map(int, parts)) >= wanted


def image(engine: Engine) -> Image:
    """The image that :data:`IMAGE` names, else the project's. Nothing is ever pulled.

    A name is looked up once: what is reported of it is what every sandbox is made of, whatever
    is given that name meanwhile.

    Raises:
        BackendUnavailable: it is not there.
    """
    return _look_up(engine, os.environ.get(IMAGE, ""))


@functools.cache
def _look_up(engine: Engine, named: str) -> Image:
    with engine.client(_PROBE_SECONDS) as client:
        found = _named(client, named) if named else _newest(client)
    if found is None:
        what = f"no image {named!r}" if named else "no image of this project"
        raise BackendUnavailable(f"the engine has {what}, and none is pulled", BUILD)
    return found


def _named(client: docker.APIClient, name: str) -> Image | None:
    import docker  # noqa: PLC0415 - slow

    try:
        return Image(name, client.inspect_image(name)["Id"])
    except docker.errors.ImageNotFound:
        return None


def _newest(client: docker.APIClient) -> Image | None:
    """The newest of the project's images that is tagged with its title, else of all of them.

    A build leaves untagged images behind, of its stages and of what it replaced.
    """
    for title in _TITLES:
        if found := client.images(filters={"label": f"{_TITLE}={title}"}):
            newest = max(found, key=lambda each: (bool(_tags(each, title)), each["Created"]))
            return Image(
                (_tags(newest, title) or newest.get("RepoTags") or [title])[0], newest["Id"]
            )
    return None


def _tags(image: Mapping[str, Any], title: str) -> list[str]:
    tags = image.get("RepoTags") or []
    return [tag for tag in tags if tag.rpartition(":")[0].rpartition("/")[2] == title]
