"""What a backend says about itself is what it does."""

from __future__ import annotations

from sandboxes.base import CAPABILITIES
from sandboxes.registry import BACKENDS
from tests.conformance.gaps import GAPS


def test_a_backend_is_registered_under_its_own_name():
    assert {name: backend.name for name, backend in BACKENDS.items()} == {n: n for n in BACKENDS}


def test_every_capability_is_reported_and_the_declared_gaps_are_exactly_the_missing_ones(
    kind, backend, shim
):
    probe = backend.probe()

    assert set(probe.capabilities) == set(CAPABILITIES)
    missing = {name for name, capability in probe.capabilities.items() if not capability.available}
    assert missing == GAPS[kind, probe.grade], {n: probe.capabilities[n].detail for n in missing}


def test_what_is_missing_says_why_and_what_is_there_says_how(backend):
    assert all(capability.detail for capability in backend.probe().capabilities.values())


def test_a_probe_is_taken_once(backend):
    first = backend.probe()

    assert backend.probe() is first
    assert {"kernel", backend.name} <= {*first.versions} | {
        "docker" if name == "podman" else name for name in first.versions
    }
