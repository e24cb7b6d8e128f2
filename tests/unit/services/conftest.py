from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from harness.services.cast import Cast
from harness.services.host import ServiceHost
from harness.services.live import Live
from tests.unit.services.stand import Scripted, address, listening

Serve = Callable[..., tuple[Live, str]]


@pytest.fixture(scope="module")
def host() -> Iterator[ServiceHost]:
    with ServiceHost() as host:
        yield host


@pytest.fixture
def serve(host: ServiceHost) -> Iterator[Serve]:
    """Brings up one service for one test: ``serve(service, **cast)`` gives it and its address.

    Whatever the test did, the harness must not have had a bug; one that wants a bug asks
    for it with ``bug=True``.
    """
    live: list[tuple[Live, bool]] = []

    def up(service: Any = None, *, bug: bool = False, **cast: Any) -> tuple[Live, str]:
        service = service or Scripted()
        where = address()
        made = host.serve(Cast([service], {service.name: where}, **cast), listening(where))
        live.append((made, bug))
        return made, where

    yield up
    for made, bug in live:
        made.close()
        assert (made.failure() is not None) is bug, repr(made.failure())
