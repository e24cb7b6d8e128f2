"""One request from its arrival to its record, and the desk of the service that takes it.

The flow: classify, count, wait for faults that are due at this request, take the faults that
hit it, answer, send, tell the service how it ended, record. Without a fault that has to be
waited for and without a pause, all of it happens in one call.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from typing import Protocol

from harness.services.base import Answer, Asked, Gatekeeper, Hit, HttpService, Incoming, Later
from harness.services.board import Board
from harness.services.framing import Manner
from harness.services.record import Seen
from harness.services.reply import Wire


class Line(Protocol):
    """The connection that a request came in on."""

    def send(self, exchange: Exchange, delay: float) -> None:
        """Send the reply; ``delay`` seconds are to pass before its first byte."""

    def reset(self) -> None:
        """Reset the connection."""


class Alarm(Protocol):
    """Something that is due later."""

    def cancel(self) -> None:
        """It is not due any more."""


class Room(Protocol):
    """What the services of one trial share."""

    @property
    def board(self) -> Board: ...

    @property
    def gatekeeper(self) -> Gatekeeper | None: ...

    def seen(self, service: str, incoming: Incoming) -> Seen:
        """A request has arrived: give it its number and its time."""

    def done(self, seen: Seen) -> None:
        """It has ended: record it."""

    def soon(self, desk: Desk) -> None:
        """Have ``desk.go_on()`` called by the loop; safe from any thread."""

    def later(self, seconds: float, call: Callable[[], None]) -> Alarm:
        """Have something called by the loop, in the loop's thread."""

    def failed(self, bug: BaseException) -> None:
        """A service, or the harness around it, has a bug."""


class Exchange:
    """A request on its way through a desk."""

    __slots__ = (
        "_desk",
        "_line",
        "alarm",
        "answer",
        "asked",
        "hits",
        "landed",
        "look",
        "manner",
        "open",
        "seen",
        "started",
    )

    def __init__(self, desk: Desk, line: Line, seen: Seen, manner: Manner) -> None:
        self._desk = desk
        self._line = line
        self.seen = seen
        self.manner = manner
        self.asked: Asked | None = None
        self.answer: Answer | None = None
        self.look: Callable[[], Answer | Later] | None = None
        self.alarm: Alarm | None = None
        self.hits: Sequence[Hit] = ()
        self.landed: list[Hit] = []
        self.started = False
        self.open = True

    def begins(self) -> None:
        """The first byte is about to leave, or the end that comes instead of it."""
        self.started = True
        if self.hits:
            self._desk.landed(self, self.hits)

    def ends(self, how: str, sent: int) -> None:
        """The reply has left (``whole``), was ``cut``, or was ``reset``; told once."""
        if not self.open:
            return
        self.open = False
        self._desk.ended(self, how, sent)

    def answered(self, delay: float) -> None:
        """The desk knows what to send."""
        self._line.send(self, delay)

    def broken(self) -> None:
        """The desk cannot answer: nobody may wait for it."""
        self.ends("reset", 0)
        self._line.reset()


