"""OpenAI Chat Completions.

Events have no ``event:`` line; ``[DONE]`` ends them. With ``stream_options.include_usage``
every chunk has ``usage: null``, and one without choices brings the numbers.
"""

from __future__ import annotations

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
    pieces,
    raw_reply,
    streamed,
    whole,
)
from harness.services.model.protocols.openai import OpenAI, error_object
from harness.services.reply import Part, ToolCall, Turn, Wire

_STOPS = {"end": "stop", "tools": "tool_calls", "length": "length", "refusal": "stop"}
_ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})
_RESULTS = frozenset({"tool", "function"})


class Chat(OpenAI):
    """``POST /v1/chat/completions``."""

    name = "chat"

    def hear(self, body: bytes) -> Heard:
        """Read a request."""
        asked = body_object(body)
        messages = list(objects(asked.get("messages")))
        options = schema_of(asked.get("stream_options"))
        return Heard(
            protocol=self.name,
            stream=asked.get("stream") is True,
            model=word(asked.get("model")) or None,
            tools=tuple(_tools(asked)),
            results=tuple(_results(messages)),
            messages=len(messages),
            format=_format(asked.get("response_format")),
            wants_usage=options.get("include_usage") is True,
            size=len(body),
            key=hash(body),
            unknown=tuple(_unknown(messages)),
        )

    def prompt(self, body: bytes) -> str:
        """The system's words and the user's last."""
        messages = list(objects(body_object(body).get("messages")))
        system = [m for m in messages if m.get("role") in ("system", "developer")]
        users = [m for m in messages if m.get("role") == "user"]
        return "\n".join(text_of(m.get("content")) for m in system + users[-1:])

    def render(self, heard: Heard, turn: Turn, stamp: Stamp) -> Wire:
        """A completion, or its chunks."""
        if turn.raw is not None:
            return raw_reply(self, heard, turn.raw, stamp)
        if heard.stream:
            return streamed(self, stamp, tuple(_chunks(heard, turn, stamp)))
        choice = {
            "index": 0,
            "message": _message(turn),
            "logprobs": None,
            "finish_reason": _STOPS.get(turn.stop, turn.stop),
        }
        completion = _envelope(heard, stamp, "chat.completion") | {"choices": [choice]}
        if turn.usage is not None:
            completion["usage"] = _usage(*turn.usage)
        return whole(self, stamp, encode(dumps(completion)))

    def stream_error(self, trouble: Trouble, sequence: int) -> Sequence[Part]:  # noqa: ARG002
        """An event whose data has an ``error``."""
        return (_part({"error": error_object(trouble)}),)

    def overflow(self) -> Trouble:
        """By its code."""
        message = (
            "This model's maximum context length is 128000 tokens. However, your messages "
            "resulted in 250000 tokens. Please reduce the length of the messages."
        )
        return Trouble(400, message, "context_length_exceeded", "messages")

    def arguments_at(self, body: bytes) -> int | None:
        """Inside the text of ``"arguments"`` of the first tool call."""
        calls = body.find(b'"tool_calls":[')
        at = body.find(b'"arguments":"', calls) if calls >= 0 else -1
        return at + len(b'"arguments":"') if at >= 0 else None


def _tools(asked: dict[str, Any]) -> Iterator[Tool]:
    for tool in objects(asked.get("tools")):
        freeform = tool.get("type") == "custom"
        described = tool.get("custom" if freeform else "function", tool)
        if isinstance(described, dict) and (name := word(described.get("name"))):
            yield Tool(name, schema_of(described.get("parameters")), freeform=freeform)
    for described in objects(asked.get("functions")):
        if name := word(described.get("name")):
            yield Tool(name, schema_of(described.get("parameters")))


def _results(messages: Sequence[dict[str, Any]]) -> Iterator[ToolResult]:
    for message in messages:
        if message.get("role") in _RESULTS:
            call_id = word(message.get("tool_call_id")) or word(message.get("name"))
            yield ToolResult(call_id, text_of(message.get("content")))


def _unknown(messages: Sequence[dict[str, Any]]) -> list[str]:
    roles = {str(message.get("role")) for message in messages}
    return sorted(f"role {role!r}" for role in roles - _ROLES)


def _format(value: object) -> dict[str, Any] | None:
    if not isinstance(value, dict) or value.get("type") not in ("json_schema", "json_object"):
        return None
    return dict(schema_of(schema_of(value.get("json_schema")).get("schema")))


def _usage(tokens_in: int, tokens_out: int) -> dict[str, Any]:
    return {
        "prompt_tokens": tokens_in,
        "completion_tokens": tokens_out,
        "total_tokens": tokens_in + tokens_out,
        "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": 0,
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    }


def _envelope(heard: Heard, stamp: Stamp, kind: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{stamp.id}",
        "object": kind,
        "created": stamp.created,
        "model": heard.model or "shakeout",
        "service_tier": "default",
        "system_fingerprint": "fp_shakeout",
    }


def _message(turn: Turn) -> dict[str, Any]:
    refused = turn.stop == "refusal"
    message: dict[str, Any] = {
        "role": "assistant",
        "content": None if refused else turn.text,
        "refusal": turn.text if refused else None,
        "annotations": [],
    }
    if turn.calls:
        message["tool_calls"] = [_tool_call(call, _payload(call)) for call in turn.calls]
    return message


def _payload(call: ToolCall) -> dict[str, str]:
    key = "input" if call.freeform else "arguments"
    return {"name": call.name, key: call.arguments}


def _tool_call(call: ToolCall, payload: dict[str, str]) -> dict[str, Any]:
    kind = "custom" if call.freeform else "function"
    return {"id": call.id, "type": kind, kind: payload}


def _part(data: dict[str, Any], name: str = EVENT) -> Part:
    return Part(encode(f"data: {dumps(data)}\n\n"), name)


def _chunks(heard: Heard, turn: Turn, stamp: Stamp) -> Iterator[Part]:
    envelope = _envelope(heard, stamp, "chat.completion.chunk")
    usage: dict[str, Any] = {}
    if heard.wants_usage and turn.usage is not None:
        usage = {"usage": None}

    def chunk(delta: dict[str, Any], name: str = EVENT, finish: str | None = None) -> Part:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return _part(envelope | {"choices": [choice]} | usage, name)

    said = "refusal" if turn.stop == "refusal" else "content"
    yield chunk({"role": "assistant", "content": None if turn.text is None else ""})
    for piece in pieces(turn.text or ""):
        yield chunk({said: piece})
    for index, call in enumerate(turn.calls):
        kind = "custom" if call.freeform else "function"
        key = "input" if call.freeform else "arguments"
        opening = _tool_call(call, {"name": call.name, key: ""})
        yield chunk({"tool_calls": [{"index": index, **opening}]})
        for piece in pieces(call.arguments):
            yield chunk({"tool_calls": [{"index": index, kind: {key: piece}}]}, TOOL)
    yield chunk({}, TERMINATOR, _STOPS.get(turn.stop, turn.stop))
    if heard.wants_usage and turn.usage is not None:
        yield _part(envelope | {"choices": [], "usage": _usage(*turn.usage)}, TERMINATOR)
    yield Part(b"data: [DONE]\n\n", TERMINATOR)
