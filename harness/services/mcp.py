"""``mcp``: an MCP server over streamable HTTP, whose tools answer what a case says.

It speaks the versions of the protocol that begin with ``initialize``, 2024-11-05 to 2025-11-25,
answers in JSON, and in an event stream where it has to say that its tools have changed. It runs
nothing, and believes nothing: descriptions and schemas go out as the case has them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from harness.case.model import ServiceDecl
from harness.case.pieces import either, listing, record, table, text, whole
from harness.extension import Schema
from harness.services.base import HOST_NAMES, Answer, Asked, Hit, Incoming
from harness.services.bounds import read_json
from harness.services.hits import rewritten
from harness.services.reply import Part, Wire

VERSIONS: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")

_PARSE, _INVALID, _NO_METHOD, _NO_PARAMS = -32700, -32600, -32601, -32602
_EMPTY: Final[Mapping[str, Any]] = {
    "resources/list": {"resources": []},
    "resources/templates/list": {"resourceTemplates": []},
    "prompts/list": {"prompts": []},
    "logging/setLevel": {},
    "ping": {},
}

_ONE_REPLY: Final[Schema] = either(
    "what a call gives",
    text("a text", title="text"),
    record(
        "a result that is marked as an error",
        {"error": text("what a result with isError says")},
        ("error",),
    ),
    record(
        "no result, but an error of the protocol",
        {"fails": text("what a JSON-RPC error says"), "code": whole("its number", default=-32603)},
        ("fails",),
    ),
)
_TOOLS: Final[Schema] = listing(
    "tools, in the order in which they are listed; two of one name are listed twice, and the "
    "first one answers",
    record(
        "a tool",
        {
            "name": text("its name", minLength=1),
            "description": text("what the model is told of it, as it is", default=""),
            "schema": {
                "type": "object",
                "description": "JSON Schema of its arguments, as it is; anything by default",
            },
            "reply": either(
                "what its calls give; of a list, one after the other, and then the last",
                _ONE_REPLY,
                listing("replies in order", _ONE_REPLY, minItems=1),
                default="",
            ),
        },
        ("name",),
    ),
)

SCHEMA: Final[Schema] = table(
    "MCP servers by host name; the address is http://NAME/mcp",
    record(
        "an MCP server",
        {
            "tools": _TOOLS,
            "changes": listing(
                "other tools instead, which the client is told of with the reply",
                record(
                    "a change",
                    {"after_calls": whole("once so many calls were answered", minimum=1),
                     "tools": _TOOLS},
                    ("after_calls", "tools"),
                ),
                default=[],
            ),
            "instructions": text("what it says of itself at the start", default=""),
            "token": text("bearer token that every request must carry", minLength=1),
        },
        ("tools",),
    ),
    propertyNames=HOST_NAMES,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as declared; ``replies`` holds what its calls give, in order."""

    name: str
    shown: Mapping[str, Any]
    replies: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class McpDecl:
    """A server as declared; ``changes`` by the number of calls after which they come."""

    tools: Sequence[Tool]
    changes: Mapping[int, Sequence[Tool]]
    instructions: str = ""
    token: str | None = None


def parse(name: str, written: Mapping[str, Any]) -> ServiceDecl:
    """A server from what the case writes under its name, validated against :data:`SCHEMA`."""
    changes = {item["after_calls"]: _tools(item["tools"]) for item in written.get("changes", ())}
    told = written.get("instructions", "")
    return ServiceDecl(
        "mcp", name, McpDecl(_tools(written["tools"]), changes, told, written.get("token"))
    )


def _tools(written: Sequence[Mapping[str, Any]]) -> tuple[Tool, ...]:
    return tuple(_tool(item) for item in written)


def _tool(item: Mapping[str, Any]) -> Tool:
    shown = {
        "name": item["name"],
        "description": item.get("description", ""),
        "inputSchema": item.get("schema", {"type": "object"}),
    }
    replies = item.get("reply", "")
    replies = replies if isinstance(replies, list) else [replies]
    return Tool(item["name"], shown, tuple(map(_reply, replies)))


def _reply(written: Any) -> Mapping[str, Any]:
    """What a call gives: ``result`` or ``error`` of the protocol."""
    if isinstance(written, Mapping) and "fails" in written:
        return {"error": {"code": written.get("code", -32603), "message": written["fails"]}}
    is_error = isinstance(written, Mapping)
    said = written["error"] if is_error else written
    return {"result": {"content": [{"type": "text", "text": said}], "isError": is_error}}