class Desk:
    """Where the requests of one service are taken, in order of arrival.

    Attributes:
        service: the service.
        number: of the last counting request, from 1.
        delay: seconds by which every reply is held back.
        delayed: how many replies were.
    """

    def __init__(self, room: Room, service: HttpService) -> None:
        self._room = room
        self.service = service
        self.name = service.name
        self.number = 0
        self.delay = 0.0
        self.delayed = 0
        self._waiting: deque[Exchange] = deque()
        self._held: list[Exchange] = []

    def take(
        self, line: Line, incoming: Incoming, manner: Manner, met: Hit | None = None
    ) -> Exchange:
        """A request has come; its reply goes to ``line``, now or later.

        ``met`` is a fault that its client has met on the way, and went on.
        """
        seen = self._room.seen(self.name, incoming)
        exchange = Exchange(self, line, seen, manner)
        if met is not None:
            self.landed(exchange, [met])
            self._room.board.remark(met.fault.id, "went on")
        if not seen.taken:
            exchange.broken()
            return exchange
        try:
            asked = self.service.classify(incoming)
        except Exception as bug:  # noqa: BLE001 - any bug of a service is told, none stalls
            self._room.failed(bug)
            exchange.broken()
            return exchange
        exchange.asked = asked
        seen.kind = asked.kind
        seen.model = asked.model
        if not asked.counts:
            self._answer(exchange)
        elif self._waiting:
            self._waiting.append(exchange)
        elif self._admitted(exchange):
            self._answer(exchange)
        return exchange

    def _admitted(self, exchange: Exchange) -> bool:
        """Count it; ``False`` if it has to wait, with all that come after it, for a fault."""
        self.number += 1
        if self._room.gatekeeper is None:
            return True
        try:
            gate = self._room.gatekeeper(self.name, self.number)
        except Exception as bug:  # noqa: BLE001 - see above
            self._room.failed(bug)
            return True
        if gate is None or gate.done():
            self._heed(gate)
            return True
        self._waiting.appendleft(exchange)
        gate.add_done_callback(self._opened)
        return False

    def _opened(self, gate: Future[None]) -> None:
        self._heed(gate)
        self._room.soon(self)

    def _heed(self, gate: Future[None] | None) -> None:
        if gate is not None and not gate.cancelled() and (bug := gate.exception()) is not None:
            self._room.failed(bug)

    def go_on(self) -> None:
        """The fault that the first one waits for is in force: answer it, then the others."""
        if not self._waiting:
            return
        self._answer(self._waiting.popleft())
        while self._waiting:
            following = self._waiting.popleft()
            if not self._admitted(following):
                return
            self._answer(following)

    def _answer(self, exchange: Exchange) -> None:
        asked = exchange.asked
        if asked is None or not exchange.open:
            return  # its client has gone
        hits = self._room.board.take(self.name) if asked.counts else ()
        exchange.hits = hits
        exchange.look = partial(self.service.answer, exchange.seen.incoming, asked, hits)
        if self._look(exchange):
            for held in tuple(self._held):
                self._look(held)

    def _look(self, exchange: Exchange) -> bool:
        """Answer it, or see when to look again; whether it was answered."""
        if not exchange.open or exchange.look is None:
            return False
        try:
            answer = exchange.look()
        except Exception as bug:  # noqa: BLE001 - see above
            self._room.failed(bug)
            exchange.broken()
            return False
        self._release(exchange)
        if isinstance(answer, Later):
            exchange.look = answer.look
            exchange.alarm = self._room.later(answer.seconds, partial(self._look_again, exchange))
            self._held.append(exchange)
            return False
        exchange.look = None
        self._decided(exchange, answer)
        return True

    def _look_again(self, exchange: Exchange) -> None:
        self._look(exchange)

    def _release(self, exchange: Exchange) -> None:
        """It is not held any more."""
        if exchange.alarm is not None:
            exchange.alarm.cancel()
            exchange.alarm = None
            self._held.remove(exchange)

    def _decided(self, exchange: Exchange, answer: Answer) -> None:
        hits = exchange.hits
        exchange.answer = answer
        if answer.missed:
            self._room.board.give_back(answer.missed)
            hits = [hit for hit in hits if hit.fault.id not in answer.missed]
        exchange.hits = hits
        wire = answer.wire
        if hits and isinstance(wire, Wire) and wire.delay > 0:  # its client may leave before
            self.landed(exchange, [hit for hit in hits if _withholds(hit, wire)])
        if self.delay > 0:
            self.delayed += 1
        exchange.answered(wire.delay + self.delay)

    def ended(self, exchange: Exchange, how: str, sent: int) -> None:
        """A reply has ended, or its client has gone before there was one."""
        self._release(exchange)
        seen, answer = exchange.seen, exchange.answer
        seen.ended = how
        seen.sent = sent
        if answer is not None:
            seen.kind = answer.kind
            seen.answer = answer
            if exchange.started and answer.wire.head:
                seen.status = answer.wire.status
            try:
                self.service.ended(answer, how)
            except Exception as bug:  # noqa: BLE001 - see above
                self._room.failed(bug)
        self._room.done(seen)

    def landed(self, exchange: Exchange, hits: Sequence[Hit]) -> None:
        """Count the faults that a reply carries, each once."""
        fresh = [hit for hit in hits if hit not in exchange.landed]
        exchange.landed += fresh
        exchange.seen.fault = ",".join(hit.fault.id for hit in exchange.landed)
        self._room.board.landed(fresh)


def _withholds(hit: Hit, wire: Wire) -> bool:
    """Whether this fault makes a client wait for the first byte, whatever others do."""
    prompt = replace(wire, delay=0.0)
    return hit.injector.rewrite_wire(hit.fault.params, prompt).delay > 0
