"""``http``: a scripted HTTP upstream, named by the case, answering by its rules.

The first rule that matches method and path (the query is ignored) and has ``times`` left
answers; else the request gets a 404, on record like any other. A fault that replaces or cuts
the reply leaves its rule unused, so that a retry gets what the first try should have got.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from harness.case.model import HttpRule, ServiceDecl
from harness.extension import Schema
from harness.services.base import HOST_NAMES, Answer, Asked, Hit, Incoming
from harness.services.hits import rewritten
from harness.services.reply import Part, Wire
from harness.target import path_of

_METHODS: Final = "GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS"
_HEADER_VALUE: Final = {"type": ["string", "integer", "number"], "pattern": "^[^\\r\\n]*$"}

SCHEMA: Final[Schema] = {
    "type": "object",
    "description": "HTTP services by host name, each with its rules",
    "propertyNames": HOST_NAMES,
    "additionalProperties": {
        "type": "array",
        "description": "the first one that matches and has `times` left answers; else it is a 404",
        "items": {
            "type": "object",
            "required": ["on", "reply"],
            "additionalProperties": False,
            "properties": {
                "on": {
                    "type": "string",
                    "description": "method and path; a query is ignored",
                    "pattern": f"^({_METHODS}) /[^\\s?#]*$",
                    "examples": ["GET /report"],
                },
                "reply": {
                    "type": "object",
                    "description": "what it answers",
                    "additionalProperties": False,
                    "properties": {
                        "status": {
                            "type": "integer",
                            "description": "status of the reply",
                            "minimum": 200,
                            "maximum": 599,
                            "default": 200,
                        },
                        "headers": {
                            "type": "object",
                            "description": "headers, sent as they are",
                            "propertyNames": {"pattern": "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$"},
                            "additionalProperties": _HEADER_VALUE,
                            "default": {},
                        },
                        "body": {"type": "string", "description": "the body, as text"},
                        "json": {"description": "the body, as a value that is sent as JSON"},
                        "base64": {
                            "type": "string",
                            "description": "the body, as bytes in base64",
                            "contentEncoding": "base64",
                            "pattern": "^([A-Za-z0-9+/]{4})*"
                            "([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$",
                        },
                    },
                    "dependentSchemas": {
                        "body": {
                            "not": {"anyOf": [{"required": ["json"]}, {"required": ["base64"]}]}
                        },
                        "json": {"not": {"required": ["base64"]}},
                    },
                },
                "times": {
                    "description": "how many requests it answers",
                    "oneOf": [{"type": "integer", "minimum": 1}, {"const": "always"}],
                    "default": "always",
                },
            },
        },
    },
}


def parse(name: str, rules: Sequence[Mapping[str, Any]]) -> ServiceDecl:
    """A service from what the case writes under its name, validated against :data:`SCHEMA`."""
    return ServiceDecl("http", name, tuple(_rule(rule) for rule in rules))


def _rule(rule: Mapping[str, Any]) -> HttpRule:
    method, path = rule["on"].split(" ", 1)
    reply = rule["reply"]
    kind, body = _body(reply)
    headers = {name: str(value) for name, value in reply.get("headers", {}).items()}
    if kind and not any(name.lower() == "content-type" for name in headers):
        headers["content-type"] = kind
    times = rule.get("times", "always")
    return HttpRule(
        method, path, reply.get("status", 200), headers, body, None if times == "always" else times
    )


def _body(reply: Mapping[str, Any]) -> tuple[str, bytes]:
    if "json" in reply:
        return "application/json", json.dumps(reply["json"]).encode()
    if "base64" in reply:
        return "application/octet-stream", base64.b64decode(reply["base64"])
    if "body" in reply:
        return "text/plain; charset=utf-8", reply["body"].encode()
    return "", b""


class HttpUpstream:
    """A scripted upstream; see the module."""

    def __init__(self, decl: ServiceDecl) -> None:
        self._name = decl.name
        self._rules: tuple[HttpRule, ...] = tuple(decl.params)
        self._used = [0] * len(self._rules)

    @property
    def name(self) -> str:
        return self._name

    def classify(self, incoming: Incoming) -> Asked:  # noqa: ARG002 - the contract's
        return Asked(kind="turn", counts=True)

    def answer(self, incoming: Incoming, asked: Asked, hits: Sequence[Hit]) -> Answer:
        place = self._match(incoming.method, path_of(incoming.path))
        wire = self._no_rule(incoming) if place is None else _wire(self._rules[place])
        wire, serves, missed, _ = rewritten(wire, hits)
        if place is not None and serves:
            self._used[place] += 1
        return Answer(wire, asked.kind, serves=serves, missed=missed)

    def ended(self, answer: Answer, how: str) -> None:
        """Nothing depends on it: a rule is used by being answered."""

    def _match(self, method: str, path: str) -> int | None:
        for place, rule in enumerate(self._rules):
            left = rule.times is None or self._used[place] < rule.times
            if left and rule.method == method and rule.path == path:
                return place
        return None

    def _no_rule(self, incoming: Incoming) -> Wire:
        said = f"no rule of {self._name} answers {incoming.method} {path_of(incoming.path)}"
        body = json.dumps({"error": said}).encode()
        return Wire(404, {"content-type": "application/json"}, (Part(body),))


def _wire(rule: HttpRule) -> Wire:
    return Wire(rule.status, rule.headers, (Part(rule.body),) if rule.body else ())
