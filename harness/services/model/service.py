"""The model as a service: hear, route, resolve, render, break, and count.

Runs in the thread of the event loop, one request at a time, and never blocks. A reply that
no fault touches comes from a cache of rendered wires, with only its ids patched in.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from harness.case.model import ScriptStep
from harness.evidence.model import ModelRecord
from harness.services.base import Answer, Asked, Hit, Incoming
from harness.services.model.heard import Heard, NotHeard, tokens
from harness.services.model.ids import Ids
from harness.services.model.press import Plate, Press
from harness.services.model.protocols.base import ModelProtocol
from harness.services.model.protocols.registry import CHAT, PROTOCOLS, protocol_for
from harness.services.model.resolve import INSIDE, Places, resolve
from harness.services.model.route import (
    BEYOND,
    PROBE,
    SIDE,
    TURN,
    UNSCRIPTED,
    Routed,
    State,
    left,
    release,
    route,
    settle,
)
from harness.services.model.sides import beyond, not_heard, probe, side_turn
from harness.services.model.strike import Struck, strike
from harness.services.reply import ToolCall, Turn, Wire
from harness.subjects.base import Dialect

log = logging.getLogger(__name__)

#: Tokens in and out by the name of the model that was asked for.
Spent = Mapping[str | None, tuple[int, int]]

WHOLE = "whole"
_ERRORS_FROM = 400
_SHORT = 64 << 10
_MOST_UNKNOWN = 1000


class _Letter:
    """A request to a completion path that has been read, and its last reply from the press.

    Kept where the very same request comes again, so that neither has to be found anew.

    Attributes:
        step: of the script that ``plate`` says, ``-1`` before the first.
        plate: the reply.
        used: tokens in and out.
    """

    __slots__ = ("heard", "plate", "protocol", "step", "used")

    def __init__(self, protocol: ModelProtocol, heard: Heard) -> None:
        self.protocol = protocol
        self.heard = heard
        self.step = -1
        self.plate: Plate | None = None
        self.used = (0, 0)


class _Question(NamedTuple):
    """A letter, and how it was routed in which state."""

    letter: _Letter
    before: State
    routed: Routed


class ModelService:
    """The scripted model of one trial."""

    def __init__(
        self,
        script: Sequence[ScriptStep] | None,
        dialect: Dialect | None = None,
        *,
        name: str = "model",
        models: Sequence[str] = (),
        places: Places = INSIDE,
    ) -> None:
        self._name = name
        self._scripted = script is not None
        self._script = UNSCRIPTED if script is None else tuple(script)
        self._dialect = dialect or Dialect()
        self._models = ("shakeout", *models)
        self._places = places
        self._state = State()
        self._ids = Ids()
        self._press = Press(self._ids)
        self._unknown: set[str] = set()
        self._spent: dict[str | None, tuple[int, int]] = {}

    @property
    def name(self) -> str:
        """Its host name inside."""
        return self._name

    def classify(self, incoming: Incoming) -> Asked:
        """A turn, a side request, a probe, or beyond the script."""
        notes = incoming.notes
        letter = notes.service if notes is not None else None
        if not isinstance(letter, _Letter):
            protocol = protocol_for(incoming.path) if incoming.method == "POST" else None
            if protocol is None:
                return Asked(PROBE, counts=False)
            try:
                letter = _Letter(protocol, protocol.hear(incoming.body))
            except NotHeard as why:
                return Asked(PROBE, counts=False, detail=why)
            if notes is not None:
                notes.service = letter
        heard, state = letter.heard, self._state
        routed = route(state, heard, self._script, self._dialect)
        question = _Question(letter, state, routed)
        return Asked(routed.kind, routed.kind == TURN, heard.model, question)

    def answer(self, incoming: Incoming, asked: Asked, hits: Sequence[Hit]) -> Answer:
        """Decide the reply, every hit applied."""
        question = asked.detail
        if not isinstance(question, _Question):
            return Answer(self._probed(incoming, question), PROBE, serves=False)
        letter, before, routed = question
        heard = letter.heard
        if before is not self._state:  # others were answered in the meantime
            routed = route(self._state, heard, self._script, self._dialect)
        self._state = routed.state
        if heard.unknown:
            self._note(heard)
        if routed.kind == TURN:
            return self._struck(letter, routed, hits) if hits else self._turn(letter, routed)
        answer = self._beyond(heard) if routed.kind == BEYOND else self._side(incoming, heard)
        return answer._replace(missed=frozenset(hit.fault.id for hit in hits)) if hits else answer

    def ended(self, answer: Answer, how: str) -> None:
        """Settle a turn by how its reply ended."""
        if isinstance(answer.detail, int):
            self._state = settle(self._state, answer.detail, complete=how == WHOLE)

    def tally(self) -> ModelRecord:
        """What it has done so far."""
        state = self._state
        over = left(state, self._script)
        return ModelRecord(state.turns, state.served, over, state.beyond)

    def spent(self) -> Spent:
        """Tokens as the harness counts them, side requests included."""
        return dict(self._spent)

    def _probed(self, incoming: Incoming, why: object) -> Wire:
        stamp = self._ids.stamp()
        if isinstance(why, NotHeard):
            return not_heard(protocol_for(incoming.path) or CHAT, why, stamp)
        return probe(incoming, self._models, stamp)

    def _beyond(self, heard: Heard) -> Answer:
        wire = beyond(PROTOCOLS[heard.protocol], len(self._script), self._ids.stamp())
        return Answer(wire, BEYOND, serves=False, tool_result=heard.last_result)

    def _side(self, incoming: Incoming, heard: Heard) -> Answer:
        protocol = PROTOCOLS[heard.protocol]
        turn = side_turn(heard, protocol.prompt(incoming.body))
        used = _usage(None, heard, turn.text, ())
        self._spend(heard, used)
        wire = self._press.wire(protocol, heard, replace(turn, usage=used))
        return Answer(wire, SIDE, None, 1, *used, serves=False, tool_result=heard.last_result)

    def _turn(self, letter: _Letter, routed: Routed) -> Answer:
        heard = letter.heard
        at, _ = routed.position or (0, 0)
        plate = letter.plate
        if plate is None or letter.step != at:
            turn = self._said(self._script[at], heard)
            plate = self._press.plate(letter.protocol, heard, turn)
            letter.step, letter.plate, letter.used = at, plate, turn.usage or (0, 0)
        used = letter.used
        self._spend(heard, used)
        return Answer(
            self._press.print(plate),
            TURN,
            at if self._scripted else None,
            routed.attempt,
            *used,
            detail=routed.ticket,
            tool_result=heard.last_result,
        )

    def _struck(self, letter: _Letter, routed: Routed, hits: Sequence[Hit]) -> Answer:
        heard, protocol, stamp = letter.heard, letter.protocol, self._ids.stamp()
        at, _ = routed.position or (0, 0)
        fresh = self._ids.fresh(self._said(self._script[at], heard))
        struck = strike(hits, fresh, lambda each: protocol.render(heard, each, stamp))
        if not struck.serves:
            self._state = release(self._state, routed.ticket, struck.whole)
        used = _counted(self._script[at], heard, struck)
        self._spend(heard, used)
        return Answer(
            struck.wire,
            TURN,
            at if self._scripted else None,
            routed.attempt,
            *used,
            serves=struck.serves,
            detail=routed.ticket,
            missed=struck.missed,
            tool_result=heard.last_result,
        )

    def _said(self, step: ScriptStep, heard: Heard) -> Turn:
        calls = []
        for at, call in enumerate(step.calls):
            made = resolve(call, heard, self._dialect, self._places)
            token = self._ids.token(PROTOCOLS[heard.protocol].call_prefix, at)
            calls.append(ToolCall(token, made.name, made.arguments, made.namespace, made.freeform))
        stop = step.stop or ("tools" if calls else "end")
        usage = _usage(step.usage, heard, step.raw or step.say, calls)
        return Turn(step.say, tuple(calls), stop, usage, step.raw)

    def _spend(self, heard: Heard, used: tuple[int, int]) -> None:
        before = self._spent.get(heard.model, (0, 0))
        self._spent[heard.model] = (before[0] + used[0], before[1] + used[1])

    def _note(self, heard: Heard) -> None:
        for each in heard.unknown:
            if each not in self._unknown and len(self._unknown) < _MOST_UNKNOWN:
                self._unknown.add(each)
                log.info("%s: unknown to us, accepted: %s", heard.protocol, each)


def _counted(step: ScriptStep, heard: Heard, struck: Struck) -> tuple[int, int]:
    """Tokens as the harness counts them: of what was said in the end, whatever it reports."""
    if struck.wire.status >= _ERRORS_FROM or not struck.wire.head:
        return (0, 0)
    said = struck.turn
    return _usage(step.usage, heard, said.raw or said.text, said.calls)


def _usage(
    given: Mapping[str, int] | None, heard: Heard, text: str | None, calls: Sequence[ToolCall]
) -> tuple[int, int]:
    """What the step says, else one token for every four bytes of body and reply."""
    given = given or {}
    said = _size(text or "") + sum(_size(call.arguments) for call in calls)
    return given.get("input", tokens(heard.size)), given.get("output", tokens(said))


def _size(text: str) -> int:
    """Bytes of a text; only short ones are remembered."""
    return _short(text) if len(text) <= _SHORT else len(text.encode("utf-8", "replace"))


@functools.lru_cache(maxsize=256)
def _short(text: str) -> int:
    return len(text.encode("utf-8", "replace"))
