"""No breakout reaches its decoy from our sandboxes, and each does from a weaker place."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator

import pytest

from sandboxes.registry import BACKENDS
from tests.attacks.breakout.decoys import Decoys, StandIn, decoys, victim
from tests.attacks.breakout.form import AGENT, NESTED, ROOT, Bare, Naive, Patched
from tests.attacks.breakout.places import neighbours, room_in, site_on, tried_in, tried_weakly
from tests.attacks.breakout.registry import BREAKOUTS
from tests.attacks.form import BUBBLEWRAP, DOCKER
from tests.conformance.conftest import wanted
from tests.conformance.room import eventually

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or platform.machine() != "x86_64",
    reason="decoys of root's can be laid by root only, and calls have the numbers of x86_64",
)
PLACES = [pytest.param(BUBBLEWRAP), pytest.param(DOCKER, marks=pytest.mark.engine)]
PATCHED = {b.weaker: b.weaker for b in BREAKOUTS if isinstance(b.weaker, Patched)}
ALONE = [b for b in BREAKOUTS if isinstance(b.weaker, Naive | Bare)]


@pytest.fixture(scope="module")
def host() -> Iterator[StandIn]:
    """A host of our own."""
    host = StandIn()
    yield host
    host.end()


@pytest.fixture
def laid(host) -> Iterator[Decoys]:
    """Decoys on it."""
    with decoys(host) as laid:
        yield laid


@pytest.mark.parametrize("user", [AGENT, ROOT, NESTED])
@pytest.mark.parametrize("name", PLACES)
def test_no_breakout_reaches_anything(name, user, host, laid, tmp_path, monkeypatch):
    backend = BACKENDS[name]
    wanted(backend)
    tries = [each for each in BREAKOUTS if user in each.users]
    folder = tmp_path / user
    with (
        site_on(host, backend, laid.handicap(), folder, monkeypatch) as site,
        room_in(site, "neighbour", laid) as other,
        victim(0) as pid,
        room_in(site, "own", laid, nest=user == NESTED) as room,
    ):
        laid.victims |= {**neighbours(other, laid), "root": pid}
        seen = tried_in(room, user, tries, laid)
        reached = [each.name for each in tries if each.reached(laid, seen)]

    assert list(seen.ended) == [each.name for each in tries]
    assert {name: end for name, end in seen.ended.items() if len(end) > len("EAFNOSUPPORT")} == {}
    assert reached == [], seen.ended


@pytest.mark.parametrize("place", PATCHED)
def test_a_breakout_succeeds_where_its_defence_is_gone(place, host, laid, tmp_path, monkeypatch):
    backend = BACKENDS[BUBBLEWRAP]
    wanted(backend)
    tries = [each for each in BREAKOUTS if each.weaker == place]
    source = laid.handicap() + place.source
    with (
        site_on(host, backend, source, tmp_path / "weak", monkeypatch) as site,
        room_in(site, "own", laid) as room,
    ):
        seen = tried_in(room, place.user, tries, laid)

        assert [each.name for each in tries if not each.reached(laid, seen)] == [], seen


@pytest.mark.parametrize("one", ALONE, ids=lambda one: one.name)
def test_a_breakout_succeeds_in_a_weaker_place(one, host, laid):
    wanted(BACKENDS[BUBBLEWRAP])
    with tried_weakly(one.weaker, one, laid, host) as seen:
        assert eventually(lambda: one.reached(laid, seen), 3.0), seen


def test_there_are_many_and_each_is_shown_to_lead_out_or_says_why_not():
    assert len({each.name for each in BREAKOUTS}) == len(BREAKOUTS) >= 30
    for each in BREAKOUTS:
        assert each.does, each.name
        assert each.defence, each.name
    unshown = [each for each in BREAKOUTS if isinstance(each.weaker, str)]
    assert len(BREAKOUTS) - len(unshown) >= 30
    assert all(each.weaker for each in unshown)
