"""OpenAI's Chat Completions, through its own SDK."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

import openai

from runtime.model.base import Hear, ModelError, Offer, Reply, Said, Stop, Usage
from runtime.model.errors import raised
from runtime.model.reading import Pieces, Text
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
        with raised(openai):
            stream = await self._client.chat.completions.create(**request, stream=True)
            async with stream:
                async for chunk in stream:
                    await reading.take(chunk)
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
        self._usage = Usage()

    async def take(self, chunk: Any) -> None:
        if chunk.usage:
            tokens = chunk.usage
            self._usage = Usage(tokens.prompt_tokens or 0, tokens.completion_tokens or 0)
        for choice in chunk.choices or ():
            if choice.index:
                continue
            await self._delta(choice.delta)
            if choice.finish_reason:
                self._stop = _STOPS.get(choice.finish_reason, "other")

    async def _delta(self, delta: Any) -> None:
        if delta.refusal:
            self._text.add(delta.refusal)
        if delta.content:
            self._text.add(delta.content)
            await self._hear(delta.content)
        for piece in delta.tool_calls or ():
            call = self._calls.setdefault(piece.index, Pieces())
            call.id = piece.id or call.id
            if piece.function:
                call.name = piece.function.name or call.name
                call.written.append(piece.function.arguments or "")

    def reply(self) -> Reply:
        if self._stop is None:
            raise ModelError("incomplete", "the model's answer ended before its end")
        calls = tuple(pieces.asked() for _, pieces in sorted(self._calls.items()))
        return Reply(str(self._text), calls, self._stop, self._usage)


def _tool(offer: Offer) -> dict[str, Any]:
    function = {"name": offer.name, "description": offer.summary, "parameters": dict(offer.schema)}
    return {"type": "function", "function": function}


def _messages(system: str, conversation: Sequence[Said]) -> list[dict[str, Any]]:
    return [{"role": "system", "content": system}, *(_message(said) for said in conversation)]


def _message(said: Said) -> dict[str, Any]:
    if said.role == "tool":
        return {"role": "tool", "tool_call_id": said.call, "content": said.text}
    message: dict[str, Any] = {"role": said.role, "content": said.text}
    if said.calls:
        message["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(call.arguments or {})},
            }
            for call in said.calls
        ]
    return message
