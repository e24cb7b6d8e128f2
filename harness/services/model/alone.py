"""A script served alone, for anyone's tests: its faults, triggered; its tally, in a sentence.

There is no trial around it: only the model's own faults can happen, and only those that
begin at the start, at a request, or after a while.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from harness.case.model import Fault, ScriptStep, Trigger
from harness.faults.base import ReplyFault
from harness.faults.registry import FAULTS
from harness.oracles.prices import price_of
from harness.plural import plural
from harness.services.bounds import UNBOUNDED
from harness.services.cast import Cast
from harness.services.host import ServiceHost
from harness.services.live import Live
from harness.services.model.resolve import INSIDE, Places
from harness.services.model.service import ModelService, Spent
from harness.services.record import Shelf
from sandboxes import clock
from sandboxes.base import Listen

_HAPPEN = frozenset({"start", "request", "after"})
_MODEL = "model"
_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Play:
    """What is served.

    Attributes:
        script: ``None``: every turn gets ``Done.``.
        faults: of the case, whatever their layer.
        prices: dollars per million tokens, by model.
        places: where the agent works.
    """

    script: Sequence[ScriptStep] | None
    faults: Sequence[Fault] = ()
    prices: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    places: Places = INSIDE


def cannot_happen(fault: Fault) -> str | None:
    """Why a fault has no place here; ``None`` for one that has."""
    if not isinstance(FAULTS[fault.fault], ReplyFault) or not fault.fault.startswith("model."):
        return "only faults of the model can happen to a model that is served alone"
    triggers = [fault.when, *([fault.until] if fault.until else [])]
    for trigger in triggers:
        if trigger.kind not in _HAPPEN or (trigger.kind == "request" and trigger.service != _MODEL):
            return f"its trigger ({trigger.kind}) cannot be seen here"
    return None


@dataclass(frozen=True, slots=True)
class Alone:
    """A model that is up."""

    url: str
    live: Live
    spent: Callable[[], Spent]

    def faults_landed(self, faults: Sequence[Fault]) -> Mapping[str, int]:
        """How often each fault hit."""
        return {fault.id: self.live.hits(fault.id) for fault in faults}


@contextmanager
def serving(play: Play, host: str, port: int, journal: Path | None) -> Iterator[Alone]:
    """Serve until the block is left; ``port`` 0 takes a free one.

    Raises:
        OSError: the address cannot be bound, or the journal not written.
    """
    faults = [fault for fault in play.faults if cannot_happen(fault) is None]
    service = ModelService(play.script, models=tuple(play.prices), places=play.places)
    with ServiceHost() as threads, socket.create_server((host, port)) as listener:
        address, bound = listener.getsockname()[:2]
        triggers = _Triggers(faults)
        shelf = Shelf(lines=journal, keep=False)
        begun = clock.monotonic()
        cast = Cast(
            (service,),
            {_MODEL: address},
            shelf,
            gatekeeper=triggers.request,
            since=lambda: clock.monotonic() - begun,
            declared=[fault.id for fault in faults],
            most=UNBOUNDED,
        )
        live = threads.serve(cast, {Listen(address, bound): listener})
        triggers.attach(live, lambda wait, work: _later(threads, wait, work))
        try:
            spent = partial(threads.call, service.spent)
            yield Alone(f"http://{_shown(address)}:{bound}", live, spent)
        finally:
            live.close()


def summary(play: Play, alone: Alone) -> Sequence[str]:
    """What happened, in lines for people."""
    tally = alone.live.model()
    script = (
        f"{plural(tally.turns, 'turn')} asked for, {tally.served} served, {plural(tally.beyond, 'request')} beyond "
        f"the script, {plural(tally.left, 'step')} left over"
    )
    lines = [script, _cost(alone.spent(), play.prices)]
    faults = [fault for fault in play.faults if cannot_happen(fault) is None]
    for name, count in alone.faults_landed(faults).items():
        lines.append(
            f"fault {name}: " + (f"hit {plural(count, 'time')}" if count else "has not landed")
        )
    return lines


def _cost(spent: Spent, prices: Mapping[str, tuple[float, float]]) -> str:
    dollars, unpriced = 0.0, []
    for model, (tokens_in, tokens_out) in spent.items():
        price = price_of(model, prices)
        if price is None:
            unpriced.append(model or "a request that names none")
        else:
            dollars += (tokens_in * price[0] + tokens_out * price[1]) / _MILLION
    total_in = sum(tokens_in for tokens_in, _ in spent.values())
    total_out = sum(tokens_out for _, tokens_out in spent.values())
    missing = f"; no price for {', '.join(sorted(unpriced))}" if unpriced else ""
    return f"{total_in} tokens in, {total_out} out: ${dollars:.6f}{missing}"


class _Triggers:
    """Begins and ends faults; all in the loop's thread, once attached."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        self._waiting = list(faults)
        self._acting: list[Fault] = []
        self._live: Live | None = None

    def attach(self, live: Live, later: Callable[[float, Callable[[], None]], None]) -> None:
        self._live = live
        self._due(lambda trigger: trigger.kind == "start")
        for fault in [*self._waiting, *self._acting]:
            for trigger in (fault.when, fault.until):
                if trigger is not None and trigger.kind == "after":
                    later(trigger.seconds, lambda at=trigger: self._due(lambda t: t is at))  # type: ignore[misc]

    def request(self, service: str, number: int) -> None:  # noqa: ARG002 - there is but one
        if self._waiting or self._acting:
            self._due(lambda trigger: trigger.kind == "request" and number >= trigger.count)

    def _due(self, due: Callable[[Trigger], bool]) -> None:
        if self._live is None:
            return
        for fault in [fault for fault in self._acting if fault.until and due(fault.until)]:
            self._acting.remove(fault)
            self._live.disarm(fault.id)
        for fault in [fault for fault in self._waiting if due(fault.when)]:
            self._waiting.remove(fault)
            self._acting.append(fault)
            injector = FAULTS[fault.fault]
            if isinstance(injector, ReplyFault):
                self._live.arm(fault, injector)


def _later(threads: ServiceHost, wait: float, work: Callable[[], None]) -> None:
    threads.call(lambda: threads.loop.call_later(wait, work))


def _shown(address: str) -> str:
    return f"[{address}]" if ":" in address else address
