"""OpenAI's Chat Completions, through its own SDK."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

import openai

from runtime.model.base import Hear, ModelError, Offer, Reply, Said, Stop, Usage
from runtime.model.errors import raised
from runtime.model.reading import NOTHING, Pieces, Text, lines, message_of, named
from runtime.settings import ModelSettings

_STOPS: Final[dict[str, Stop]] = {
    "stop": "end",
    "tool_calls": "calls",
    "function_call": "calls",
    "length": "length",
    "content_filter": "refusal",
}


class OpenAIChat:
    """A model that speaks Chat Completions."""

    def __init__(self, settings: ModelSettings, api_key: str | None) -> None:
        self._settings = settings
        self._client = openai.AsyncOpenAI(
            api_key=api_key,
            base_url=settings.base_url,
            timeout=settings.timeout,
            max_retries=settings.retries,
        )

    async def ask(
        self, system: str, conversation: Sequence[Said], tools: Sequence[Offer], hear: Hear
    ) -> Reply:
        """Ask, and put the answer together from the stream."""
        request: dict[str, Any] = {
            "model": self._settings.name,
            "max_completion_tokens": self._settings.max_tokens,
            "messages": _messages(system, conversation),
            "stream_options": {"include_usage": True},
        }
        if tools:
            request["tools"] = [_tool(offer) for offer in tools]
        reading = _Reading(hear)
        # Line by line, for the SDK's own reading does not tell whether the terminator came.
        create = self._client.chat.completions.with_streaming_response.create
        with raised(openai) as progress:
            async with create(**request, stream=True) as response:
                progress.begun = True
                async for line in lines(response.iter_bytes()):
                    await reading.take(line)
            return reading.reply()

    async def close(self) -> None:
        """Give its connections back."""
        await self._client.close()


class _Reading:
    """A stream, as far as it came."""

    def __init__(self, hear: Hear) -> None:
        self._hear = hear
        self._text = Text()
        self._calls: dict[int, Pieces] = {}
        self._stop: Stop | None = None
        self._refused = False
        self._ended = False
        self._usage = Usage()

    async def take(self, line: str) -> None:
        name, _, written = line.partition(":")
        if name != "data" or self._ended:
            return
        if written.strip() == "[DONE]":
            self._ended = True
            return
        chunk = json.loads(written)
        if error := chunk.get("error"):
            raise ModelError("broken", f"the model broke off: {message_of(error)}")
        if tokens := chunk.get("usage"):
            counts = (tokens.get("prompt_tokens") or 0, tokens.get("completion_tokens") or 0)
            self._usage = Usage(*counts)
        for choice in chunk.get("choices") or ():
            if choice.get("index"):
                continue
            await self._delta(choice.get("delta") or {})
            if why := choice.get("finish_reason"):
                self._stop = _STOPS.get(why, "other")

    async def _delta(self, delta: dict[str, Any]) -> None:
        if refusal := delta.get("refusal"):
            self._refused = True
            self._text.add(refusal)
        if content := delta.get("content"):
            self._text.add(content)
            await self._hear(content)
        for piece in delta.get("tool_calls") or ():
            call = self._calls.setdefault(piece.get("index", len(self._calls)), Pieces())
            call.id = piece.get("id") or call.id
            if function := piece.get("function"):
                call.name = function.get("name") or call.name
                call.add(function.get("arguments") or "")

    def reply(self) -> Reply:
        if self._stop is None or not self._ended:
            raise ModelError("incomplete", "the model's answer ended before its end")
        stop = "refusal" if self._refused else self._stop
        calls = tuple(pieces.asked() for _, pieces in sorted(self._calls.items()))
        return Reply(str(self._text), calls, stop, self._usage)


def _tool(offer: Offer) -> dict[str, Any]:
    function = {"name": offer.name, "description": offer.summary, "parameters": dict(offer.schema)}
    return {"type": "function", "function": function}


def _messages(system: str, conversation: Sequence[Said]) -> list[dict[str, Any]]:
    return [
        {"role": "system", "content": system},
        *(_message(said) for said in conversation if said.text or said.calls),
    ]


def _message(said: Said) -> dict[str, Any]:
    if said.role == "tool":
        return {"role": "tool", "tool_call_id": said.call, "content": said.text or NOTHING}
    message: dict[str, Any] = {"role": said.role, "content": said.text}
    if said.calls:
        message["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {
                    "name": named(call.name),
                    "arguments": json.dumps(call.arguments or {}),
                },
            }
            for call in said.calls
        ]
    return message
