"""``slack``: the Web API and the incoming webhooks of Slack, with a person in its channels.

What she says reaches the subject by ``conversations.replies`` and ``conversations.history``,
what she thinks of a message by its reactions. Methods are asked for at ``/api/METHOD``, webhooks
at ``/services/…``. A method that is not there is answered as the real API does,
``unknown_method``. There is no Socket Mode, so she presses no buttons.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from harness.case.model import ServiceDecl
from harness.extension import Schema
from harness.services.base import HOST_NAMES, Incoming
from harness.services.chat.forms import fields, nested
from harness.services.chat.human import Due, Rule, read_rules, rules_schema
from harness.services.chat.posts import Refused
from harness.services.chat.service import ChatService, Reply, defaults, said
from harness.services.chat.uploads import PLACE
from harness.services.chat.workspace import METHODS, Outcome, Workspace
from harness.services.reply import Part, Wire

_METHOD: Final = re.compile(r"(?:https?://[^/]*)?/(?:api/)?([A-Za-z]+(?:\.[A-Za-z]+)+)/?(?:\?.*)?")
_HOOK: Final = re.compile(r"(?:https?://[^/]*)?(/services/[^?]+)(?:\?.*)?")
_UPLOAD: Final = re.compile(rf"(?:https?://[^/]*)?{PLACE}([A-Z0-9]+)(?:\?.*)?")
_TOO_MANY: Final = 429

SCHEMA: Final[Schema] = {
    "type": "object",
    "description": "workspaces by the host name of their API, each with the person in it; a "
    "client's base URL is http://NAME:8080/api/",
    "propertyNames": HOST_NAMES,
    "additionalProperties": {
        "type": "object",
        "description": "one workspace, its channels, and the person there",
        "additionalProperties": False,
        "properties": {
            "token": {
                "type": "string",
                "description": "the app's token; any other is answered invalid_auth. Without it "
                "every token is good",
                "pattern": "^xox[a-z]-[A-Za-z0-9-]+$",
                "examples": ["xoxb-17653672481-19874698323"],
            },
            "channels": {
                "type": "array",
                "description": "names of the channels; the first one's id is C0000000001, and so "
                "on. Webhooks post to the first",
                "items": {
                    "type": "string",
                    "description": "name of a channel",
                    "pattern": "^[a-z0-9_-]{1,80}$",
                },
                "minItems": 1,
                "uniqueItems": True,
                "default": ["general"],
            },
            "webhook": {
                "type": "string",
                "description": "path of the one incoming webhook; without it every path beneath "
                "/services/ is one",
                "pattern": "^/services/[A-Za-z0-9/_-]+$",
                "examples": ["/services/T1/B1/x7"],
            },
            "person": {
                "type": "string",
                "description": "her name",
                "minLength": 1,
                "default": "sam",
            },
            "human": rules_schema(
                say={"type": "string", "description": "text that she sends", "minLength": 1},
                react={
                    "type": "string",
                    "description": "name of the reaction that she adds to the message",
                    "pattern": "^[a-z0-9_+'-]+(::[a-z0-9-]+)?$",
                    "examples": ["white_check_mark"],
                },
                thread={
                    "type": "boolean",
                    "description": "whether she says it in the thread of the message, and not in "
                    "the channel",
                    "default": True,
                },
            ),
        },
    },
}


@dataclass(frozen=True, slots=True)
class Settings:
    """What a case says of a workspace; a ``token`` or ``webhook`` of ``None``: all are good."""

    channels: tuple[str, ...]
    person: str
    human: tuple[Rule, ...]
    token: str | None = None
    webhook: str | None = None


def parse(name: str, written: Mapping[str, Any]) -> ServiceDecl:
    """A workspace from what the case writes under its name, validated against :data:`SCHEMA`."""
    given = {**defaults(SCHEMA), **written}
    ready = {"human": read_rules(given["human"]), "channels": tuple(given["channels"])}
    return ServiceDecl("slack", name, Settings(**{**given, **ready}))


class Slack(ChatService):
    """One workspace of one trial; see the module."""

    def __init__(self, decl: ServiceDecl) -> None:
        settings: Settings = decl.params
        super().__init__(decl.name, settings.human)
        self._token = settings.token
        self._webhook = settings.webhook
        self._workspace = Workspace(decl.name, settings.channels, settings.person)

    def reply(self, incoming: Incoming, *, patient: bool) -> Reply:  # noqa: ARG002 - the contract's
        """What the API, or a webhook, answers."""
        posted = incoming.method == "POST"
        if posted and (hook := _HOOK.fullmatch(incoming.path)):
            return self._hooked(hook[1], incoming)
        if posted and (upload := _UPLOAD.fullmatch(incoming.path)):
            return self._uploaded(upload[1], len(incoming.body))
        asked = _METHOD.fullmatch(incoming.path)
        if asked is None or incoming.method not in {"GET", "POST"}:
            return Reply(_plain(404, "Not Found"))
        given = fields(incoming)
        self._workspace.called(incoming.headers.get("host", ""))
        try:
            if asked[1] != "api.test":
                self._admit(incoming, given)
            method = METHODS.get(asked[1])
            if method is None:
                return Reply(_error("unknown_method", req_method=asked[1]))
            if asked[1] in _LOOKS:
                self.human.looked_for()
            return self._taken(method(self._workspace, given), said)
        except Refused as why:
            return Reply(_error(str(why)))

    def happens(self, due: Due) -> None:
        """She says something, or adds a reaction."""
        self._workspace.acted(due)

    def refusal(self, wire: Wire) -> Wire:
        """The error as the API words it."""
        name = "ratelimited" if wire.status == _TOO_MANY else "internal_error"
        worded = _error(name)
        return replace(wire, headers={**worded.headers, **wire.headers}, parts=worded.parts)

    def _admit(self, incoming: Incoming, given: Mapping[str, Any]) -> None:
        word, _, token = incoming.headers.get("authorization", "").partition(" ")
        token = token.strip() if word.lower() == "bearer" else str(given.get("token") or "")
        if not token:
            raise Refused("not_authed")
        if self._token is not None and token != self._token:
            raise Refused("invalid_auth")

    def _hooked(self, path: str, incoming: Incoming) -> Reply:
        if self._webhook is not None and path != self._webhook:
            return Reply(_plain(404, "no_service"))
        given = fields(incoming)
        payload = nested(given["payload"]) if "payload" in given else given
        if not isinstance(payload, Mapping) or not payload:
            return Reply(_plain(400, "invalid_payload"))
        try:
            outcome = self._workspace.hooked(payload)
        except Refused as why:
            return Reply(_plain(400, str(why)))
        return self._taken(outcome, lambda _: _plain(200, "ok"))

    def _uploaded(self, key: str, size: int) -> Reply:
        uploads = self._workspace.uploads
        if not uploads.expects(key):
            return Reply(_plain(404, "Not Found"))
        return Reply(_plain(200, f"OK - {size}"), follows=partial(uploads.take, key))

    def _taken(self, outcome: Outcome, worded: Any) -> Reply:
        def follows() -> None:
            outcome.follows()
            if outcome.message is not None and outcome.text is not None:
                allows = partial(self._workspace.allows, outcome.message)
                self.human.reads(outcome.text, outcome.message, allows)

        return Reply(worded({"ok": True, **outcome.result}), outcome.text, follows)


_LOOKS: Final = frozenset({"conversations.history", "conversations.replies", "reactions.get"})


def _error(name: str, **more: str) -> Wire:
    return said({"ok": False, "error": name, **more})


def _plain(status: int, text: str) -> Wire:
    return Wire(status, {"content-type": "text/html"}, (Part(text.encode()),))
