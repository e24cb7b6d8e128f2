"""Faults of a live trial: armed when their trigger says so, healed, and their landing proved.

Request and output triggers are noticed in the thread of the event loop, the others in the
trial's thread. A fault in the place is always injected by the trial's thread; the request
that triggered it waits until that is done, so "from request 2 on" means exactly that.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field

from harness.case.model import Fault, Trigger
from harness.evidence.model import FaultRecord
from harness.faults.base import Injection, Landing, Place, PlaceFault, ReplyFault
from harness.inbox import Inbox
from harness.journal import Journal
from harness.services.base import LiveServices
from sandboxes import clock
from sandboxes.base import Root
from sandboxes.errors import SandboxError, SandboxLost

_TAIL = 64 << 10


@dataclass(slots=True)
class _State:
    """Where one fault stands."""

    fault: Fault
    injector: ReplyFault | PlaceFault
    begun: bool = False
    ended: bool = False
    injection: Injection | None = None
    landing: Landing = field(default_factory=lambda: Landing(0, "never armed"))


class Arming:
    """All faults of one trial."""

    def __init__(
        self,
        states: Sequence[tuple[Fault, ReplyFault | PlaceFault]],
        inbox: Inbox,
        journal: Journal,
        place: Callable[[], Place],
    ) -> None:
        self._states = [_State(fault, injector) for fault, injector in states]
        self._inbox = inbox
        self._journal = journal
        self._place = place
        self._services: LiveServices | None = None
        self._origin: float | None = None
        # Posted jobs are done in order, so whoever waits for the last has waited for all.
        self._pending: Future[None] | None = None
        self._tails = {"stdout": b"", "stderr": b""}
        self._patterns = {
            trigger.pattern: re.compile(trigger.pattern.encode(), re.MULTILINE)
            for state in self._states
            for trigger in (state.fault.when, state.fault.until)
            if trigger is not None and trigger.kind == "output"
        }

    def attach(self, services: LiveServices) -> None:
        """The services are up; armed replies go through them."""
        self._services = services

    # -- the event loop's thread

    def gate(self, service: str, number: int) -> Future[None] | None:
        """Before request ``number`` of ``service`` is answered."""

        def due(trigger: Trigger) -> bool:
            return (
                trigger.kind == "request" and trigger.service == service and number >= trigger.count
            )

        return self._notice(due)

    def heard(self, stream: str, data: bytes) -> None:
        """A piece of output came."""
        if not self._patterns:
            return
        text = self._tails[stream] = (self._tails[stream] + data)[-_TAIL - len(data) :]
        found = {name for name, pattern in self._patterns.items() if pattern.search(text)}
        if found:
            self._notice(lambda trigger: trigger.kind == "output" and trigger.pattern in found)

    def _notice(self, due: Callable[[Trigger], bool]) -> Future[None] | None:
        for state, change in self._changes(due):
            if isinstance(state.injector, ReplyFault):
                change(state)
            else:
                self._pending = self._inbox.post(lambda s=state, c=change: c(s))  # type: ignore[misc]
        return None if self._pending is None or self._pending.done() else self._pending

    def _changes(
        self, due: Callable[[Trigger], bool]
    ) -> list[tuple[_State, Callable[[_State], None]]]:
        """What is to begin and to end, in the order of declaration."""
        changes: list[tuple[_State, Callable[[_State], None]]] = []
        for state in self._states:
            until = state.fault.until
            if not state.begun and due(state.fault.when):
                changes.append((state, self._begin))
            elif state.begun and not state.ended and until is not None and due(until):
                changes.append((state, self._end))
        return changes

    # -- the trial's thread

    def start(self, *, live: bool) -> None:
        """Arm what is due at the start: before the main process, or (``live``) right after."""
        for state in self._states:
            is_live = isinstance(state.injector, PlaceFault) and state.injector.live
            if state.fault.when.kind == "start" and not state.begun and is_live is live:
                self._begin(state)

    def clock_starts(self) -> None:
        """The first step begins: ``after`` counts from here."""
        self._origin = clock.monotonic()

    def tick(self) -> None:
        """Look at the time and at files that are waited for; do what others have posted."""
        self._inbox.work()
        if self._origin is None:
            return
        passed = clock.monotonic() - self._origin

        def due(trigger: Trigger) -> bool:
            if trigger.kind == "after":
                return passed >= trigger.seconds
            return trigger.kind == "file" and self._there(trigger.path)

        for state, change in self._changes(due):
            change(state)

    def patience(self) -> float:
        """How long the trial's thread may sleep before :meth:`tick` is due again, seconds."""
        pending = [
            trigger
            for state in self._states
            for trigger in ((state.fault.when,) if not state.begun else (state.fault.until,))
            if trigger is not None and not state.ended
        ]
        if any(trigger.kind == "file" for trigger in pending):
            return 0.02
        waits = [t.seconds for t in pending if t.kind == "after"]
        if not waits or self._origin is None:
            return 0.25
        return min(0.25, max(0.001, self._origin + min(waits) - clock.monotonic()))

    def settle(self) -> None:
        """With the subject frozen: take the last proofs."""
        for state in self._states:
            if state.begun:
                self._prove(state)
            self._journal.write(
                "proof",
                fault=state.fault.id,
                count=state.landing.count,
                proof=state.landing.proof,
            )

    def heal(self) -> None:
        """End what is in force; for the way out, whichever it is."""
        for state in self._states:
            if state.begun and not state.ended:
                try:
                    self._end(state)
                except SandboxLost:
                    return

    def records(self) -> tuple[FaultRecord, ...]:
        """What became of each fault."""
        return tuple(
            FaultRecord(
                state.fault.id,
                state.fault.fault,
                state.injection is not None
                or (state.begun and isinstance(state.injector, ReplyFault)),
                state.landing.landed,
                state.landing.count,
                state.landing.proof,
            )
            for state in self._states
        )

    # -- either thread, one at a time for each fault

    def _begin(self, state: _State) -> None:
        if state.begun:
            return
        state.begun = True
        state.landing = Landing(0, "armed, and hit nothing")
        if isinstance(state.injector, ReplyFault):
            assert self._services is not None  # noqa: S101 - attached before anything is armed
            self._services.arm(state.fault, state.injector)
        else:
            try:
                state.injection = state.injector.inject(state.fault.params, self._place())
            except SandboxLost:
                raise
            except SandboxError as error:
                state.ended = True
                state.landing = Landing(0, f"could not be injected: {error}")
        self._journal.write("armed", fault=state.fault.id, injector=state.fault.fault)

    def _end(self, state: _State) -> None:
        if state.ended:
            return
        self._prove(state)
        state.ended = True
        if isinstance(state.injector, ReplyFault):
            assert self._services is not None  # noqa: S101 - attached before anything is armed
            self._services.disarm(state.fault.id)
        elif state.injection is not None:
            state.injection.heal(self._place())
        self._journal.write("healed", fault=state.fault.id)

    def _prove(self, state: _State) -> None:
        if isinstance(state.injector, ReplyFault):
            if self._services is not None:
                count = self._services.hits(state.fault.id)
                state.landing = Landing(count, f"{count} requests on record carry it")
        elif state.injection is not None and not state.ended:
            state.landing = state.injection.landing(self._place())

    def _there(self, path: str) -> bool:
        root, inner = (Root.HOME, path[2:]) if path.startswith("~/") else (Root.WORKSPACE, path)
        return self._place().sandbox.exists(root, inner)