class Wrong(Exception):
    """A message that is answered with an error of the protocol."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.error = {"code": code, "message": message}


@dataclass(slots=True)
class _State:
    """What calls have changed: how many there were, which, and of each tool how many."""

    sessions: int = 0
    calls: list[Mapping[str, Any]] = field(default_factory=list)
    used: dict[str, int] = field(default_factory=dict)

    def copy(self) -> _State:
        return _State(self.sessions, list(self.calls), dict(self.used))


class McpServer:
    """A scripted MCP server; see the module."""

    def __init__(self, decl: ServiceDecl) -> None:
        self._name = decl.name
        self._decl: McpDecl = decl.params
        self._state = _State()

    @property
    def name(self) -> str:
        return self._name

    def kept(self) -> Mapping[str, Any]:
        """Every call, and how many sessions there were."""
        return {"sessions": self._state.sessions, "calls": list(self._state.calls)}

    def classify(self, incoming: Incoming) -> Asked:  # noqa: ARG002 - the contract's
        return Asked(kind="turn", counts=True)

    def answer(self, incoming: Incoming, asked: Asked, hits: Sequence[Hit]) -> Answer:
        before = self._state.copy() if hits else self._state
        made = rewritten(self._wire(incoming), hits)
        if not made.done:
            self._state = before
        return Answer(made.wire, asked.kind, serves=made.serves, missed=made.missed)

    def ended(self, answer: Answer, how: str) -> None:
        """Nothing depends on it: a call is made when it is answered."""

    # -- the transport

    def _wire(self, incoming: Incoming) -> Wire:
        token = self._decl.token
        if token is not None and incoming.headers.get("authorization") != f"Bearer {token}":
            return _refusal(401, "a token is needed", {"www-authenticate": "Bearer"})
        if incoming.path.partition("?")[0] not in {"/mcp", "/mcp/", "/"}:
            return _refusal(404, "the address is /mcp")
        if incoming.method == "DELETE":
            return Wire(200, {})
        if incoming.method != "POST":
            return _refusal(405, "send a message by POST", {"allow": "POST, DELETE"})
        return self._heard(incoming)

    def _heard(self, incoming: Incoming) -> Wire:
        try:
            message = read_json(incoming.body)
        except (ValueError, RecursionError):
            return _json(400, _error(None, Wrong(_PARSE, "Parse error")))
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            return _json(400, _error(None, Wrong(_INVALID, "Invalid Request")))
        if "id" not in message or "method" not in message:
            return Wire(202, {})
        return self._reply(message, incoming.headers.get("accept", ""))

    def _reply(self, message: Mapping[str, Any], accept: str) -> Wire:
        count = len(self._state.calls)
        headers: dict[str, str] = {}
        try:
            reply: Mapping[str, Any] = {
                "jsonrpc": "2.0",
                "id": message["id"],
                **self._done(message),
            }
        except Wrong as wrong:
            reply = _error(message["id"], wrong)
        if message["method"] == "initialize" and "result" in reply:
            headers["mcp-session-id"] = f"{self._name}-{self._state.sessions}"
        changed = len(self._state.calls) > count and len(self._state.calls) in self._decl.changes
        if changed and "text/event-stream" in accept:
            news = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
            return _stream([news, reply])
        return _json(200, reply, headers)

    # -- the protocol

    def _done(self, message: Mapping[str, Any]) -> Mapping[str, Any]:
        method, params = message["method"], message.get("params") or {}
        if not isinstance(params, dict) or not isinstance(method, str):
            raise Wrong(_NO_PARAMS, "Invalid params")
        if method in _EMPTY:
            return {"result": _EMPTY[method]}
        match method:
            case "initialize":
                self._state.sessions += 1
                return {"result": self._introduction(params.get("protocolVersion"))}
            case "tools/list":
                return {"result": {"tools": [tool.shown for tool in self._tools()]}}
            case "tools/call":
                return self._call(params)
            case _:
                raise Wrong(_NO_METHOD, f"Method not found: {method}")

    def _introduction(self, version: Any) -> Mapping[str, Any]:
        told: dict[str, Any] = {
            "protocolVersion": version if version in VERSIONS else VERSIONS[-1],
            "capabilities": {
                "tools": {"listChanged": True},
                "prompts": {},
                "resources": {},
                "logging": {},
            },
            "serverInfo": {"name": self._name, "version": "1.0.0"},
        }
        if self._decl.instructions:
            told["instructions"] = self._decl.instructions
        return told

    def _tools(self) -> Sequence[Tool]:
        """What there is by now."""
        due = [count for count in self._decl.changes if count <= len(self._state.calls)]
        return self._decl.changes[max(due)] if due else self._decl.tools

    def _call(self, params: Mapping[str, Any]) -> Mapping[str, Any]:
        name = params.get("name")
        tool = next((tool for tool in self._tools() if tool.name == name), None)
        if tool is None:
            raise Wrong(_NO_PARAMS, f"Unknown tool: {name}")
        used = self._state.used.get(tool.name, 0)
        self._state.used[tool.name] = used + 1
        reply = tool.replies[min(used, len(tool.replies) - 1)]
        arguments = json.dumps(params.get("arguments", {}), ensure_ascii=False)
        wrong = "error" in reply or reply["result"]["isError"]
        self._state.calls.append({"tool": name, "arguments": arguments, "error": wrong})
        return reply


def _error(number: Any, wrong: Wrong) -> Mapping[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "error": wrong.error}


def _json(status: int, value: Any, headers: Mapping[str, str] | None = None) -> Wire:
    body = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
    return Wire(status, {"content-type": "application/json", **(headers or {})}, (Part(body),))


def _refusal(status: int, why: str, headers: Mapping[str, str] | None = None) -> Wire:
    return _json(status, {"error": why}, headers)


def _stream(messages: Sequence[Mapping[str, Any]]) -> Wire:
    parts = [
        Part(f"event: message\ndata: {json.dumps(message)}\n\n".encode(), "event")
        for message in messages
    ]
    headers = {"content-type": "text/event-stream", "cache-control": "no-cache"}
    return Wire(200, headers, tuple(parts), chunked=True)
