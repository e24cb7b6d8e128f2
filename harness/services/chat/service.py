"""A service with a person behind it: one request, one reply, and what follows from it.

A request that a fault answers with another status never reached the service: its message was
not taken, and nobody read it. One whose reply a fault spoils or cuts did.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from harness.extension import Schema
from harness.services.base import Answer, Asked, Hit, Incoming, Later
from harness.services.chat.human import Due, Human, Rule
from harness.services.hits import rewritten
from harness.services.reply import Part, Wire

_ERRORS_FROM: Final = 400


class Reply(NamedTuple):
    """What is answered, what was said to the person, and what is to be done once it holds."""

    wire: Wire
    message: str | None = None
    follows: Callable[[], None] | None = None


class Wait(NamedTuple):
    """There is nothing to answer yet; ``look`` again in so many seconds, or when asked to."""

    seconds: float
    look: Callable[[], Reply | Wait]


class ChatService:
    """What chat services share; each says how it replies, and what her acts come to."""

    def __init__(self, name: str, rules: Sequence[Rule]) -> None:
        self._name = name
        self.human = Human(rules)

    @property
    def name(self) -> str:
        """Its host name inside."""
        return self._name

    def classify(self, incoming: Incoming) -> Asked:  # noqa: ARG002 - the contract's
        """All that is asked of it counts."""
        return Asked(kind="turn", counts=True)

    def answer(self, incoming: Incoming, asked: Asked, hits: Sequence[Hit]) -> Answer | Later:
        """Decide the reply; one that a fault hits waits for nothing else."""
        self.human.wakes()
        self.catch_up()
        return self._answered(self.reply(incoming, patient=not hits), asked, hits)

    def ended(self, answer: Answer, how: str) -> None:
        """Nothing depends on it: what was said was said when the reply was decided."""

    def catch_up(self) -> None:
        """Let what she has done by now come to pass."""
        for due in self.human.acts():
            self.happens(due)

    def _answered(self, reply: Reply | Wait, asked: Asked, hits: Sequence[Hit]) -> Answer | Later:
        if isinstance(reply, Wait):
            return Later(reply.seconds, partial(self._looked, reply, asked, hits))
        wire, serves, missed, done = rewritten(reply.wire, hits)
        if wire is not reply.wire and wire.status >= _ERRORS_FROM and _is_empty(wire):
            wire = self.refusal(wire)
        if done and reply.follows is not None:
            reply.follows()
        said = reply.message if done else None
        return Answer(wire, asked.kind, serves=serves, missed=missed, message=said)

    def _looked(self, wait: Wait, asked: Asked, hits: Sequence[Hit]) -> Answer | Later:
        self.catch_up()
        return self._answered(wait.look(), asked, hits)

    # -- what each says for itself

    def reply(self, incoming: Incoming, *, patient: bool) -> Reply | Wait:
        """What it answers; not later, unless ``patient``. It changes nothing that matters."""
        raise NotImplementedError

    def happens(self, due: Due) -> None:
        """She does something."""
        raise NotImplementedError

    def refusal(self, wire: Wire) -> Wire:
        """A fault answers with a bare error: the same with the body that the service gives."""
        raise NotImplementedError


def said(value: Any, status: int = 200) -> Wire:
    """A reply in JSON."""
    body = json.dumps(value).encode()
    return Wire(status, {"content-type": "application/json; charset=utf-8"}, (Part(body),))


def defaults(schema: Schema) -> dict[str, Any]:
    """What stands for all that a case may leave out under a host name of such a service."""
    fields = schema["additionalProperties"]["properties"].items()
    return {name: field["default"] for name, field in fields if "default" in field}


def _is_empty(wire: Wire) -> bool:
    return not any(part.data for part in wire.parts)
