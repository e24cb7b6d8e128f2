"""Anthropic Messages.

The official client ignores an event without an ``event:`` line and raises on ``error``. A
history may hold ``role: system`` messages and content types of betas yet to come.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from harness.services.model.heard import (
    Heard,
    Tool,
    ToolResult,
    body_object,
    objects,
    schema_of,
    text_of,
    word,
)
from harness.services.model.protocols.base import (
    EVENT,
    TERMINATOR,
    TOOL,
    Stamp,
    Trouble,
    dumps,
    encode,
    event,
    pieces,
    raw_reply,
    streamed,
    whole,
)
from harness.services.reply import Part, ToolCall, Turn, Wire

_STOPS = {"end": "end_turn", "tools": "tool_use", "length": "max_tokens"}
_ROLES = frozenset({"user", "assistant"})
_CONTENT = frozenset(
    {"text", "image", "document", "thinking", "redacted_thinking", "tool_use", "tool_result"}
)
_ERRORS = {
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    409: "conflict_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}


class Anthropic:
    """``POST /v1/messages``."""

    name = "anthropic"
    call_prefix = "toolu_"

    def hear(self, body: bytes) -> Heard:
        """Read a request."""
        asked = body_object(body)
        messages = list(objects(asked.get("messages")))
        results, unknown = _read(messages)
        return Heard(
            protocol=self.name,
            stream=asked.get("stream") is True,
            model=word(asked.get("model")) or None,
            tools=tuple(_tools(asked.get("tools"))),
            results=tuple(results),
            messages=len(messages),
            format=_format(asked),
            size=len(body),
            key=hash(body),
            unknown=tuple(sorted(unknown)),
        )

    def prompt(self, body: bytes) -> str:
        """The system's words and the user's last."""
        asked = body_object(body)
        users = [m for m in objects(asked.get("messages")) if m.get("role") == "user"]
        said = [text_of(message.get("content")) for message in users[-1:]]
        return "\n".join([text_of(asked.get("system")), *said])

    def render(self, heard: Heard, turn: Turn, stamp: Stamp) -> Wire:
        """A message, or the events that build one."""
        if turn.raw is not None:
            return raw_reply(self, heard, turn.raw, stamp)
        if heard.stream:
            return streamed(self, stamp, tuple(_events(heard, turn, stamp)))
        message = _message(heard, turn, stamp)
        message["content"] = _content(turn)
        message |= _stopped(turn)
        if turn.usage is not None:
            message["usage"] = _usage(*turn.usage)
        return whole(self, stamp, encode(dumps(message)))

    def headers(self, stamp: Stamp) -> dict[str, str]:
        """The request's id, under the name that the client looks for."""
        return {"request-id": f"req_{stamp.id}"}

    def error(self, trouble: Trouble, stamp: Stamp) -> bytes:
        """``{"type": "error", …}``."""
        body = {"type": "error", "error": _error(trouble), "request_id": f"req_{stamp.id}"}
        return encode(dumps(body))

    def stream_error(self, trouble: Trouble, sequence: int) -> Sequence[Part]:  # noqa: ARG002
        """``event: error``."""
        return (Part(event("error", {"type": "error", "error": _error(trouble)}), EVENT),)

    def overflow(self) -> Trouble:
        """By the words of its message: the type is that of any bad request."""
        return Trouble(400, "prompt is too long: 250000 tokens > 200000 maximum")

    def arguments_at(self, body: bytes) -> int | None:
        """After ``"input":`` of the first tool use."""
        block = body.find(b'{"type":"tool_use"')
        at = body.find(b'"input":', block) if block >= 0 else -1
        return at + len(b'"input":') if at >= 0 else None


def _read(messages: Sequence[dict[str, Any]]) -> tuple[list[ToolResult], set[str]]:
    results: list[ToolResult] = []
    unknown: set[str] = set()
    for message in messages:
        if message.get("role") not in _ROLES:
            unknown.add(f"role {message.get('role')!r}")
        for block in objects(message.get("content")):
            kind = block.get("type")
            if kind == "tool_result":
                text = text_of(block.get("content"))
                results.append(ToolResult(word(block.get("tool_use_id")), text))
            elif kind not in _CONTENT:
                unknown.add(f"content {kind!r}")
    return results, unknown


def _tools(value: object) -> Iterator[Tool]:
    for tool in objects(value):
        if name := word(tool.get("name")):
            yield Tool(name, schema_of(tool.get("input_schema")))


def _format(asked: dict[str, Any]) -> dict[str, Any] | None:
    config = asked.get("output_config")
    wanted = config.get("format") if isinstance(config, dict) else asked.get("output_format")
    if isinstance(wanted, dict) and wanted.get("type") == "json_schema":
        return dict(schema_of(wanted.get("schema")))
    return None


def _usage(tokens_in: int, tokens_out: int) -> dict[str, int]:
    return {
        "input_tokens": tokens_in,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": tokens_out,
    }


def _message(heard: Heard, turn: Turn, stamp: Stamp) -> dict[str, Any]:
    message: dict[str, Any] = {
        "id": f"msg_{stamp.id}",
        "type": "message",
        "role": "assistant",
        "model": heard.model or "shakeout",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
    }
    if turn.usage is not None:
        message["usage"] = _usage(turn.usage[0], 1)
    return message


def _stopped(turn: Turn) -> dict[str, Any]:
    stopped: dict[str, Any] = {"stop_reason": _STOPS.get(turn.stop, turn.stop)}
    stopped["stop_sequence"] = None
    if turn.stop == "refusal":
        details = {"type": "refusal", "category": None, "explanation": turn.text}
        stopped["stop_details"] = details
    return stopped


def _content(turn: Turn) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    if turn.text:
        blocks.append({"type": "text", "text": turn.text})
    blocks += [_tool_use(call, _parsed(call.arguments)) for call in turn.calls]
    return blocks


def _tool_use(call: ToolCall, arguments: object) -> dict[str, Any]:
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": arguments}


def _parsed(arguments: str) -> object:
    # Here arguments are a value, not text. Text that is no JSON is sent as the text it is:
    # the body stays a whole message, and the input is not the object it should be.
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments


def _events(heard: Heard, turn: Turn, stamp: Stamp) -> Iterator[Part]:
    def part(kind: str, name: str = EVENT, **data: Any) -> Part:
        return Part(event(kind, {"type": kind, **data}), name)

    yield part("message_start", message=_message(heard, turn, stamp))
    index = 0
    if turn.text:
        start: dict[str, Any] = {"type": "text", "text": ""}
        yield part("content_block_start", index=index, content_block=start)
        for piece in pieces(turn.text):
            delta = {"type": "text_delta", "text": piece}
            yield part("content_block_delta", index=index, delta=delta)
        yield part("content_block_stop", index=index)
        index += 1
    for call in turn.calls:
        yield part("content_block_start", index=index, content_block=_tool_use(call, {}))
        for piece in pieces(call.arguments):
            delta = {"type": "input_json_delta", "partial_json": piece}
            yield part("content_block_delta", TOOL, index=index, delta=delta)
        yield part("content_block_stop", index=index)
        index += 1
    end: dict[str, Any] = {"delta": _stopped(turn)}
    if turn.usage is not None:
        end["usage"] = {"output_tokens": turn.usage[1]}
    yield part("message_delta", TERMINATOR, **end)
    yield part("message_stop", TERMINATOR)


def _error(trouble: Trouble) -> dict[str, str]:
    fallback = "api_error" if trouble.status >= 500 else "invalid_request_error"
    kind = trouble.code or _ERRORS.get(trouble.status, fallback)
    return {"type": kind, "message": trouble.text}
