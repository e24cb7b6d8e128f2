"""Faults of a live trial: armed when their trigger says so, healed, and their landing proved.

Request and output triggers are noticed in the thread of the event loop, the others in the
trial's thread. A fault in the place is always injected by the trial's thread, one after the
other; the request that triggered it waits until that is done, so "from request 2 on" means
exactly that. A fault in replies takes effect at once, in the thread that noticed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future

from harness.case.model import Fault, Trigger
from harness.evidence.model import FaultRecord
from harness.faults.base import (
    Landing,
    Lasting,
    Place,
    PlaceFault,
    Planted,
    Remembering,
    ReplyFault,
    Sampled,
    Where,
)
from harness.faults.paths import locate
from harness.journal import Journal
from harness.live.armed import State, injected
from harness.live.cues import Cues
from harness.live.heard import Heard
from harness.live.inbox import Inbox
from harness.schedule import Schedule, came_form
from harness.services.base import LiveServices
from sandboxes import clock
from sandboxes.base import Entry
from sandboxes.errors import SandboxError, SandboxLost

_LOOK = 0.02
_LONGEST = 0.25


Due = Callable[[State, Trigger], bool]


class Arming:
    """All faults of one trial."""

    def __init__(
        self,
        states: Sequence[tuple[Fault, ReplyFault | PlaceFault]],
        inbox: Inbox,
        journal: Journal,
        place: Callable[[], Place],
        schedule: Schedule | None = None,
    ) -> None:
        self._states = [State.of(fault, injector) for fault, injector in states]
        self._planted: dict[Where, tuple[Entry | None, Entry | None]] = {}
        self._inbox = inbox
        self._journal = journal
        self._place = place
        self._services: LiveServices | None = None
        self._origin: float | None = None
        self._lock = threading.RLock()  # never held while a thread waits for the other
        # Posted jobs are done in order, so whoever waits for the last has waited for all.
        self._last: Future[None] | None = None
        self._heard = Heard(journal)
        self._cues = Cues(schedule)

    def attach(self, services: LiveServices) -> None:
        """The services are up; armed replies go through them."""
        self._services = services

    # -- the event loop's thread

    def gate(self, service: str, number: int) -> Future[None] | None:
        """Before request ``number`` of ``service`` is answered; what it has to wait for."""

        def due(_: State, trigger: Trigger) -> bool:
            return (
                trigger.kind == "request" and trigger.service == service and number >= trigger.count
            )

        with self._lock:
            self._cues.request(service, number)
        self._notice(due)
        last = self._last
        return None if last is None or last.done() else last

    def heard(self, stream: str, data: bytes) -> None:
        """A piece of output came."""
        waiting = self._waiting()
        self._heard.take(stream, data)
        if not any(trigger.kind == "output" for trigger in waiting):
            return

        def due(state: State, trigger: Trigger) -> bool:
            if trigger.kind != "output":
                return False
            return self._heard.found(stream, trigger.pattern, state.heard)

        self._notice(due)

    # -- either thread

    def _notice(self, due: Due) -> None:
        """Begin and end what is due, in the order of declaration."""
        with self._lock:
            for state in self._states:
                if state.moment is not None and self._comes(state, state.moment, due):
                    state.moment = None
                    self._do(state, self._remember)
                trigger = state.pending()
                if trigger is None or not self._comes(state, trigger, due):
                    continue
                if state.due:
                    state.over = True
                    self._do(state, self._end)
                else:
                    state.due = True
                    state.heard = self._heard.so_far()
                    self._do(state, self._begin)

    def _comes(self, state: State, trigger: Trigger, due: Due) -> bool:
        turn = state.turn(trigger)
        if not self._cues.comes(turn, trigger, by_itself=due(state, trigger)):
            return False
        self._journal.write("came", **came_form(turn, self._cues.came[turn]))
        return True

    def _do(self, state: State, change: Callable[[State], None]) -> None:
        if isinstance(state.injector, ReplyFault):
            change(state)
        else:
            self._last = self._inbox.post(lambda: change(state))

    # -- the trial's thread

    def start(self, *, live: bool) -> None:
        """Arm what is due at the start: before the main process, or (``live``) right after."""

        def due(state: State, trigger: Trigger) -> bool:
            is_live = isinstance(state.injector, PlaceFault) and state.injector.live
            return trigger.kind == "start" and is_live is live

        self._notice(due)
        self._inbox.work()

    def step(self, number: int) -> None:
        """A step begins; what came before it in the trial that is replayed comes now."""
        with self._lock:
            self._cues.step(number)
        self._notice(lambda _state, _trigger: False)
        self._inbox.work()

    def clock_starts(self) -> None:
        """The first step begins: ``after`` counts from here."""
        self._origin = clock.monotonic()

    def tick(self) -> None:
        """Look at the time and at files that are waited for; do what is due."""
        if self._origin is not None:
            passed = clock.monotonic() - self._origin
            self._notice(lambda _, trigger: trigger.kind == "after" and passed >= trigger.seconds)
            for path in self._files():
                if self._there(path):
                    self._notice(lambda _, t, p=path: t.kind == "file" and t.path == p)  # type: ignore[misc]
        self._inbox.work()
        for state in self._states:
            if isinstance(state.injection, Sampled) and not state.ended:
                state.injection.sample(self._place())

    def patience(self) -> float:
        """How long the trial's thread may sleep before :meth:`tick` is due again, seconds."""
        if self._files() or any(
            isinstance(state.injection, Sampled) and not state.ended for state in self._states
        ):
            return _LOOK
        with self._lock:
            waits = [self._time_to(state, trigger) for state, trigger in self._all_waiting()]
        return min(_LONGEST, max(0.001, min(waits, default=_LONGEST)))

    def _time_to(self, state: State, trigger: Trigger) -> float:
        """How long it takes at least until time lets a trigger come, as far as that is known."""
        if self._cues.held(trigger):
            held = self._cues.wait(state.turn(trigger), trigger)
            return _LOOK if held is None else held
        if trigger.kind != "after" or self._origin is None:
            return _LONGEST
        return self._origin + trigger.seconds - clock.monotonic()

    def _files(self) -> set[str]:
        return {trigger.path for trigger in self._waiting() if trigger.kind == "file"}

    def _waiting(self) -> list[Trigger]:
        return [trigger for _, trigger in self._all_waiting()]

    def _all_waiting(self) -> list[tuple[State, Trigger]]:
        return [(state, trigger) for state in self._states for trigger in state.waits()]

    def _there(self, path: str) -> bool:
        return self._place().sandbox.exists(*locate(path))

    def settle(self) -> None:
        """With the subject frozen: take the last proofs."""
        for state in self._states:
            late = isinstance(state.injector, ReplyFault)  # a reply may still have been on its way
            if state.begun and (late or not state.ended):
                self._prove(state)
            self._journal.write(
                "proof",
                fault=state.fault.id,
                count=state.landing.count,
                proof=state.landing.proof,
            )

    def heal(self) -> None:
        """End all that is in force; for the way out, whichever it is.

        Raises:
            SandboxError: the first that could not be healed; the others are.
        """
        problems = []
        for state in self._states:
            try:
                if state.begun and not state.ended:
                    self._finish(state)
            except SandboxLost:
                raise
            except SandboxError as problem:
                problems.append(problem)
        if problems:
            raise problems[0]

    def missed(self) -> Sequence[str]:
        """What of the schedule that is replayed has not come, in words."""
        with self._lock:
            return [f"{turn} in {moment}, and never did" for turn, moment in self._cues.missed()]

    def planted(self) -> Planted:
        """What faults left in the trees that is to count as there from the start."""
        return self._planted

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
                state.landing.proof if state.due else self._waits(state.fault.when),
            )
            for state in self._states
        )

    def _waits(self, trigger: Trigger) -> str:
        came = f"; {self._cues.asked(trigger.service)} came" if trigger.kind == "request" else ""
        return f"waited for {trigger}, in vain{came}"

    # -- faults in replies: either thread, with the lock; faults in the place: the trial's

    def _remember(self, state: State) -> None:
        assert isinstance(state.injector, Remembering)  # noqa: S101 - it has a moment
        try:
            state.injector.remember(state.fault.params, self._place())
        except SandboxLost:
            raise
        except SandboxError as error:
            self._journal.write("not-remembered", fault=state.fault.id, why=str(error))

    def _finish(self, state: State) -> None:
        """The trial is over."""
        if isinstance(state.injection, Lasting):
            state.ended = True
            for where, (was, made) in state.injection.planted().items():
                self._planted[where] = self._planted.get(where, (was, was))[0], made
            self._journal.write("stayed", fault=state.fault.id)
        else:
            self._heal(state)

    def _begin(self, state: State) -> None:
        state.begun = True
        if isinstance(state.injector, ReplyFault):
            assert self._services is not None  # noqa: S101 - attached before anything is armed
            self._services.arm(state.fault, state.injector)
        else:
            state.landing = Landing(0, "the trial was stopped while it was injected")
            try:
                state.injection = injected(state.injector, state.fault, self._place())
            except SandboxLost:
                raise
            except SandboxError as error:
                state.ended = True
                state.landing = Landing(0, f"could not be injected: {error}")
                self._journal.write("not-armed", fault=state.fault.id, why=str(error))
                return
        state.landing = Landing(0, "armed, and hit nothing")
        self._journal.write("armed", fault=state.fault.id, injector=state.fault.fault)

    def _end(self, state: State) -> None:
        """Its ``until`` came."""
        if not state.ended:
            self._prove(state)
            self._heal(state)

    def _heal(self, state: State) -> None:
        state.ended = True
        if isinstance(state.injector, ReplyFault):
            assert self._services is not None  # noqa: S101 - attached before anything is armed
            self._services.disarm(state.fault.id)
        elif state.injection is not None:
            state.injection.heal(self._place())
        self._journal.write("healed", fault=state.fault.id)

    def _prove(self, state: State) -> None:
        if state.injection is not None:
            state.landing = state.injection.landing(self._place())
        elif isinstance(state.injector, ReplyFault) and self._services is not None:
            count = self._services.hits(state.fault.id)
            state.landing = Landing(count, self._services.proof(state.fault.id))
