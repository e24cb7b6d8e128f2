"""The services of one trial, up and recording.

What is asked of them from the trial's thread is done in the loop's, where all of their state
lives; what both threads touch is the board of faults and the record, which have locks.
"""

from __future__ import annotations

import asyncio
import itertools
import socket
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeAlias, TypeVar

from harness.case.model import Fault
from harness.evidence.model import ModelRecord, Request
from harness.faults.base import ReplyFault
from harness.services.base import Held, Hit, Incoming, ModelService, Peopled
from harness.services.board import Board
from harness.services.bounds import Bodies, Taken
from harness.services.cast import Cast, Loop
from harness.services.chat.human import Human
from harness.services.exchange import Desk
from harness.services.http1 import Connection, Refusal
from harness.services.keeping import held
from harness.services.knock import Context, Knock
from harness.services.listening import Listener
from harness.services.loss import Losses
from harness.services.names import Names, Zone
from harness.services.nameserver import NameServer, NameStream
from harness.services.plan import DNS, DNS_PORT, MODEL, TLS_PORTS
from harness.services.record import Hands, Recorder, Seen
from sandboxes import clock
from sandboxes.base import Listen

T = TypeVar("T")

Open: TypeAlias = Connection | NameStream | Knock

_LOOK = 0.001


class Live:
    """Implements :class:`~harness.services.base.LiveServices`; made by the host."""

    def __init__(self, thread: Loop, cast: Cast, closed: Callable[[Live], None]) -> None:
        self._thread = thread
        self._loop = thread.loop
        self._cast = cast
        self._closed = closed
        self._failure: BaseException | None = None
        self._numbers = itertools.count(1)
        self._connection_numbers = itertools.count(1)
        self._connections: set[Open] = set()
        self._opening: set[asyncio.Task[None]] = set()
        self._listeners: dict[Listen, Listener] = {}
        self._name_servers: list[NameServer] = []
        self._desks = {service.name: Desk(self, service) for service in cast.services}
        self._by_host = {cast.addresses[name]: desk for name, desk in self._desks.items()}
        self.board = Board(cast.declared)
        self.gatekeeper = cast.gatekeeper
        self._bodies = Bodies(cast.memory, lambda: self.recorder.backlog)
        self.recorder: Recorder = Recorder(
            cast.shelf,
            cast.redact,
            Hands(
                self._loop.call_later,
                thread.aside,
                partial(self._loop.call_soon_threadsafe, self._bodies.stored),
            ),
        )
        self.names = Names(Zone.of(cast.addresses), self.recorder.screen.text)
        self._taking = Taken.of(cast.most, cast.services)
        self._losses = Losses()
        self._over = False

    # -- LiveServices, from any thread

    def arm(self, fault: Fault, injector: ReplyFault) -> None:
        self.board.arm(fault, injector)

    def disarm(self, fault_id: str) -> None:
        self.board.disarm(fault_id)

    def hits(self, fault_id: str) -> int:
        return self.board.hits(fault_id)

    def proof(self, fault_id: str) -> str:
        return self.board.proof(fault_id)

    def requests(self) -> Sequence[Request]:
        return self.recorder.requests()

    def unrecorded(self) -> int:
        return self._taking.refused

    def names_asked(self) -> Mapping[str, int]:
        return self._thread.call(self.names.asked)

    def model(self) -> ModelRecord:
        desk = self._desks.get(MODEL)
        if desk is None or not isinstance(desk.service, ModelService):
            return ModelRecord()
        return self._thread.call(desk.service.tally)

    def held(self) -> Held:
        return held(self._cast.services, self._thread.call)

    def failure(self) -> BaseException | None:
        return self._failure or self.recorder.failure

    def adopt(self, where: Listen, listener: socket.socket) -> None:
        self._thread.call(partial(self._adopt, where, listener))

    def settle(self, seconds: float) -> bool:
        deadline = clock.monotonic() + seconds
        while not self._thread.call(self._taken):
            if clock.monotonic() > deadline:
                return False
            clock.sleep(_LOOK)
        return True

    def close(self) -> None:
        self._thread.call(self._close)
        self.recorder.close()
        self._closed(self)

    # -- ServiceGate, from any thread

    def cut(self) -> int:
        return self._thread.call(self._cut)

    def refuse(self, service: str | None) -> None:
        self._thread.call(partial(self._each, service, Listener.refuse))

    def admit(self, service: str | None) -> None:
        self._thread.call(partial(self._each, service, Listener.admit))

    def delay(self, service: str | None, seconds: float) -> None:
        for desk in self._desks_of(service):
            desk.delay = seconds

    def delayed(self, service: str | None) -> int:
        return sum(desk.delayed for desk in self._desks_of(service))

    def lose(self, service: str, percent: int) -> None:
        self._thread.call(partial(self._losses.lose, service, percent))

    def lost(self, service: str) -> int:
        return self._thread.call(partial(self._losses.lost, service))

    def name_fails(self, name: str, how: str | None) -> None:
        self._thread.call(partial(self.names.fail, name, how))

    def name_failed(self, name: str) -> int:
        return self._thread.call(partial(self.names.failed, name))

    def with_human(self, service: str, act: Callable[[Human], T]) -> T:
        desk = self._desks.get(service)
        if desk is None or not isinstance(desk.service, Peopled):
            raise LookupError(f"there is nobody behind {service}")
        return self._thread.call(partial(act, desk.service.human))

    # -- Room and House, in the loop's thread

    def seen(self, service: str, incoming: Incoming) -> Seen:
        """A request has arrived."""
        taken = self._taking.take(service, incoming)
        return Seen(next(self._numbers), self._cast.since(), service, incoming, taken=taken)

    def done(self, seen: Seen) -> None:
        """It has ended."""
        if seen.taken:
            self.recorder.add(seen)

    def untaken(self, service: str, refusal: Refusal, sent: int, how: str) -> None:
        """A request never reached its service."""
        seen = self.seen(service, refusal.incoming)
        seen.status, seen.sent, seen.ended = refusal.status, sent, how
        self.done(seen)

    def shut_out(self, service: str, heard: Incoming, hit: Hit | None, how: str, said: str) -> None:
        """A handshake came to nothing; what was sent instead of one is kept like a body."""
        seen = self.seen(service, heard)
        seen.ended = how
        if hit is not None:
            seen.fault = hit.fault.id
            self.board.met(hit, said)
        self.done(seen)

    def soon(self, desk: Desk) -> None:
        """Have the desk go on, from any thread."""
        self._loop.call_soon_threadsafe(desk.go_on)

    def later(self, seconds: float, call: Callable[[], None]) -> asyncio.TimerHandle:
        """Have something called in the loop's thread."""
        return self._loop.call_later(seconds, call)

    def hold(self, size: int) -> bool:
        """More or fewer bytes of bodies are held in memory; ``False`` if those are too many."""
        return self._bodies.hold(size)

    def crowded(self, connection: Connection) -> bool:
        """Whether bodies come faster than they are stored."""
        return self._bodies.crowded(connection)

    def failed(self, bug: BaseException) -> None:
        """Keep the first bug; the trial is told by :meth:`failure`."""
        self._failure = self._failure or bug

    def crashed(self, bug: BaseException) -> None:
        """A bug whose request is not known: nobody may wait for a reply that never comes."""
        self.failed(bug)
        self._cut()

    def came(self, connection: Open) -> bool:
        """A connection is open; ``False`` if the trial is over."""
        if self._over:
            return False
        self._connections.add(connection)
        if len(self._connections) == self._cast.connections:
            self._hold(held=True)
        return True

    def left(self, connection: Open) -> None:
        """A connection is gone."""
        self._losses.look()
        self._connections.discard(connection)
        self._bodies.left(connection)
        if len(self._connections) == self._cast.connections - 1:
            self._hold(held=False)

    # -- in the loop's thread

    def open(self, listeners: Mapping[Listen, socket.socket]) -> None:
        """Serve what is bound."""
        for where, listener in listeners.items():
            self._adopt(where, listener)

    def _adopt(self, where: Listen, sock: socket.socket) -> None:
        service = DNS if where.port == DNS_PORT else self._by_host[where.host].name
        self._losses.opened(service, sock)
        if where.port == DNS_PORT and where.kind == "udp":
            self._name_servers.append(NameServer(self._loop, sock, self.names.reply))
            return
        if where.port == DNS_PORT:
            made: Callable[[], asyncio.Protocol] = self._name_stream
        elif where.port in TLS_PORTS and self._cast.context is not None:
            made = partial(self._knock, self._by_host[where.host], self._cast.context)
        else:
            made = partial(self._connection, self._by_host[where.host])
        if where in self._listeners:
            self._listeners[where].close()
        accepted = partial(self._accepted, service, made)
        self._listeners[where] = Listener(self._loop, sock, accepted)

    def _connection(self, desk: Desk) -> Connection:
        return Connection(next(self._connection_numbers), desk, self)

    def _knock(self, desk: Desk, context: Context) -> Knock:
        number = next(self._connection_numbers)
        return Knock(self, context, number, desk.name, partial(Connection, number, desk, self))

    def _name_stream(self) -> NameStream:
        return NameStream(self.names.reply, self.came, self.left)

    def _accepted(
        self, service: str, made: Callable[[], asyncio.Protocol], sock: socket.socket
    ) -> None:
        self._losses.opened(service, sock)
        task = self._loop.create_task(self._attach(made, sock))
        self._opening.add(task)
        task.add_done_callback(self._opening.discard)

    async def _attach(self, made: Callable[[], asyncio.Protocol], sock: socket.socket) -> None:
        try:
            await self._loop.connect_accepted_socket(made, sock)
        except OSError:
            sock.close()  # its client was faster

    def _hold(self, *, held: bool) -> None:
        for listener in self._listeners.values():
            listener.hold(held=held)

    def _each(self, service: str | None, act: Callable[[Listener], None]) -> None:
        hosts = {self._cast.addresses[desk.name] for desk in self._desks_of(service)}
        for where, listener in self._listeners.items():
            if where.host in hosts and where.port != DNS_PORT:
                act(listener)

    def _desks_of(self, service: str | None) -> Sequence[Desk]:
        return list(self._desks.values()) if service is None else [self._desks[service]]

    def _cut(self) -> int:
        connections = list(self._connections)
        for connection in connections:
            connection.reset("reset")
        return len(connections)

    def _taken(self) -> bool:
        """Take what waits in the kernel's queues; whether there was nothing, and nobody is left."""
        came = [listener.take() for listener in self._listeners.values()]
        for name_server in self._name_servers:
            name_server.take()
        return not (any(came) or self._opening or self._connections)

    def _close(self) -> None:
        self._over = True
        for listener in self._listeners.values():
            listener.close()
        for name_server in self._name_servers:
            name_server.close()
        for connection in list(self._connections):
            connection.reset()
