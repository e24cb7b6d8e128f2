"""Faults, services and a place that do nothing but write down what was asked of them.

The real ones are tried through the product; these force the order of events between the two
threads of a trial, which no real one can.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

from harness.case.model import Fault, Params, Trigger
from harness.faults.base import Landing, Layer, Place, PlaceFault, Planted, ReplyFault, Start
from harness.journal import Journal, read_journal
from harness.live.arming import Arming
from harness.live.inbox import Inbox
from harness.services.base import LiveServices
from harness.services.reply import Turn, Wire
from sandboxes.base import Root, Sandbox

Log = list[str]


@dataclass
class FakeServices:
    """Arms and disarms."""

    log: Log
    armed: set[str] = field(default_factory=set)
    counted: Counter[str] = field(default_factory=Counter)

    def arm(self, fault: Fault, injector: ReplyFault) -> None:
        self.log.append(f"arm {fault.id}")
        self.armed.add(fault.id)

    def disarm(self, fault_id: str) -> None:
        self.log.append(f"disarm {fault_id}")
        self.armed.discard(fault_id)

    def hits(self, fault_id: str) -> int:
        return self.counted[fault_id]

    def proof(self, fault_id: str) -> str:
        return f"{self.counted[fault_id]} requests on record carry it"


@dataclass
class FakeSandbox:
    """Has files."""

    files: set[str] = field(default_factory=set)

    def exists(self, root: Root, path: str) -> bool:
        return f"{root.value}:{path}" in self.files


class FakeReply:
    """A fault in replies."""

    name, summary, layer = "model.fake", "", Layer.MODEL
    needs: tuple[str, ...] = ()
    serves = False
    schema: Mapping[str, Any] = MappingProxyType({})

    def rewrite_turn(self, params: Params, turn: Turn) -> Turn:
        return turn

    def rewrite_wire(self, params: Params, wire: Wire) -> Wire:
        return wire


@dataclass
class FakeInjection:
    """In force until it is healed."""

    log: Log
    name: str
    healing: Callable[[], None]

    def landing(self, place: Place) -> Landing:
        self.log.append(f"prove {self.name}")
        return Landing(1, "seen")

    def heal(self, place: Place) -> None:
        self.log.append(f"heal {self.name}")
        self.healing()


@dataclass
class FakePlaceFault:
    """A fault in the place; ``injecting`` and ``healing`` are what happens meanwhile."""

    log: Log
    name: str = "fake"
    live: bool = False
    injecting: Callable[[], None] = lambda: None
    healing: Callable[[], None] = lambda: None
    summary: str = ""
    layer: Layer = Layer.PROCESS
    needs: tuple[str, ...] = ()
    schema: dict[str, Any] = field(default_factory=dict)

    def inject(self, params: Params, place: Place) -> FakeInjection:
        self.log.append(f"inject {self.name}")
        self.injecting()
        self.log.append(f"in force {self.name}")
        return FakeInjection(self.log, self.name, self.healing)


@dataclass
class FakeLasting(FakeInjection):
    """Stays at the end."""

    left: Planted = field(default_factory=dict)

    def planted(self) -> Planted:
        return self.left


@dataclass
class FakeStateFault(FakePlaceFault):
    """Leaves something that lasts, and needs something from an earlier moment."""

    of: Trigger = field(default_factory=Trigger)
    left: Planted = field(default_factory=dict)
    remembering: Callable[[], None] = lambda: None

    def moment(self, params: Params) -> Trigger:
        return self.of

    def remember(self, params: Params, place: Place) -> None:
        self.log.append(f"remember {self.name}")
        self.remembering()

    def inject(self, params: Params, place: Place) -> FakeInjection:
        self.log.append(f"inject {self.name}")
        return FakeLasting(self.log, self.name, self.healing, self.left)


class Stand:
    """An arming with fakes around it."""

    def __init__(self, folder: Path) -> None:
        self.log: Log = []
        self.inbox = Inbox()
        self.services = FakeServices(self.log)
        self.sandbox = FakeSandbox()
        self._path = folder / "journal.jsonl"
        self._journal = Journal(self._path)
        self._faults: list[tuple[Fault, ReplyFault | PlaceFault]] = []
        self.arming = self._make()

    def _make(self) -> Arming:
        place = Place(
            cast("Sandbox", self.sandbox), cast("Any", self.services), 1, Start({}), (), frozenset(),
            lambda *_: (0, b""), dict, {}, {}, cast("Any", None),
        )  # fmt: skip
        arming = Arming(self._faults, self.inbox, self._journal, lambda: place)
        arming.attach(cast("LiveServices", self.services))
        return arming

    def add(
        self,
        injector: ReplyFault | PlaceFault,
        name: str,
        when: Trigger | None = None,
        until: Trigger | None = None,
    ) -> None:
        fault = Fault(name, injector.name, when or Trigger(), until)
        self._faults.append((fault, injector))
        self.arming = self._make()

    def place(
        self, name: str, when: Trigger | None = None, until: Trigger | None = None, **more: Any
    ) -> FakePlaceFault:
        """Declare a fault in the place."""
        injector = FakePlaceFault(self.log, name, **more)
        self.add(injector, name, when, until)
        return injector

    def reply(self, name: str, when: Trigger | None = None, until: Trigger | None = None) -> None:
        """Declare a fault in replies."""
        self.add(FakeReply(), name, when, until)

    def events(self) -> list[str]:
        return [str(event["event"]) for event in read_journal(self._path)]


def request(number: int, service: str = "model") -> Trigger:
    return Trigger("request", service=service, count=number)


def after(seconds: float) -> Trigger:
    return Trigger("after", seconds=seconds)


def output(pattern: str) -> Trigger:
    return Trigger("output", pattern=pattern)


def file(path: str) -> Trigger:
    return Trigger("file", path=path)
