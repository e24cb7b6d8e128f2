"""Every attack ends as it must, and in `passed` where its one defence is taken away."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from sandboxes.registry import BACKENDS
from tests.attacks.form import BUBBLEWRAP, DOCKER, PASSED, Attack, Seen, run, scene
from tests.attacks.registry import ATTACKS
from tests.conformance.conftest import WAYS, wanted, wanted_kind

EVERY = pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
IN_CONTAINERS = {name: attack for name, attack in ATTACKS.items() if attack.docker}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    with scene(tmp_path, monkeypatch):
        yield tmp_path


#: What is watched, limited or nested is not under every one of them.
ANYWHERE = {name: attack for name, attack in IN_CONTAINERS.items() if not attack.needs}


def wanted_here(backend: str, needs: Sequence[str]) -> None:
    """Skip where the backend, or one of its capabilities, is missing."""
    wanted(BACKENDS[backend])
    found = BACKENDS[backend].probe().capabilities
    if lacks := [name for name in needs if not found[name].available]:
        pytest.skip(f"{backend} has no {', '.join(lacks)} here")


def tried(attack: Attack, folder, backend: str = BUBBLEWRAP) -> Seen:
    """Run it, where that can be done here; the plain offender is failed whatever happens."""
    wanted_here(backend, attack.needs)
    seen = run(attack, folder, backend)
    if not attack.alone:
        assert seen.offender == "failed"
    return seen


def assert_ends_as_it_must(attack: Attack, seen: Seen) -> None:
    assert attack.reads(seen) == attack.ends, seen.reasons
    assert any(attack.reason in reason for reason in seen.reasons), seen.reasons
    assert seen.code != 0
    if attack.says:
        assert attack.says in seen.trial["message"]


@EVERY
def test_it_ends_as_it_must(attack, folder):
    assert_ends_as_it_must(attack, tried(attack, folder))


@pytest.mark.tampers
@EVERY
def test_it_passes_where_its_defence_is_gone(attack, folder, monkeypatch):
    attack.weaken(monkeypatch, folder)

    seen = tried(attack, folder)

    assert attack.reads(seen) == PASSED, (seen.reasons, seen.code != 2 and seen.trial["message"])
    if attack.alone:
        assert seen.code == 0


@pytest.mark.engine
@pytest.mark.parametrize("attack", IN_CONTAINERS.values(), ids=IN_CONTAINERS)
def test_it_ends_as_it_must_in_a_container(attack, folder):
    assert_ends_as_it_must(attack, tried(attack, folder, DOCKER))


@pytest.mark.engine
@pytest.mark.long
@pytest.mark.parametrize("kind", WAYS)
@pytest.mark.parametrize("attack", ANYWHERE.values(), ids=ANYWHERE)
def test_it_ends_as_it_must_by_every_way_into_a_container(attack, kind, folder, monkeypatch):
    monkeypatch.setitem(BACKENDS, DOCKER, wanted_kind(kind))

    assert_ends_as_it_must(attack, tried(attack, folder, DOCKER))
