"""``telegram``: the Bot API of Telegram, with a person in the bot's one chat.

What she says reaches the subject by ``getUpdates``, also as a long poll: a message, or a
callback query where she presses a button of an inline keyboard. Requests come to
``/bot<TOKEN>/<METHOD>``; a method that is not there is answered as the real API does, 404.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from http import HTTPStatus
from typing import Any, Final

from harness.case.model import ServiceDecl
from harness.extension import Schema
from harness.services.base import HOST_NAMES, Incoming
from harness.services.chat.bot import Bot, Outcome, Refused
from harness.services.chat.forms import fields, nested, number_of
from harness.services.chat.human import Due, Rule, read_rules, rules_schema
from harness.services.chat.service import ChatService, Reply, Wait, defaults, said
from harness.services.reply import Wire
from sandboxes import clock

_PATH: Final = re.compile(r"(?:https?://[^/]*)?/bot([^/?]+)/(\w+)/?(?:\?.*)?", re.S)
_LONGEST: Final = 50
_MOST: Final = 100

SCHEMA: Final[Schema] = {
    "type": "object",
    "description": "bots by the host name of their API, each with the person it talks with; a "
    "client's base URL is http://NAME:8080/bot",
    "propertyNames": HOST_NAMES,
    "additionalProperties": {
        "type": "object",
        "description": "one bot, its chat, and the person there",
        "additionalProperties": False,
        "properties": {
            "token": {
                "type": "string",
                "description": "the bot's token, such as 110201543:AAHdqTcv; any other is "
                "answered 401. Without it every token is good",
                "pattern": "^[0-9]+:[A-Za-z0-9_-]+$",
                "examples": ["110201543:AAHdqTcv"],
            },
            "chat": {
                "type": "integer",
                "description": "id of the one chat that there is; a negative one is a group",
                "not": {"const": 0},
                "default": 4242,
            },
            "person": {
                "type": "string",
                "description": "her first name",
                "minLength": 1,
                "default": "Sam",
            },
            "bot": {
                "type": "string",
                "description": "the bot's user name",
                "pattern": "^[A-Za-z0-9_]{2,}bot$",
                "default": "shakeout_bot",
                "examples": ["shakeout_bot"],
            },
            "human": rules_schema(
                say={"type": "string", "description": "text that she sends", "minLength": 1},
                press={
                    "type": "string",
                    "description": "the button that she presses, by its callback data or its "
                    "text; the rule fits only messages that have it",
                    "minLength": 1,
                },
            ),
        },
    },
}


@dataclass(frozen=True, slots=True)
class Settings:
    """What a case says of a bot; ``token`` is ``None`` where every one is good."""

    chat: int
    person: str
    bot: str
    human: tuple[Rule, ...]
    token: str | None = None


def parse(name: str, written: Mapping[str, Any]) -> ServiceDecl:
    """A bot from what the case writes under its name, validated against :data:`SCHEMA`."""
    given = {**defaults(SCHEMA), **written}
    rules = read_rules(given["human"])
    return ServiceDecl("telegram", name, Settings(**{**given, "human": rules}))


class Telegram(ChatService):
    """One bot of one trial; see the module."""

    def __init__(self, decl: ServiceDecl) -> None:
        settings: Settings = decl.params
        super().__init__(decl.name, settings.human)
        self._token = settings.token
        self._bot = Bot(settings.bot, settings.chat, settings.person)
        self._updates: list[Mapping[str, Any]] = []
        self._next_update = 1
        self._polls = 0
        self._methods: Mapping[str, Callable[[Mapping[str, Any]], Outcome]] = {
            name.lower(): method for name, method in self._bot.methods().items()
        }

    def reply(self, incoming: Incoming, *, patient: bool) -> Reply | Wait:
        """What the API answers."""
        asked = _PATH.fullmatch(incoming.path)
        if asked is None or incoming.method not in {"GET", "POST"}:
            return Reply(_error(404, "Not Found"))
        token, name = asked[1], asked[2].lower()
        if self._token is not None and token != self._token:
            return Reply(_error(401, "Unauthorized"))
        self._bot.called(token)
        given = fields(incoming)
        if name == "getupdates":
            return self._get_updates(given, patient=patient)
        method = self._methods.get(name)
        if method is None:
            return Reply(_error(404, "Not Found"))
        try:
            return self._taken(method(given))
        except Refused as why:
            return Reply(_error(400, f"Bad Request: {why}"))

    def happens(self, due: Due) -> None:
        """She says something, or presses a button."""
        if (update := self._bot.acted(due)) is not None:
            self._updates.append({"update_id": self._next_update, **update})
            self._next_update += 1

    def refusal(self, wire: Wire) -> Wire:
        """The error as the API words it; with ``Retry-After`` it says that once more in its body."""
        retry = next((v for k, v in wire.headers.items() if k.lower() == "retry-after"), None)
        phrase = HTTPStatus(wire.status).phrase if wire.status in set(HTTPStatus) else "Error"
        if retry is None or not retry.isdigit():
            return _bodied(wire, _error(wire.status, phrase))
        worded = _error(wire.status, f"{phrase}: retry after {retry}", {"retry_after": int(retry)})
        return _bodied(wire, worded)

    def _taken(self, outcome: Outcome) -> Reply:
        def follows() -> None:
            outcome.follows()
            if outcome.message is not None and outcome.text is not None:
                self.human.reads(
                    outcome.text, outcome.message, partial(self._bot.allows, outcome.message)
                )

        return Reply(said({"ok": True, "result": outcome.result}), outcome.text, follows)

    # -- updates

    def _get_updates(self, given: Mapping[str, Any], *, patient: bool) -> Reply | Wait:
        """A poll; a later one ends it, as the real API allows one at a time."""
        timeout = number_of(given.get("timeout"), 0) if patient else 0
        self._polls += 1
        end = clock.monotonic() + min(max(timeout, 0), _LONGEST)
        return self._poll(self._polls, end, given)

    def _poll(self, number: int, end: float, given: Mapping[str, Any]) -> Reply | Wait:
        self.human.looked_for()
        if number != self._polls:
            what = "Conflict: terminated by other getUpdates request; make sure that only one bot "
            return Reply(_error(409, f"{what}instance is running"))
        offset = number_of(given.get("offset"), 0)
        updates = self._updates_from(offset, given)
        rest = end - clock.monotonic()
        if updates or rest <= 0:
            wire = said({"ok": True, "result": updates})
            return Reply(wire, follows=partial(self._confirm, offset))
        again = partial(self._poll, number, end, given)
        return Wait(min(rest, self.human.patience()), again)

    def _updates_from(self, offset: int, given: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        limit = min(max(number_of(given.get("limit"), _MOST), 1), _MOST)
        kinds = nested(given.get("allowed_updates"))
        shown = [
            update
            for update in self._left_from(offset)
            if not isinstance(kinds, list) or not kinds or any(kind in update for kind in kinds)
        ]
        return shown[:limit]

    def _left_from(self, offset: int) -> list[Mapping[str, Any]]:
        if offset < 0:
            return self._updates[offset:]
        return [update for update in self._updates if update["update_id"] >= offset]

    def _confirm(self, offset: int) -> None:
        """Updates before the offset are not given again."""
        self._updates = self._left_from(offset)


def _error(status: int, description: str, parameters: Mapping[str, Any] | None = None) -> Wire:
    more = {"parameters": parameters} if parameters else {}
    return said({"ok": False, "error_code": status, "description": description, **more}, status)


def _bodied(wire: Wire, worded: Wire) -> Wire:
    """The wire with the other's body."""
    return replace(wire, headers={**worded.headers, **wire.headers}, parts=worded.parts)
