"""OpenAI Responses.

Each event is named by its ``type`` and numbered. Codex acts on ``response.output_item.done``
and takes a stream without ``response.completed`` for a broken one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
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
from harness.services.model.protocols.openai import OpenAI, error_object
from harness.services.reply import Part, ToolCall, Turn, Wire

_ITEMS = frozenset({"message", "reasoning", "function_call", "custom_tool_call", "item_reference"})
_OUTPUT = "_output"

Emit = Callable[..., Part]


class Responses(OpenAI):
    """``POST /v1/responses``."""

    name = "responses"

    def hear(self, body: bytes) -> Heard:
        """Read a request."""
        asked = body_object(body)
        history = _history(asked)
        return Heard(
            protocol=self.name,
            stream=asked.get("stream") is True,
            model=word(asked.get("model")) or None,
            tools=tuple(_tools(asked.get("tools"))),
            results=tuple(_results(history)),
            messages=len(history),
            format=_format(asked.get("text")),
            size=len(body),
            key=hash(body),
            unknown=tuple(sorted(_unknown(history))),
        )

    def prompt(self, body: bytes) -> str:
        """The instructions and the user's last words."""
        asked = body_object(body)
        users = [item for item in _history(asked) if item.get("role") == "user"]
        said = [text_of(item.get("content")) for item in users[-1:]]
        return "\n".join([word(asked.get("instructions")), *said])

    def render(self, heard: Heard, turn: Turn, stamp: Stamp) -> Wire:
        """A response, or the events that build one."""
        if turn.raw is not None:
            return raw_reply(self, heard, turn.raw, stamp)
        if heard.stream:
            return streamed(self, stamp, tuple(_events(heard, turn, stamp)))
        return whole(self, stamp, encode(dumps(_finished(heard, turn, stamp))))

    def stream_error(self, trouble: Trouble, sequence: int) -> Sequence[Part]:
        """``event: error``, in both of the shapes that clients look for."""
        error = error_object(trouble)
        flat = {name: error[name] for name in ("code", "message", "param")}
        data = {"type": "error", **flat, "error": error, "sequence_number": sequence}
        return (Part(event("error", data), EVENT),)

    def overflow(self) -> Trouble:
        """By its code."""
        message = (
            "Your input exceeds the context window of this model. Please adjust your input "
            "and try again."
        )
        return Trouble(400, message, "context_length_exceeded", "input")

    def arguments_at(self, body: bytes) -> int | None:
        """Inside the text of the first call's arguments."""
        for kind, key in ((b"function_call", b"arguments"), (b"custom_tool_call", b"input")):
            item = body.find(b'"type":"' + kind + b'"')
            at = body.find(b'"' + key + b'":"', item) if item >= 0 else -1
            if at >= 0:
                return at + len(key) + 4
        return None


def _history(asked: dict[str, Any]) -> list[dict[str, Any]]:
    given = asked.get("input")
    if isinstance(given, str):
        return [{"role": "user", "content": given}]
    return list(objects(given))


def _tools(value: object, namespace: str = "") -> Iterator[Tool]:
    for tool in objects(value):
        name = word(tool.get("name"))
        if tool.get("type") == "namespace":
            yield from _tools(tool.get("tools"), name)
        elif name:
            freeform = tool.get("type") == "custom"
            yield Tool(name, schema_of(tool.get("parameters")), namespace, freeform)


def _results(history: Sequence[dict[str, Any]]) -> Iterator[ToolResult]:
    for item in history:
        if word(item.get("type")).endswith(_OUTPUT):
            yield ToolResult(word(item.get("call_id")), text_of(item.get("output")))


def _unknown(history: Sequence[dict[str, Any]]) -> set[str]:
    kinds = {word(item.get("type")) or "message" for item in history}
    return {f"item {kind!r}" for kind in kinds if kind not in _ITEMS and not kind.endswith(_OUTPUT)}


def _format(value: object) -> dict[str, Any] | None:
    wanted = schema_of(schema_of(value).get("format"))
    if wanted.get("type") not in ("json_schema", "json_object"):
        return None
    return dict(schema_of(wanted.get("schema")))


def _usage(tokens_in: int, tokens_out: int) -> dict[str, Any]:
    return {
        "input_tokens": tokens_in,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": tokens_out,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": tokens_in + tokens_out,
    }


