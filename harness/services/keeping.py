"""What the services of a trial hold in the end, for the evidence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from harness.services.base import Held, Hosting, HttpService, Keeping

#: Does something in the thread where services live, and gives what it gave.
Call = Callable[[Callable[[], Any]], Any]


def held(services: Sequence[HttpService], call: Call) -> Held:
    """Ask every service that holds anything."""
    repositories = {
        f"{service.name}/{name}": repository
        for service in services
        if isinstance(service, Hosting)
        for name, repository in call(service.hosted).items()
    }
    kept = {
        service.name: call(service.kept) for service in services if isinstance(service, Keeping)
    }
    return Held(repositories, kept)
