"""One sandbox for each test, in each backend that this machine has."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from _pytest.mark import ParameterSet

from sandboxes import wall
from sandboxes.backends.docker import Docker
from sandboxes.base import Backend, Limits, Probe, SandboxSpec, Site
from sandboxes.registry import BACKENDS
from tests.conformance.containers import found
from tests.conformance.gaps import GAPS
from tests.conformance.room import Room

_numbers = itertools.count()


@dataclass(frozen=True)
class Place:
    """A backend on this machine and its helper for this run of the tests."""

    backend: Backend
    probe: Probe
    site: Site

    @property
    def shows_an_image(self) -> bool:
        """Whether the system is an image's and not this machine's."""
        return self.backend.name in _MARKS

    @property
    def gaps(self) -> frozenset[str]:
        return GAPS[self.backend.name, self.probe.grade]


#: Where the tests of the engine must be run, so that a missing one is no reason to skip them.
ENGINE_WANTED = "SHAKEOUT_TEST_ENGINE"
_MARKS = {"docker": pytest.mark.engine}


def _backends() -> Iterator[ParameterSet]:
    for name in BACKENDS:
        yield pytest.param(name, marks=[_MARKS[name]] if name in _MARKS else [])


@pytest.fixture(scope="session", params=_backends())
def backend(request) -> Backend:
    """A backend that works here."""
    backend = BACKENDS[request.param]
    wanted(backend)
    return backend


def wanted(backend: Backend) -> None:
    """Skip what cannot be tried here, unless it must be."""
    probe = backend.probe()
    if not probe.available:
        why = f"{backend.name}: {probe.reason} ({probe.remedy})"
        if backend.name in _MARKS and ENGINE_WANTED in os.environ:
            pytest.fail(why)
        pytest.skip(why)


@pytest.fixture(scope="session")
def place(backend) -> Iterator[Place]:
    """A site that all tests of this process share."""
    with backend.site(f"conformance-{os.getpid()}") as site:
        yield Place(backend, backend.probe(), site)


@pytest.fixture
def make(place, request) -> Iterator[Callable[..., Room]]:
    """Make rooms; each is destroyed, and must leave nothing."""
    for mark in request.node.iter_markers("needs"):
        for name in mark.args:
            if name in place.gaps:
                pytest.skip(f"{place.backend.name} in {place.probe.grade} grade has no {name}")
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
