"""Services as a subject meets them, for the clients that people really use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from harness.case.model import Fault
from harness.faults.base import ReplyFault
from harness.faults.registry import FAULTS
from harness.services.chat.human import Human
from harness.services.chat.service import ChatService
from harness.services.live import Live
from harness.services.registry import SERVICES, build
from tests.unit.services.conftest import host, serve  # noqa: F401 - fixtures
from tests.unit.services.stand import PORT


@dataclass
class Time:
    """What a person's watch shows."""

    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


@dataclass(frozen=True)
class Served:
    """A service that is up.

    Attributes:
        url: where it is found, without a path.
    """

    live: Live
    service: ChatService
    url: str

    @property
    def human(self) -> Human:
        return self.service.human

    def stop_clock(self) -> Time:
        """Her time goes by only where the test says so."""
        time = Time()
        self.service.human = Human(self.service.human._rules, time)
        return time

    def arm(self, name: str, times: int | None = 1, **params: Any) -> None:
        """Have a fault of upstream hit the next requests."""
        injector = FAULTS[name]
        assert isinstance(injector, ReplyFault)
        given = {
            key: field["default"]
            for key, field in injector.schema["properties"].items()
            if "default" in field
        }
        whole = {**given, "service": "chat", **params}
        Draft202012Validator(dict(injector.schema)).validate(whole)
        self.live.arm(Fault("wrong", name, times=times, params=whole), injector)

    def messages(self) -> list[str]:
        """What was said to the person, as it is on record."""
        return [r.message for r in self.live.requests() if r.message is not None]


@pytest.fixture
def chat(serve) -> Callable[..., Served]:  # noqa: F811 - the fixture
    """``chat(kind, **written)`` brings up a service of that kind."""

    def up(kind: str, **written: Any) -> Served:
        entry = SERVICES[kind]
        Draft202012Validator(dict(entry.schema)).validate({"chat": written})
        assert entry.parse is not None
        service = build(entry.parse("chat", written))
        assert isinstance(service, ChatService)
        live, where = serve(service)
        return Served(live, service, f"http://{where}:{PORT}")

    return up
