"""One sandbox for each test, in each backend that this machine has."""

from __future__ import annotations

import itertools
import os
import subprocess
import tarfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from _pytest.mark import ParameterSet

from sandboxes import wall
from sandboxes.backends.docker import Docker
from sandboxes.base import Backend, Limits, Probe, SandboxSpec, Site
from sandboxes.registry import BACKENDS
from tests.conformance.containers import found, knows
from tests.conformance.gaps import GAPS, KNOWN, SOMETIMES
from tests.conformance.room import Room

_numbers = itertools.count()


@dataclass(frozen=True)
class Place:
    """A backend on this machine and its helper for this run of the tests."""

    kind: str
    backend: Backend
    probe: Probe
    site: Site

    @property
    def shows_an_image(self) -> bool:
        """Whether the system is an image's and not this machine's."""
        return self.backend.name == "docker"

    @property
    def apart(self) -> bool:
        """Whether the sandbox keeps itself, in a container that is not joined."""
        return self.kind in WAYS

    @property
    def gaps(self) -> frozenset[str]:
        return GAPS[self.kind, self.probe.grade]


#: Where the tests of the engine must be run, so that a missing one is no reason to skip them.
ENGINE_WANTED = "SHAKEOUT_TEST_ENGINE"
#: Other ways to sandboxes of a backend than the one that it takes here by itself.
WAYS: Mapping[str, Backend] = {
    "docker/sidecar": Docker(sidecar=True),
    "docker/runsc": Docker(runtime="runsc"),
}
KINDS: Mapping[str, Backend] = {**BACKENDS, **WAYS}


def _kinds() -> Iterator[ParameterSet]:
    for kind in KINDS:
        marks = [pytest.mark.engine] if KINDS[kind].name == "docker" else []
        yield pytest.param(kind, marks=[*marks, *([pytest.mark.long] if kind in WAYS else [])])


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What is known not to work under gVisor is expected to fail."""
    for item in items:
        kind = getattr(item, "callspec", None)
        name = getattr(item, "originalname", "")
        why = KNOWN.get(name)
        if why and kind is not None and kind.params.get("kind") == "docker/runsc":
            item.add_marker(pytest.mark.xfail(reason=why, strict=name not in SOMETIMES))


@pytest.fixture(scope="session", params=_kinds())
def kind(request) -> str:
    """A backend, and the way to its sandboxes."""
    return str(request.param)


@pytest.fixture(scope="session")
def backend(kind) -> Backend:
    """A backend that works here."""
    return wanted_kind(kind)


def wanted_kind(kind: str) -> Backend:
    """A backend by its kind; skips what cannot be tried here, unless it must be."""
    if kind == "docker/runsc" and not knows("runsc"):
        pytest.skip("the engine knows no gVisor: apt-get install runsc, then ci/engine start")
    wanted(KINDS[kind])
    return KINDS[kind]


def wanted(backend: Backend) -> None:
    """Skip what cannot be tried here, unless it must be."""
    probe = backend.probe()
    if not probe.available:
        why = f"{backend.name}: {probe.reason} ({probe.remedy})"
        if backend.name == "docker" and ENGINE_WANTED in os.environ:
            pytest.fail(why)
        pytest.skip(why)


@pytest.fixture(scope="session")
def place(kind, backend) -> Iterator[Place]:
    """A site that all tests of this process share."""
    with backend.site(f"conformance-{os.getpid()}") as site:
        yield Place(kind, backend, backend.probe(), site)


@pytest.fixture
def make(place, request) -> Iterator[Callable[..., Room]]:
    """Make rooms; each is destroyed, and must leave nothing."""
    for mark in request.node.iter_markers("needs"):
        for name in mark.args:
            if name in place.gaps:
                pytest.skip(f"{place.kind} in {place.probe.grade} grade has no {name}")
    rooms: list[Room] = []

    def make_room(**fields: object) -> Room:
        fields.setdefault("limits", Limits(memory=512 << 20, pids=128, disk=256 << 20))
        room = Room(place.site.create(SandboxSpec(f"t{next(_numbers)}", **fields)))  # type: ignore[arg-type]
        rooms.append(room)
        return room

    yield make_room
    assert [left for room in rooms for left in room.leave()] == []


@pytest.fixture
def room(make: Callable[..., Room]) -> Room:
    """A plain sandbox."""
    return make()


@pytest.fixture(scope="session")
def docker() -> Docker:
    """The backend, where it works."""
    backend = Docker()
    wanted(backend)
    return backend


@pytest.fixture
def client() -> Iterator[Any]:
    """A connection to the engine."""
    engine = found()
    assert engine is not None
    with engine.client() as client:
        yield client


@pytest.fixture(scope="session")
def shim() -> None:
    """The wall-clock shim, built."""
    wall.build()


@pytest.fixture
def tiny(client, tmp_path, monkeypatch) -> Iterator[Callable[..., None]]:
    """Make an image of nothing but these programs, and use it."""
    made: list[str] = []
    source = tmp_path / "cat.c"
    source.write_text(
        "#include <unistd.h>\nint main(void) { char c; while (read(0, &c, 1) > 0) write(1, &c, 1); return 0; }"
    )
    program = tmp_path / "cat"
    subprocess.run(["gcc", "-static", "-O1", "-w", "-o", program, source], check=True)

    def make(*paths: str) -> None:
        archive = tmp_path / "image.tar"
        with tarfile.open(archive, "w") as tar:
            tar.addfile(tarfile.TarInfo("empty"))
            for path in paths:
                tar.add(program, path)
        name = f"shakeout-test-{os.getpid()}-{next(_numbers)}"
        client.import_image_from_file(str(archive), repository=name)
        made.append(name)
        monkeypatch.setenv("SHAKEOUT_IMAGE", name)

    yield make
    for name in made:
        client.remove_image(name)
