"""Which step of the script answers a request: one pure function over an immutable state.

A turn belongs to the request for as long as no complete reply to it has left. What counts is
what the server sent, never the history that the client shows: agents keep aborted calls in
it, flatten it, cut it short. So

- a request that is sent again while its first reply is still on the way (the client gave up
  and retries, its body equal) gets the same turn;
- any other request gets the lowest turn that is neither served nor on its way to somebody
  else; so parallel sub-agents take the turns in the order in which they ask (two that send
  the very same body at the same time are taken for one that retries);
- a reply that a fault keeps from being complete holds no turn, even while it hangs;
- a turn whose reply was cut is free again, and goes before all later ones;
- except where the client shows the results of all its calls: it took the turn though the end
  was missing, as agents do that run calls while the stream is still coming, and to hear the
  same calls again would make it do everything twice.

The last tool result decides on ``if`` when a step is reached for the first time; a retry of
the turn that it went to is not asked again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from harness.case.model import ScriptStep
from harness.search import search
from harness.services.model.heard import Heard
from harness.subjects.base import Dialect

TURN, SIDE, PROBE, BEYOND = "turn", "side", "probe", "beyond"

Position = tuple[int, int]
"""A step of the script, and which of its repetitions; both from 0."""

#: What every turn gets where a case has no script.
UNSCRIPTED: Sequence[ScriptStep] = (ScriptStep(say="Done.", repeat=None),)


class Flight(NamedTuple):
    """A reply on its way: ``holds`` while it may still serve the turn."""

    position: Position
    key: int
    holds: bool


class Waiting(NamedTuple):
    """A turn below the frontier that is still to be served.

    Attributes:
        key: of who asked last.
        attempts: how often it was asked for.
        calls: by attempt, the ids of its calls where these left whole and only the end did not.
    """

    key: int
    attempts: int
    calls: tuple[frozenset[str], ...] = ()


class State(NamedTuple):
    """What the model has done so far.

    Attributes:
        frontier: no turn from here on has been asked for.
        open: turns below the frontier that are not served.
        flights: replies on their way, by ticket.
        saw_tools: a request has offered tools.
        turns: requests that were turns.
        served: turns served.
        beyond: requests that found nothing left.
        tickets: given out.
    """

    frontier: Position = (0, 0)
    open: Mapping[Position, Waiting] = MappingProxyType({})
    flights: Mapping[int, Flight] = MappingProxyType({})
    saw_tools: bool = False
    turns: int = 0
    served: int = 0
    beyond: int = 0
    tickets: int = 0


class Routed(NamedTuple):
    """What a request is, and what becomes of the state if it is answered so.

    Attributes:
        kind: ``turn``, ``side`` or ``beyond``.
        position: of a turn.
        attempt: how often this turn has been asked for, this one included.
        ticket: to settle the reply with.
    """

    kind: str
    state: State
    position: Position | None = None
    attempt: int = 1
    ticket: int = 0


def route(state: State, heard: Heard, script: Sequence[ScriptStep], dialect: Dialect) -> Routed:
    """Find the turn for a request to a completion path."""
    if not heard.tools and (state.saw_tools or dialect.offers_tools):
        return Routed(SIDE, state)
    if heard.tools and not state.saw_tools:
        state = state._replace(saw_tools=True)
    position = None
    if state.open:
        state = _without_taken(state, heard)
        position = _again(state, heard) or _open(state)
    position = position or _ahead(state, heard, script)
    if position is None:  # steps whose `if` spoke against it have been reached, and skipped
        spent = state._replace(frontier=(len(script), 0), beyond=state.beyond + 1)
        return Routed(BEYOND, spent)
    before = state.open.get(position)
    attempt = before.attempts + 1 if before else 1
    ticket = state.tickets + 1
    waiting = Waiting(heard.key, attempt, before.calls if before else ())
    routed = State(
        frontier=max(state.frontier, _after(position, script)),
        open={**state.open, position: waiting},
        flights={**state.flights, ticket: Flight(position, heard.key, holds=True)},
        saw_tools=state.saw_tools,
        turns=state.turns + 1,
        served=state.served,
        beyond=state.beyond,
        tickets=ticket,
    )
    return Routed(TURN, routed, position, attempt, ticket)


def release(state: State, ticket: int, calls: frozenset[str] = frozenset()) -> State:
    """The reply will not be complete: its turn is free again at once.

    Args:
        state: before.
        ticket: of the reply.
        calls: ids of the turn's calls, where all of them leave whole all the same.
    """
    flight = state.flights.get(ticket)
    if flight is None:
        return state
    released = state._replace(flights={**state.flights, ticket: flight._replace(holds=False)})
    waiting = state.open.get(flight.position)
    if not calls or waiting is None:
        return released
    noted = waiting._replace(calls=(*waiting.calls, calls))
    return released._replace(open={**state.open, flight.position: noted})


def settle(state: State, ticket: int, *, complete: bool) -> State:
    """The reply has ended; a complete one that was not released serves its turn, once."""
    flight = state.flights.get(ticket)
    if flight is None:
        return state
    flights = {each: other for each, other in state.flights.items() if each != ticket}
    served = complete and flight.holds and flight.position in state.open
    still = state.open
    if served:
        still = {each: other for each, other in still.items() if each != flight.position}
    return State(
        frontier=state.frontier,
        open=still,
        flights=flights,
        saw_tools=state.saw_tools,
        turns=state.turns,
        served=state.served + served,
        beyond=state.beyond,
        tickets=state.tickets,
    )


def left(state: State, script: Sequence[ScriptStep]) -> int:
    """How many steps are left over: not served to the end, and not skipped.

    A step with ``repeat: always`` is never left over. One with ``if`` that no request has
    reached was not skipped.
    """
    unserved = {step for step, _ in state.open}
    unserved |= set(range(state.frontier[0], len(script)))
    return sum(1 for step in unserved if script[step].repeat is not None)


def _without_taken(state: State, heard: Heard) -> State:
    """Turns whose calls this client has run are served, end or no end."""
    if not heard.results:
        return state
    shown = {result.call_id for result in heard.results}
    still = {
        position: waiting
        for position, waiting in state.open.items()
        if not any(calls <= shown for calls in waiting.calls)
    }
    taken = len(state.open) - len(still)
    return state._replace(open=still, served=state.served + taken) if taken else state


def _again(state: State, heard: Heard) -> Position | None:
    """The turn that this same request is waiting for already."""
    for position, waiting in state.open.items():
        if waiting.key == heard.key:
            return position
    return None


def _open(state: State) -> Position | None:
    """The lowest unserved turn that no reply on its way may still serve."""
    held = {flight.position for flight in state.flights.values() if flight.holds}
    return min((each for each in state.open if each not in held), default=None)


def _ahead(state: State, heard: Heard, script: Sequence[ScriptStep]) -> Position | None:
    """The first turn from the frontier on whose ``if`` does not speak against it."""
    step, _ = state.frontier
    if step < len(script) and script[step].when is None:  # as nearly always: ask no further
        return state.frontier
    for position in _from(state.frontier, script):
        condition = script[position[0]].when
        if condition is None or _matches(condition, heard.last_result):
            return position
    return None


def _from(frontier: Position, script: Sequence[ScriptStep]) -> Iterator[Position]:
    """The frontier, then the first repetition of each later step."""
    step, repetition = frontier
    for later in range(step, len(script)):
        yield later, repetition if later == step else 0


def _after(position: Position, script: Sequence[ScriptStep]) -> Position:
    step, repetition = position
    repeat = script[step].repeat
    if repeat is None or repetition + 1 < repeat:
        return step, repetition + 1
    return step + 1, 0


def _matches(condition: str, text: str | None) -> bool:
    return text is not None and search(condition, text) is not None