def _response(heard: Heard, stamp: Stamp, status: str) -> dict[str, Any]:
    return {
        "id": f"resp_{stamp.id}",
        "object": "response",
        "created_at": stamp.created,
        "status": status,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "max_output_tokens": None,
        "model": heard.model or "shakeout",
        "output": [],
        "parallel_tool_calls": True,
        "previous_response_id": None,
        "reasoning": {"effort": None, "summary": None},
        "store": False,
        "temperature": 1.0,
        "text": {"format": {"type": "text"}},
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": None,
        "metadata": {},
    }


def _finished(heard: Heard, turn: Turn, stamp: Stamp) -> dict[str, Any]:
    reasons = {"length": "max_output_tokens", "content_filter": "content_filter"}
    reason = reasons.get(turn.stop)
    response = _response(heard, stamp, "incomplete" if reason else "completed")
    if reason:
        response["incomplete_details"] = {"reason": reason}
    response["output"] = list(_output(turn, stamp))
    if turn.usage is not None:
        response["usage"] = _usage(*turn.usage)
    return response


def _output(turn: Turn, stamp: Stamp) -> Iterator[dict[str, Any]]:
    if turn.text:
        yield _message(stamp, "completed", [_said(turn, turn.text)])
    for call in turn.calls:
        yield _call(call, "completed", call.arguments)


def _message(stamp: Stamp, status: str, content: list[Any]) -> dict[str, Any]:
    return {
        "id": f"msg_{stamp.id}",
        "type": "message",
        "status": status,
        "role": "assistant",
        "content": content,
    }


def _said(turn: Turn, text: str) -> dict[str, Any]:
    if turn.stop == "refusal":
        return {"type": "refusal", "refusal": text}
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _item_id(call: ToolCall) -> str:
    prefix = "ctc_" if call.freeform else "fc_"
    return prefix + call.id.removeprefix(OpenAI.call_prefix)


def _call(call: ToolCall, status: str, arguments: str) -> dict[str, Any]:
    item: dict[str, Any] = {
        "id": _item_id(call),
        "type": "custom_tool_call" if call.freeform else "function_call",
        "status": status,
        "input" if call.freeform else "arguments": arguments,
        "call_id": call.id,
        "name": call.name,
    }
    if call.namespace:
        item["namespace"] = call.namespace
    return item


def _events(heard: Heard, turn: Turn, stamp: Stamp) -> Iterator[Part]:
    number = 0

    def emit(kind: str, part: str = EVENT, /, **data: Any) -> Part:
        nonlocal number
        numbered = {"type": kind, "sequence_number": number, **data}
        number += 1
        return Part(event(kind, numbered), part)

    begun = _response(heard, stamp, "in_progress")
    yield emit("response.created", response=begun)
    yield emit("response.in_progress", response=begun)
    if turn.text:
        yield from _text_events(emit, turn, stamp)
    for index, call in enumerate(turn.calls, start=1 if turn.text else 0):
        yield from _call_events(emit, call, index)
    response = _finished(heard, turn, stamp)
    yield emit(f"response.{response['status']}", TERMINATOR, response=response)


def _text_events(emit: Emit, turn: Turn, stamp: Stamp) -> Iterator[Part]:
    text = turn.text or ""
    refused = turn.stop == "refusal"
    kind, key = ("refusal", "refusal") if refused else ("output_text", "text")
    extra: dict[str, Any] = {} if refused else {"logprobs": []}
    place = {"item_id": f"msg_{stamp.id}", "output_index": 0, "content_index": 0}
    item = _message(stamp, "in_progress", [])
    yield emit("response.output_item.added", output_index=0, item=item)
    yield emit("response.content_part.added", **place, part=_said(turn, ""))
    for piece in pieces(text):
        yield emit(f"response.{kind}.delta", **place, delta=piece, **extra)
    yield emit(f"response.{kind}.done", **place, **{key: text}, **extra)
    yield emit("response.content_part.done", **place, part=_said(turn, text))
    item = _message(stamp, "completed", [_said(turn, text)])
    yield emit("response.output_item.done", output_index=0, item=item)


def _call_events(emit: Emit, call: ToolCall, index: int) -> Iterator[Part]:
    kind = "custom_tool_call_input" if call.freeform else "function_call_arguments"
    key = "input" if call.freeform else "arguments"
    place = {"item_id": _item_id(call), "output_index": index}
    item = _call(call, "in_progress", "")
    yield emit("response.output_item.added", output_index=index, item=item)
    for piece in pieces(call.arguments):
        yield emit(f"response.{kind}.delta", TOOL, **place, delta=piece)
    named = {} if call.freeform else {"name": call.name}
    yield emit(f"response.{kind}.done", TOOL, **place, **named, **{key: call.arguments})
    item = _call(call, "completed", call.arguments)
    yield emit("response.output_item.done", output_index=index, item=item)
